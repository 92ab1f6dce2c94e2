import { expect, test } from "vitest";
import { describeOnPostgres } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { checkAnswered, taskInStore } from "../support/invariants.ts";
import { atOnce, callCount, raceRig } from "./race-rig.ts";

describeOnPostgres(`one idempotency key ${callCount} times at once`, (kind) => {
  const rig = raceRig(kind);
  const tasks = async () => Number((await runDirectly(rig.db, "SELECT COUNT(*) AS n FROM task"))[0]?.["n"]);

  test("creates one task, and every answer has its id", async () => {
    const before = await tasks();
    const body = { message: { content: "Hello" } };
    const answers = await atOnce(() =>
      rig.call("task.create", "", body, { "idempotency-key": "create-once" }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map((answer) => answer.body["task_id"])).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(
      callCount - 1,
    );
    expect(await tasks()).toBe(before + 1);
    const id = String(answers[0]?.body["task_id"]);
    await rig.waitUntilSettled(id);
    const seen = await taskInStore(rig.store, id);
    checkAnswered(seen);
    expect(seen.events.filter(({ type }) => type === "user_message")).toHaveLength(1);
  });

  test("sends one message", async () => {
    const id = await rig.create("Hello");
    const body = { message: { content: "[[say More]]" } };
    const answers = await atOnce(() =>
      rig.call("task.sendMessage", id, body, { "idempotency-key": "send-once" }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await rig.waitUntilSettled(id);
    const seen = await taskInStore(rig.store, id);
    checkAnswered(seen);
    expect(seen.events.filter(({ type }) => type === "user_message")).toHaveLength(2);
    expect(seen.events.filter(({ text }) => text === "More")).toHaveLength(1);
  });
});
