import { beforeAll, expect, test } from "vitest";
import { WorkerService as SettingsService } from "../../src/gen/proto/settings/v1/worker_service_pb.ts";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { depth } from "../support/depth.ts";
import { testMs } from "../support/patience.ts";
import { stillClock } from "../support/still-clock.ts";
import { createWorker, explain, type Reply, type RunOf, remoteRig, type TestWorker } from "./worker-rig.ts";

const done = { finish: { content: "Done" } };
const runsOf = ({ body: { run, moreRuns = [] } }: Reply): readonly RunOf[] => (run ? [run, ...moreRuns] : []);
const refOf = ({ taskId, fence }: RunOf): RunOf => ({ taskId, fence });
const idsOf = (runs: readonly RunOf[]) => runs.map(({ taskId }) => taskId).toSorted();

/**
 * Several runs by one poll (spec/decisions.md 156), and appends of several runs by one call
 * (spec/decisions.md 157).
 */
describeOnEach("many runs per call", (database) => {
  const rig = remoteRig({ database, nodes: nodesOf(database) });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });
  const create = (count: number) => Promise.all(Array.from({ length: count }, () => rig.create()));
  const poll = async (by: TestWorker, maxRuns: number, waitSeconds = 0) =>
    runsOf(await by.call("Poll", { waitSeconds, maxRuns }));
  const looks = () => rig.service.statements.filter((text) => text.includes("agent_profile IN")).length;
  /** A poll for up to 8 runs that has found none and waits. */
  async function heldPoll() {
    const before = looks();
    const runs = poll(worker, 8, 30);
    while (looks() === before) await new Promise((resolve) => setImmediate(resolve));
    return { runs };
  }
  const finishAll = (by: TestWorker, runs: readonly RunOf[]) =>
    Promise.all(runs.map((run) => by.finish(run, done)));
  const appendBatch = (by: TestWorker, appends: readonly object[]) => by.call("AppendBatch", { appends });

  test("a poll gets one run without max_runs, and at most 32 with it", async () => {
    const ids = await create(3);
    const one = await worker.call("Poll");
    expect(Object.keys(one.body)).toEqual(["run"]);
    const rest = await poll(worker, 32);
    expect(idsOf([...runsOf(one), ...rest])).toEqual(ids.toSorted());
    expect(rest).toMatchObject(
      [1, 2].map(() => ({ fence: 1, claim: 1, messages: [{ content: "Say hello" }] })),
    );
    await finishAll(worker, [...runsOf(one), ...rest]);
    for (const maxRuns of [0, 33])
      expect(await worker.call("Poll", { maxRuns })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("max_runs") },
      });
  });

  test("polls that take several runs at the same time never get the same run, and leave none", async () => {
    const other = await createWorker(rig.service, rig.ann);
    const takes = [worker, other, worker, other].map(async (by) => ({ by, runs: await poll(by, 8, 2) }));
    const ids = await create(24);
    const taken = await Promise.all(takes);
    for (let rest = await poll(worker, 32); rest.length > 0; rest = await poll(worker, 32))
      taken.push({ by: worker, runs: rest });
    const runs = taken.flatMap((each) => each.runs);
    expect(Math.max(...taken.slice(0, 4).map((each) => each.runs.length))).toBeLessThanOrEqual(8);
    expect(idsOf(runs)).toEqual(ids.toSorted());
    await Promise.all(taken.map((each) => finishAll(each.by, each.runs)));
    for (const id of ids) expect(await rig.row(id)).toMatchObject({ status: "stopped", fence: 1 });
  });

  test("accounts are served in rotation within one poll", async () => {
    const bob = await rig.service.person({ with: rig.ann });
    const hers = await create(6);
    const his = await rig.create("Hello", {}, bob);
    const first = await poll(worker, 3);
    expect(idsOf(first)).toContain(his);
    await finishAll(worker, [...first, ...(await poll(worker, 32))]);
    expect(await Promise.all([...hers, his].map(async (id) => (await rig.row(id)).status))).toEqual(
      hers.concat(his).map(() => "stopped"),
    );
  });

  // Polls in separate processes do not know of each other.
  test.skipIf(nodesOf(database) > 1)(
    "each poll that waits in a process gets a run before any gets a second",
    async () => {
      const waiting = [await heldPoll(), await heldPoll()].map(({ runs }) => runs);
      const two = await create(2);
      const taken = await Promise.all(waiting);
      expect(taken.map((runs) => runs.length)).toEqual([1, 1]);
      expect(idsOf(taken.flat())).toEqual(two.toSorted());
      await finishAll(worker, taken.flat());
    },
  );

  test("runs that make the response too large stay in the queue", async () => {
    const ids = await create(2);
    const events = Array.from({ length: 20 }, (_, n) => explain(`${n}`, "a".repeat(60_000)));
    for (const run of await poll(worker, 2)) {
      await worker.append(run, events);
      await worker.call("Release", refOf(run));
    }
    const [first, second] = [await poll(worker, 8), await poll(worker, 8)];
    expect([first.length, second.length]).toEqual([1, 1]);
    expect(idsOf([...first, ...second])).toEqual(ids.toSorted());
    await finishAll(worker, [...first, ...second]);
  });

  test("a batch writes each append by itself: results in order, separate errors, and a repeat writes nothing", async () => {
    const [id, gone] = [await rig.create(), await rig.create()];
    const runs = await poll(worker, 2);
    const [run, stopped] = [id, gone].map((taskId) => ({
      taskId,
      fence: runs.find((each) => each.taskId === taskId)?.fence ?? 0,
    }));
    await rig.ann.v2("task.stop", { task_id: gone });
    const appends = [
      { ...run, events: [explain("1"), explain("2")] },
      { ...stopped, events: [explain("1")] },
      { taskId: "unknown", fence: 1, events: [explain("1")] },
      { ...run, events: [explain("3")] },
      { ...run, events: [explain("1", "Other")] },
      { ...run, events: [{ key: "4" }] },
    ];
    const expected = [
      {
        appended: {
          events: [
            { key: "1", seq: 3 },
            { key: "2", seq: 4 },
          ],
        },
      },
      { error: { code: "failed_precondition", message: expect.stringMatching(/^fence: /) } },
      { error: { code: "not_found" } },
      { appended: { events: [{ key: "3", seq: 5 }] } },
      { error: { code: "already_exists", message: expect.stringMatching(/^events\[0\]\.key: /) } },
      { error: { code: "invalid_argument", message: expect.stringMatching(/^events\[0\]/) } },
    ];
    for (let times = 0; times < 2; times += 1)
      expect(await appendBatch(worker, appends)).toMatchObject({ status: 200, body: { results: expected } });
    expect((await rig.events(id)).filter(({ type }) => type === "explanation")).toHaveLength(3);
    await finishAll(worker, runs);
  });

  test("a batch has at most 32 appends with 100 events together, and beyond that writes nothing", async () => {
    const id = await rig.create();
    const run = refOf(await worker.pollUntilRun());
    const events = (count: number) => Array.from({ length: count }, (_, n) => explain(`${n}`));
    for (const appends of [
      [],
      Array.from({ length: 33 }, () => ({ ...run, events: events(1) })),
      [
        { ...run, events: events(60) },
        { ...run, events: events(41) },
      ],
    ])
      expect(await appendBatch(worker, appends)).toMatchObject({
        ...{ status: 400, body: { code: "invalid_argument", message: expect.stringContaining("appends") } },
      });
    expect(await rig.events(id)).toHaveLength(2);
    await worker.finish(run, done);
  });

  test("a credential that is revoked during a batch: an append is written before its run is released, or refused", async () => {
    const revoked = await createWorker(rig.service, rig.ann);
    const ids = await create(8);
    const runs = (await poll(revoked, 8)).map(refOf);
    const { client } = await rig.ann.session();
    const batch = appendBatch(
      revoked,
      runs.map((run) => ({ ...run, events: [explain("mine")] })),
    );
    const [reply] = await Promise.all([batch, client(SettingsService).revokeWorker({ id: revoked.id })]);
    const results =
      reply.status === 401
        ? runs.map(() => ({ error: { code: "failed_precondition" } }))
        : reply.body.results;
    const next = await poll(worker, 32);
    expect(idsOf(next)).toEqual(ids.toSorted());
    for (const [n, { taskId }] of runs.entries()) {
      const { appended, error } = results[n];
      expect(error?.code ?? "written").toBe(appended ? "written" : "failed_precondition");
      const keys = next.flatMap((run) =>
        run.taskId === taskId ? ((run as unknown as { events?: object[] }).events ?? []) : [],
      );
      expect(keys).toHaveLength(appended ? 1 : 0);
    }
    expect(await appendBatch(revoked, [{ ...runs[0], events: [explain("late")] }])).toMatchObject({
      status: 401,
    });
    await finishAll(worker, next);
  });
});

/** The worker's process was killed. */
class Killed extends Error {}

const held = 4;
/** A poll, a batch and an ending for each run: a kill before each call, and one that loses its answer. */
const kills = Array.from({ length: 2 * (2 + held) }, (_, i) => ({
  nth: 1 + Math.floor(i / 2),
  isSent: i % 2 === 1,
}));

describeOnEach("a worker that dies with several runs", (database) => {
  const clock = stillClock();
  const rig = remoteRig({ database, clock });

  /** Works as a program does that keeps nothing, and dies at its nth call. */
  async function workOnce(worker: TestWorker, { nth, isSent }: (typeof kills)[number]): Promise<void> {
    let made = 0;
    const call = async (method: string, body: object): Promise<Reply> => {
      made += 1;
      if (made === nth && !isSent) throw new Killed();
      const sent = worker.call(method, body);
      let isOver = false;
      void sent.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await clock.advance(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const reply = await sent;
      if (made === nth) throw new Killed();
      return reply;
    };
    const runs = runsOf(await call("Poll", { maxRuns: 8 })).map(refOf);
    if (runs.length === 0) return;
    const { body } = await call("AppendBatch", {
      appends: runs.map((run) => ({ ...run, events: [explain("work")] })),
    });
    expect(body.results).toMatchObject(runs.map(() => ({ appended: { events: [{ key: "work" }] } })));
    for (const run of runs) expect((await call("Finish", { ...run, ...done })).status).toBe(200);
  }

  test.skipIf(depth === "short")(
    "at any call: all tasks end, and nothing is written twice",
    { timeout: testMs + kills.length * 20_000 },
    async () => {
      const worker = await createWorker(rig.service, rig.ann);
      for (const kill of kills) {
        const what = `killed at call ${kill.nth}, ${kill.isSent ? "after" : "before"} it`;
        const ids = await Promise.all(Array.from({ length: held }, () => rig.create()));
        await expect(workOnce(worker, kill), what).rejects.toThrow(Killed);
        const isEnded = async () =>
          (await Promise.all(ids.map((id) => rig.row(id)))).every(({ status }) => status === "stopped");
        while (!(await isEnded())) {
          await clock.advance(1000);
          await workOnce(worker, { nth: 0, isSent: false });
        }
        for (const id of ids)
          expect(
            (await rig.events(id)).map(({ type }) => type),
            what,
          ).toEqual([
            ...["user_message", "status_update", "explanation", "assistant_message", "status_update"],
          ]);
      }
    },
  );

  test("loses all of them after 15 s: others continue each once, and the old fences are refused", async () => {
    const [dead, alive] = [
      await createWorker(rig.service, rig.ann),
      await createWorker(rig.service, rig.ann),
    ];
    const ids = await Promise.all(Array.from({ length: 8 }, () => rig.create()));
    const taken = runsOf(await dead.call("Poll", { maxRuns: 8 })).map(refOf);
    expect(idsOf(taken)).toEqual(ids.toSorted());
    await dead.call("AppendBatch", { appends: taken.map((run) => ({ ...run, events: [explain("1")] })) });
    await clock.advance(16_000);
    for (const id of ids) while ((await rig.row(id)).nodeId !== null) await clock.advance(1000);
    const next = runsOf(await alive.call("Poll", { maxRuns: 32 }));
    expect(idsOf(next)).toEqual(ids.toSorted());
    expect(next).toMatchObject(next.map(() => ({ claim: 2, events: [{ seq: 3 }] })));
    const late = await dead.call("AppendBatch", {
      appends: taken.map((run) => ({ ...run, events: [explain("2")] })),
    });
    expect(late.body.results).toMatchObject(taken.map(() => ({ error: { code: "failed_precondition" } })));
    const mine = await alive.call("AppendBatch", {
      appends: next.map((run) => ({ ...refOf(run), events: [explain("2")] })),
    });
    expect(mine.body.results).toMatchObject(
      next.map(() => ({ appended: { events: [{ key: "2", seq: 4 }] } })),
    );
  });
});
