import { beforeAll, describe, expect, test } from "vitest";
import { describeOnEach, halfFor, nodesOf, openTestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { openService } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { until, untilStatus } from "../support/until.ts";
import { createWorker, explain, remoteEnv, remoteRig, type TestWorker } from "./worker-rig.ts";

const lost = {
  status: 400,
  body: { code: "failed_precondition", message: expect.stringContaining("fence") },
};
const second = 1000;

/**
 * Endings wait until the time of the events before them has passed. Time passes slowly here, so that no lease
 * expires on a busy machine.
 */
async function whileTimePasses<T>(clock: StillClock, work: Promise<T>, stepMs = 1): Promise<T> {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  while (!over) {
    await clock.advance(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

describeOnEach("the lease of a worker's run", (database) => {
  const clock = stillClock();
  const rig = remoteRig({ database, clock, nodes: nodesOf(database) });
  let ann: TestWorker;
  let bob: TestWorker;
  beforeAll(async () => {
    ann = await createWorker(rig.service, rig.ann);
    bob = await createWorker(rig.service, rig.ann);
  });
  const untilIdle = (id: string) =>
    whileTimePasses(
      clock,
      until(rig.service.store, id, ({ nodeId }) => nodeId === null),
      second,
    );
  const heartbeat = (worker: TestWorker, run: { taskId: string; fence: number }) =>
    worker.call("Heartbeat", { taskId: run.taskId, fence: run.fence });

  test("expires after 15 s of silence: another worker continues without lost or repeated events, and the first is fenced off", async () => {
    const id = await rig.create();
    const run = await ann.poll();
    await ann.append(run, [explain("1"), explain("2")]);
    await clock.advance(14 * second);
    expect((await rig.row(id)).nodeId).toBe(`worker:${ann.id}`);
    await clock.advance(2 * second);
    await untilIdle(id);
    const next = await bob.poll();
    expect(next).toMatchObject({
      taskId: id,
      claim: 2,
      messages: run.messages,
      events: [{ seq: 3 }, { seq: 4, event: { key: "2" } }],
    });
    expect(next.fence).toBeGreaterThan(run.fence);
    expect((await heartbeat(ann, run)).body).toEqual({ stop: "lost" });
    expect(await ann.append(run, [explain("3")])).toMatchObject(lost);
    expect(await whileTimePasses(clock, ann.finish(run, { finish: { content: "Mine" } }))).toMatchObject(
      lost,
    );
    expect((await bob.append(next, [explain("2"), explain("3")])).body.events).toEqual([
      { key: "2", seq: 4 },
      { key: "3", seq: 5 },
    ]);
    await whileTimePasses(clock, bob.finish(next, { finish: { content: "Done" } }));
    expect((await rig.events(id)).map(({ type }) => type)).toEqual([
      ...[
        "user_message",
        "status_update",
        "explanation",
        "explanation",
        "explanation",
        "assistant_message",
        "status_update",
      ],
    ]);
  });

  const renewals: readonly (readonly [
    what: string,
    renew: (worker: TestWorker, run: { taskId: string; fence: number }) => Promise<{ status: number }>,
  ])[] = [
    ["a heartbeat", heartbeat],
    ["an append", (worker, run) => worker.append(run, [explain(`${clock.now()}`)])],
    [
      "an upload",
      (worker, run) =>
        worker.call("Upload", { ...{ taskId: run.taskId, fence: run.fence }, filename: "a.txt" }),
    ],
  ];

  test.each(halfFor(database, renewals))("is renewed by %s", async (_name, renew) => {
    const id = await rig.create();
    const { taskId, fence } = await ann.poll();
    for (let times = 0; times < 3; times += 1) {
      await clock.advance(10 * second);
      expect((await renew(ann, { taskId, fence })).status).toBe(200);
    }
    expect(await rig.row(id)).toMatchObject({ nodeId: `worker:${ann.id}`, fence });
    await whileTimePasses(clock, ann.finish({ taskId, fence }, { finish: { content: "Done" } }));
  });

  // A short run has it on SQLite, where one node takes fewer steps.
  test.each(
    share([25], database === "sqlite" ? 1 : 0, 2),
  )("that expires %i times without progress ends the task in error", async (maxLosses) => {
    const id = await rig.create();
    for (let times = 0; times < maxLosses; times += 1) {
      expect(await ann.poll()).toMatchObject({ taskId: id, claim: times + 1 });
      await clock.advance(16 * second);
      await untilIdle(id);
    }
    expect(await ann.poll()).toBeUndefined();
    expect(await untilStatus(rig.service.store, id, "error")).toMatchObject({ nodeId: null });
    expect((await rig.events(id)).at(-2)).toMatchObject({ error_message: { error_type: "internal" } });
  });

  test("cannot be renewed by a worker of another space, or by another worker of the same space", async () => {
    const other = await createWorker(rig.service, await rig.service.person());
    const id = await rig.create();
    const run = await ann.poll();
    expect(await heartbeat(other, run)).toMatchObject({ status: 404 });
    expect(await other.append(run, [explain("1")])).toMatchObject({ status: 404 });
    expect(await whileTimePasses(clock, other.finish(run, { finish: { content: "Mine" } }))).toMatchObject({
      status: 404,
    });
    expect((await heartbeat(bob, run)).body).toEqual({ stop: "lost" });
    for (const reply of [
      await bob.append(run, [explain("1")]),
      await bob.finish(run, { finish: { content: "Mine" } }),
      await bob.call("Release", { taskId: id, fence: run.fence }),
    ])
      expect(reply).toMatchObject(lost);
    expect(await whileTimePasses(clock, ann.finish(run, { finish: { content: "Done" } }))).toEqual({
      status: 200,
      body: {},
    });
  });

  test("ends at once when the credential is revoked, and later calls are refused with 401", async () => {
    const revoked = await createWorker(rig.service, rig.ann);
    const id = await rig.create();
    const run = await revoked.poll();
    const waits = bob.pollUntilRun({ waitSeconds: 30 });
    const { client } = await rig.ann.session();
    const { WorkerService } = await import("../../src/gen/proto/settings/v1/worker_service_pb.ts");
    await client(WorkerService).revokeWorker({ id: revoked.id });
    const next = await waits;
    expect(next).toMatchObject({ taskId: id });
    for (const reply of [
      await revoked.append(run, [explain("1")]),
      await heartbeat(revoked, run),
      await revoked.call("Poll"),
    ])
      expect(reply).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
    await whileTimePasses(clock, bob.finish(next, { finish: { content: "Done" } }));
  });
});

describe("a platform that stops", () => {
  test("answers held polls at once and leaves runs with their workers: a restart within the lease finds them", async () => {
    const clock = stillClock();
    const statements: string[] = [];
    await using database = await openTestStore("sqlite", {
      clock,
      onStatement: (text) => void statements.push(text),
    });
    const open = () => openService({ over: database, clock, env: remoteEnv });
    const before = await open();
    const ann = await before.person();
    const worker = await createWorker(before, ann);
    await ann.v2("task.create", { message: { content: "Hello" } });
    const run = await worker.poll();
    await worker.append(run, [explain("1")]);
    const queries = () => statements.filter((text) => text.includes("agent_profile IN")).length;
    const queriesBefore = queries();
    const held = worker.call("Poll", { waitSeconds: 30 });
    // The poll is held after its first query.
    while (queries() === queriesBefore) await new Promise((resolve) => setImmediate(resolve));
    await before.drain();
    expect(await held.catch(() => "cut")).toEqual({ status: 200, body: {} });
    await clock.advance(10 * second);
    await using after = await open();
    await clock.advance(second);
    expect(await database.store.tasks.byId(run.taskId)).toMatchObject({
      nodeId: `worker:${worker.id}`,
      fence: run.fence,
    });
    const again = { "x-api-key": worker.secret, "content-type": "application/json" };
    const body = JSON.stringify({ taskId: run.taskId, fence: run.fence, finish: { content: "Done" } });
    const reply = await fetch(`${after.url}/worker.v1.WorkerService/Finish`, {
      method: "POST",
      headers: again,
      body,
    });
    expect(reply.status).toBe(200);
  });
});
