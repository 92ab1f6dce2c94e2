import { expect, test } from "vitest";
import { describeOnOne, nodesOf, openTestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { openService } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value);

describeOnOne("secrets that a task requests (spec/api.md 9.3, webdevRequestSecrets)", (database) => {
  test("appear in no list, no log and no readable row; only their names are shown", async () => {
    await using db = await openTestStore(database);
    await using service = await openService({ over: db, nodes: nodesOf(database) });
    const ann = await service.person();
    const created = await ann.v2("task.create", { message: { content: "[[confirm webdevRequestSecrets]]" } });
    const task_id = String(created.body["task_id"]);
    await untilStatus(service.store, task_id, "waiting");
    const list = () => ann.v2("task.listMessages", { task_id, verbose: true });
    const event_id = (await list()).body["messages"][0].status_update.status_detail.waiting_for_event_id;
    const input = { accept: true, secrets: [{ key: "API_TOKEN", value: "hush-hush" }] };
    const headers = { "idempotency-key": "secrets" };
    expect(
      (await ann.v2("task.confirmAction", { task_id, event_id, input }, { headers })).body,
    ).toMatchObject({ confirmed: true });
    await untilStatus(service.store, task_id, "stopped");
    const listedText = JSON.stringify((await list()).body);
    expect(listedText).toContain("API_TOKEN");
    expect(listedText).not.toContain("hush-hush");
    expect(JSON.stringify(service.logged)).not.toContain("hush-hush");
    const tables = ["task", "task_event", "pending_action", "audit_event", "job", "idempotency_record"];
    for (const table of tables) {
      const rows = await runDirectly(db, `SELECT * FROM ${table}`);
      expect(rows.flatMap(Object.values).map(textOf).join("\n"), table).not.toContain("hush-hush");
    }
    expect(await runDirectly(db, "SELECT * FROM pending_action WHERE input IS NOT NULL")).toHaveLength(1);
  });
});
