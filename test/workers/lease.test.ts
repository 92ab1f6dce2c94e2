import { beforeAll, describe, expect, test } from "vitest";
import { describeOnEach, openTestStore } from "../support/database.ts";
import { openService } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { until, untilStatus } from "../support/until.ts";
import { explain, type Hand, handOf, remoteEnv, remoteRig } from "./worker-rig.ts";

const lost = { status: 400, body: { code: "failed_precondition", message: expect.stringContaining("fence") } };
const second = 1000;

/** Endings wait until the events before them lie in the past: time passes meanwhile, slowly, so that a busy machine lets no lease lapse. */
async function passing<T>(clock: StillClock, work: Promise<T>, stepMs = 1): Promise<T> {
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
  const rig = remoteRig({ database, clock });
  let ann: Hand;
  let bob: Hand;
  beforeAll(async () => {
    ann = await handOf(rig.service, rig.ann);
    bob = await handOf(rig.service, rig.ann);
  });
  const idle = (id: string) =>
    passing(
      clock,
      until(rig.service.store, id, ({ nodeId }) => nodeId === null),
      second,
    );
  const beat = (hand: Hand, run: { taskId: string; fence: number }) => hand.call("Heartbeat", { taskId: run.taskId, fence: run.fence });

  test("lapses after 15 s of silence: another goes on with nothing lost or doubled, and the first is fenced off", async () => {
    const id = await rig.create();
    const run = await ann.poll();
    await ann.append(run, [explain("1"), explain("2")]);
    await clock.advance(14 * second);
    expect((await rig.row(id)).nodeId).toBe(`worker:${ann.id}`);
    await clock.advance(2 * second);
    await idle(id);
    const next = await bob.poll();
    expect(next).toMatchObject({ taskId: id, claim: 2, messages: run.messages, events: [{ seq: 3 }, { seq: 4, event: { key: "2" } }] });
    expect(next.fence).toBeGreaterThan(run.fence);
    expect((await beat(ann, run)).body).toEqual({ stop: "lost" });
    expect(await ann.append(run, [explain("3")])).toMatchObject(lost);
    expect(await passing(clock, ann.finish(run, { finish: { content: "Mine" } }))).toMatchObject(lost);
    expect((await bob.append(next, [explain("2"), explain("3")])).body.events).toEqual([
      { key: "2", seq: 4 },
      { key: "3", seq: 5 },
    ]);
    await passing(clock, bob.finish(next, { finish: { content: "Done" } }));
    expect((await rig.events(id)).map(({ type }) => type)).toEqual([
      ...["user_message", "status_update", "explanation", "explanation", "explanation", "assistant_message", "status_update"],
    ]);
  });

  test.each([
    ["a heartbeat", beat],
    ["an append", (hand: Hand, run: { taskId: string; fence: number }) => hand.append(run, [explain(`${clock.now()}`)])],
    [
      "an upload",
      (hand: Hand, run: { taskId: string; fence: number }) =>
        hand.call("Upload", { ...{ taskId: run.taskId, fence: run.fence }, filename: "a.txt" }),
    ],
  ] as const)("begins anew with %s", async (_what, says) => {
    const id = await rig.create();
    const { taskId, fence } = await ann.poll();
    for (let times = 0; times < 3; times += 1) {
      await clock.advance(10 * second);
      expect((await says(ann, { taskId, fence })).status).toBe(200);
    }
    expect(await rig.row(id)).toMatchObject({ nodeId: `worker:${ann.id}`, fence });
    await passing(clock, ann.finish({ taskId, fence }, { finish: { content: "Done" } }));
  });

  test("that lapses 25 times with nothing done ends the task in error", async () => {
    const id = await rig.create();
    for (let times = 0; times < 25; times += 1) {
      expect(await ann.poll()).toMatchObject({ taskId: id, claim: times + 1 });
      await clock.advance(16 * second);
      await idle(id);
    }
    expect(await ann.poll()).toBeUndefined();
    expect(await untilStatus(rig.service.store, id, "error")).toMatchObject({ nodeId: null });
    expect((await rig.events(id)).at(-2)).toMatchObject({ error_message: { error_type: "internal" } });
  });

  test("cannot be kept by a worker of another space, nor by another of the same", async () => {
    const stranger = await handOf(rig.service, await rig.service.person());
    const id = await rig.create();
    const run = await ann.poll();
    expect(await beat(stranger, run)).toMatchObject({ status: 404 });
    expect(await stranger.append(run, [explain("1")])).toMatchObject({ status: 404 });
    expect(await passing(clock, stranger.finish(run, { finish: { content: "Mine" } }))).toMatchObject({ status: 404 });
    expect((await beat(bob, run)).body).toEqual({ stop: "lost" });
    for (const reply of [
      await bob.append(run, [explain("1")]),
      await bob.finish(run, { finish: { content: "Mine" } }),
      await bob.call("Release", { taskId: id, fence: run.fence }),
    ])
      expect(reply).toMatchObject(lost);
    expect(await passing(clock, ann.finish(run, { finish: { content: "Done" } }))).toEqual({ status: 200, body: {} });
  });

  test("is over at once when the credential is revoked, and what it still sends opens nothing", async () => {
    const cut = await handOf(rig.service, rig.ann);
    const id = await rig.create();
    const run = await cut.poll();
    const waits = bob.take({ waitSeconds: 30 });
    const { client } = await rig.ann.session();
    const { WorkerService } = await import("../../src/gen/proto/settings/v1/worker_service_pb.ts");
    await client(WorkerService).revokeWorker({ id: cut.id });
    const next = await waits;
    expect(next).toMatchObject({ taskId: id });
    for (const reply of [await cut.append(run, [explain("1")]), await beat(cut, run), await cut.call("Poll")])
      expect(reply).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
    await passing(clock, bob.finish(next, { finish: { content: "Done" } }));
  });
});

describe("a platform that stops", () => {
  test("ends held polls at once, and takes no run from its worker: a start within the lease finds it", async () => {
    const clock = stillClock();
    const statements: string[] = [];
    await using database = await openTestStore("sqlite", { clock, onStatement: (text) => void statements.push(text) });
    const open = () => openService({ over: database, clock, env: remoteEnv });
    const before = await open();
    const ann = await before.person();
    const hand = await handOf(before, ann);
    await ann.v2("task.create", { message: { content: "Hello" } });
    const run = await hand.poll();
    await hand.append(run, [explain("1")]);
    const looks = () => statements.filter((text) => text.includes("agent_profile IN")).length;
    const looked = looks();
    const held = hand.call("Poll", { waitSeconds: 30 });
    // It is held from its first look on.
    while (looks() === looked) await new Promise((resolve) => setImmediate(resolve));
    await before.drain();
    expect(await held.catch(() => "cut")).toEqual({ status: 200, body: {} });
    await clock.advance(10 * second);
    await using after = await open();
    await clock.advance(second);
    expect(await database.store.tasks.byId(run.taskId)).toMatchObject({ nodeId: `worker:${hand.id}`, fence: run.fence });
    const again = { "x-api-key": hand.secret, "content-type": "application/json" };
    const body = JSON.stringify({ taskId: run.taskId, fence: run.fence, finish: { content: "Done" } });
    const reply = await fetch(`${after.url}/worker.v1.WorkerService/Finish`, { method: "POST", headers: again, body });
    expect(reply.status).toBe(200);
  });
});
