import { expect, test } from "vitest";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { createWorker, explain, remoteRig } from "./worker-rig.ts";

describeOnOne("a worker", (database) => {
  const rig = remoteRig({
    database,
    env: { PRICES: '{"manus-1.6":{"input":1,"output":2,"tool_call":0.5,"turn":1}}' },
  });
  const errors = async (id: string, who = rig.ann) => {
    const { body } = await who.v2("task.listMessages", { task_id: id, order: "asc" });
    return body["messages"].flatMap(
      (event: { error_message?: { error_type: string } }) => event.error_message?.error_type ?? [],
    );
  };

  test("reports its usage with its events and at its end, and the price table applies", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    const id = await rig.create("Go");
    const run = await worker.pollUntilRun();
    const sent = await worker.append(run, [explain("1")], {
      usage: { inputTokens: 1500, outputTokens: 250 },
      credits: 3,
    });
    expect(sent).toMatchObject({ status: 200, body: { events: [{ key: "1" }] } });
    expect(sent.body.stop ?? "").toBe("");
    // A repeated event is counted once.
    await worker.append(run, [explain("1")], { usage: { inputTokens: 1500, outputTokens: 250 }, credits: 3 });
    expect((await rig.row(id)).credits).toBe(2 + 3);
    await worker.finish(run, { finish: { content: "Done" }, usage: { toolCalls: 1 } });
    expect(await rig.reach(id, "stopped")).toMatchObject({ credits: Math.ceil(1.5 + 0.5 + 0.5 + 1) + 3 });
  });

  test("is notified when its task exceeds the budget: the run has ended, and no other begins", async () => {
    const person = await rig.service.person();
    const worker = await createWorker(rig.service, person);
    await person.client(BudgetService).setBudget({ kind: BudgetKind.TEAM, credits: 10n });
    const id = await rig.create("Go", {}, person);
    const run = await worker.pollUntilRun();
    expect(await worker.append(run, [explain("1")], { credits: 11 })).toMatchObject({
      status: 200,
      body: { stop: "spent" },
    });
    expect(await rig.row(id)).toMatchObject({ status: "error", credits: 11 });
    expect(await errors(id, person)).toEqual(["quota_limit"]);
    expect((await worker.append(run, [explain("2")])).status).toBe(400);
    expect((await worker.call("Heartbeat", { taskId: run.taskId, fence: run.fence })).body).toMatchObject({
      stop: "stopped",
    });
    const next = await rig.create("Go on", {}, person);
    expect(await worker.poll({ waitSeconds: 1 })).toBeUndefined();
    expect(await rig.reach(next, "error")).toMatchObject({ credits: 0 });
    expect(await errors(next, person)).toEqual(["quota_limit"]);
  });

  test("gets no more runs at the same time than its budget has steps for, and the next when one has ended", async () => {
    const person = await rig.service.person();
    const worker = await createWorker(rig.service, person);
    await person.client(BudgetService).setBudget({ kind: BudgetKind.TEAM, credits: 100n });
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await rig.create("Go", {}, person));
    const { body } = await worker.call("Poll", { maxRuns: 6 });
    const runs = [body.run, ...body.moreRuns];
    expect(runs).toHaveLength(4);
    const held = async () => (await person.client(BudgetService).listBudgets({})).data[0]?.held;
    expect(await held()).toBe(100n);
    const statuses = await Promise.all(ids.map(async (id) => (await rig.row(id)).status));
    expect(statuses.toSorted()).toEqual(["error", "error", "running", "running", "running", "running"]);
    const [first, second] = runs;
    await worker.finish(first, { finish: { content: "Done" } });
    expect(await held()).toBe(75n);
    // It costs nothing: its hold is released when the next run needs it.
    await worker.finish(second, { fail: { errorType: "internal", content: "No" } });
    const next = await rig.create("Go on", {}, person);
    expect(await worker.poll({ waitSeconds: 1 })).toMatchObject({ taskId: next });
    expect(await held()).toBe(75n);
  });
});
