import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import { firstEvents, resume, stop } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { Agent, Outcome } from "../../src/runtime/agent.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { idleClaimsMax } from "../../src/runtime/claims.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { type Runs, startRuns } from "../../src/runtime/runs.ts";
import { openStore } from "../../src/store/open.ts";
import { putTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { type DatabaseKind, describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { checkAnswered, taskInStore } from "../support/invariants.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { passTime, passUntil, type WatchedStore, watchedStore } from "./watched-store.ts";

const done: Outcome = { kind: "finish", content: "Done" };

interface ProcessOptions {
  readonly concurrency?: number;
  readonly agent?: Agent;
  /** Its own clock; by default the shared one. */
  readonly clock?: StillClock;
  /** It holds the folder. */
  readonly alone?: boolean;
}

/** A process that runs tasks, with its own store on the common database. */
interface Process {
  readonly watched: WatchedStore;
  readonly clock: StillClock;
  readonly runs: Runs;
  readonly nodeId: () => string;
  readonly logged: string[];
}

/** Records how often an agent began, and releases all waiting runs. */
interface HoldingAgent {
  readonly agent: Agent;
  /** Ids of tasks, in the order in which their runs began. */
  readonly begun: string[];
  readonly most: () => number;
  release(): void;
}

/** Creates an agent that holds each run until it is released. */
function createHoldingAgent(): HoldingAgent {
  const begun: string[] = [];
  const gate = Promise.withResolvers<void>();
  let now = 0;
  let most = 0;
  return {
    begun,
    most: () => most,
    release: gate.resolve,
    async *agent({ taskId, signal }) {
      begun.push(taskId);
      now += 1;
      most = Math.max(most, now);
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      await Promise.race([gate.promise, aborted]);
      now -= 1;
      return done;
    },
  };
}

describeOnOne("the runs of a process", (kind: DatabaseKind) => {
  let db: TestStore;
  let clock: StillClock;
  let processes: Process[];
  /** Opened before anything runs, as many as a test has processes. */
  let stores: readonly Store[];

  beforeAll(async () => {
    db = await openTestStore(kind);
    const openOther = () => openStore({ databaseUrl: db.url, clock: systemClock, random: systemRandom });
    stores = [await openOther(), await openOther()];
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await db[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    for (const table of ["task", "task_event", "node", "job"]) await runDirectly(db, `DELETE FROM ${table}`);
    clock = stillClock();
    processes = [];
  });
  afterEach(async () => {
    for (const { runs, clock: own } of processes) {
      const drained = runs.drain();
      await own.advance(6_000);
      await drained;
    }
  });

  async function openProcess({
    concurrency = 100,
    agent = offlineAgent,
    clock: own = clock,
    alone = false,
  }: ProcessOptions = {}): Promise<Process> {
    const logged: string[] = [];
    const store = stores[processes.length];
    if (!store) throw new Error("too many processes");
    const watched = watchedStore(store);
    const lease = await openLease(watched.store, own, systemIds, alone);
    const log = (_: string, text: string) => void logged.push(text);
    const runs = startRuns({
      store: watched.store,
      clock: own,
      ids: systemIds,
      cipher,
      log,
      lease,
      concurrency,
      ...withoutFiles,
      agentFor: () => agent,
    });
    const opened = { watched, clock: own, runs, nodeId: lease.nodeId, logged };
    processes.push(opened);
    return opened;
  }

  const watchedStores = () => processes.map(({ watched }) => watched);
  const pass = (ms: number, own = clock) => passTime(own, ms, ...watchedStores());
  const passUntilHere = (holds: () => Promise<boolean> | boolean, own = clock) =>
    passUntil(own, holds, ...watchedStores());

  const put = (text = "Hello", members: Partial<Task> = {}) => putTask(db.store, members, firstEvents(text));
  const taskRow = async ({ id }: Pick<Task, "id">): Promise<Task> => {
    const task = await db.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  };
  const is =
    (status: string, ...tasks: readonly Task[]) =>
    async () => {
      const rows = await Promise.all(tasks.map(taskRow));
      return rows.every((task) => task.status === status);
    };
  const advance = (
    process: Process,
    { id }: Task,
    step: { readonly set: object; readonly events: readonly NewEvent[] },
  ) => process.watched.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), ...step }));

  test("take waiting tasks at start, and later ones after a notification", async () => {
    const before = await put();
    const process = await openProcess();
    await passUntilHere(is("stopped", before));
    const later = await put();
    await process.runs.wake();
    // Its fence, not its node: a quick run may be over already.
    expect((await taskRow(later)).fence, "a wake-up resolves after its claims").toBe(1);
    await passUntilHere(is("stopped", later));
    for (const { id } of [before, later]) checkAnswered(await taskInStore(db.store, id));
  });

  test("find unannounced tasks within a second", async () => {
    await openProcess();
    await pass(500);
    const task = await put();
    expect(
      await passUntilHere(
        async () => (await taskRow(task)).nodeId !== null || (await taskRow(task)).status === "stopped",
      ),
    ).toBeLessThanOrEqual(1_000);
  });

  test("query at once after a possible loss of notifications: for new and for stopped tasks", async () => {
    const running = await put("[[forever]]");
    const process = await openProcess();
    await passUntilHere(() => process.runs.size() === 1);
    await pass(100);
    // By another process, without a notification to this one.
    await runDirectly(
      db,
      `UPDATE task SET fence = fence + 1, node_id = NULL, status = 'stopped' WHERE id = '${running.id}'`,
    );
    await process.watched.quiet();
    expect(process.runs.size()).toBe(1);
    process.watched.notifyLoss();
    await process.watched.quiet();
    expect(process.runs.size()).toBe(0);
    const { id } = await put("[[forever]]", { status: "stopped" });
    await runDirectly(db, `UPDATE task SET status = 'running' WHERE id = '${id}'`);
    process.watched.notifyLoss();
    await process.watched.quiet();
    expect(process.runs.size()).toBe(1);
  });

  test("query once for many notifications at once", async () => {
    const process = await openProcess();
    await pass(100);
    const before = process.watched.calls("tasks.listUnowned");
    await Promise.all(Array.from({ length: 50 }, () => process.runs.wake()));
    expect(process.watched.calls("tasks.listUnowned") - before).toBeLessThanOrEqual(2);
  });

  describe("have a limit", () => {
    test("that is never exceeded, and the next begins when one ends, in less than a second", async () => {
      const holdingAgent = createHoldingAgent();
      const tasks = await Promise.all(
        Array.from({ length: 7 }, () => put("Hello", { lastTimestamp: 0, createdAt: 0 })),
      );
      const process = await openProcess({ concurrency: 3, agent: holdingAgent.agent });
      await process.runs.wake();
      await passUntilHere(() => holdingAgent.begun.length === 3);
      await Promise.all(Array.from({ length: 5 }, () => process.runs.wake()));
      await pass(100);
      expect([holdingAgent.begun.length, process.runs.size()]).toEqual([3, 3]);
      holdingAgent.release();
      expect(await passUntilHere(is("stopped", ...tasks))).toBeLessThan(1_000);
      expect(holdingAgent.most()).toBe(3);
    });

    test("within which the least-served account comes first", async () => {
      const holdingAgent = createHoldingAgent();
      const members = (accountId: string, queuedAt: number) => ({ accountId, queuedAt });
      const busy = await Promise.all([1, 2, 3, 4].map((at) => put("Busy", members("busy", at))));
      const modest = await put("Modest", members("modest", 5));
      await openProcess({ concurrency: 3, agent: holdingAgent.agent });
      await passUntilHere(() => holdingAgent.begun.length === 3);
      expect(holdingAgent.begun.toSorted()).toEqual([busy[0]?.id, busy[1]?.id, modest.id].toSorted());
    });
  });

  describe("end early", () => {
    test("at once when their task is stopped, without waiting for a sweep", async () => {
      const task = await put("[[forever]]");
      const process = await openProcess();
      await passUntilHere(() => process.runs.size() === 1);
      await advance(process, task, stop);
      for (const { quiet } of watchedStores()) await quiet();
      expect(process.runs.size()).toBe(0);
      checkAnswered(await taskInStore(db.store, task.id));
    });

    test("within a second when another process stops their task", async () => {
      const task = await put("[[forever]]");
      const process = await openProcess();
      await passUntilHere(() => process.runs.size() === 1);
      await db.store.change((tx) => tx.tasks.advance(task.id, { now: clock.now(), ...stop }));
      expect(process.runs.size(), "it has received no notification").toBe(1);
      expect(await passUntilHere(() => process.runs.size() === 0)).toBeLessThanOrEqual(1_100);
    });

    test("not because of notifications older than they are", async () => {
      const task = await put("[[forever]]", { fence: 7 });
      const process = await openProcess();
      await passUntilHere(() => process.runs.size() === 1);
      const news = { taskId: task.id, lastSeq: 2 };
      // The claim has raised the fence to 8. An earlier stop ended before it.
      process.watched.notify({ ...news, fence: 7, status: "stopped" });
      process.watched.notify({ ...news, fence: 8, status: "running" });
      await process.watched.quiet();
      expect(process.runs.size()).toBe(1);
      process.watched.notify({ ...news, fence: 9, status: "running" });
      await passUntilHere(() => process.runs.size() === 0);
    });

    test("and an agent that does not clean up delays only its own task's next run, by 5 s", async () => {
      const rows: string[] = [];
      const stubbornAgent: Agent = async function* ({ messages }) {
        rows.push(String(messages[0]));
        if (messages[0] === "Stubborn") await new Promise<never>(() => undefined);
        return done;
      };
      const stubbornTasks = await Promise.all(Array.from({ length: 5 }, () => put("Stubborn")));
      // The capacity is smaller than the number of tasks that cannot use it.
      const process = await openProcess({ agent: stubbornAgent, concurrency: 7 });
      await passUntilHere(() => rows.length === 5);
      for (const task of stubbornTasks) {
        await advance(process, task, stop);
        await advance(process, task, resume("Again", 0));
      }
      const other = await put("Other", { queuedAt: 9_999 });
      await process.runs.wake();
      expect(await passUntilHere(is("stopped", other)), "others continue").toBeLessThan(1_000);
      expect(rows).not.toContain("Again");
      const waited = await passUntilHere(is("stopped", ...stubbornTasks));
      expect(waited).toBeLessThanOrEqual(5_500);
      for (const { id } of stubbornTasks) checkAnswered(await taskInStore(db.store, id));
    });
  });

  describe("are resumed", () => {
    test("within a second after a crash of the run, as if it had not crashed", async () => {
      const text = "[[say Before]] [[crash]] [[say After]]";
      const task = await put(text);
      await openProcess();
      expect(await passUntilHere(is("stopped", task))).toBeLessThanOrEqual(2_000);
      const { events } = await taskInStore(db.store, task.id);
      expect(events.flatMap((event) => event.text ?? []).slice(0, 3)).toEqual([text, "Before", "After"]);
      checkAnswered(await taskInStore(db.store, task.id));
    });

    test("when a task names this process, which does not know it", async () => {
      const process = await openProcess();
      await pass(100);
      const task = await put("Hello", { nodeId: process.nodeId(), claims: 1, consumedSeq: 2, fence: 3 });
      await passUntilHere(is("stopped", task));
      expect(await taskRow(task)).toMatchObject({ fence: 4 });
      checkAnswered(await taskInStore(db.store, task.id));
    });

    test("when a run fails because the database is unavailable, which is not the agent's fault", async () => {
      const process = await openProcess();
      await pass(100);
      let failures = 0;
      process.watched.before("events.list", () => {
        failures += 1;
        if (failures <= 2) throw new Error("no database");
      });
      const task = await put();
      await passUntilHere(is("stopped", task));
      expect(process.logged.filter((text) => text === "a run failed")).toHaveLength(2);
      checkAnswered(await taskInStore(db.store, task.id));
    });

    test("however often a run fails because the database is unavailable: it does not count against its task", async () => {
      const process = await openProcess();
      await pass(100);
      let failures = 0;
      process.watched.before("events.list", () => {
        failures += 1;
        if (failures <= idleClaimsMax + 5) throw new Failure("unavailable", "no database");
      });
      const task = await put();
      await passUntilHere(async () => (await taskRow(task)).status !== "running");
      expect(await taskRow(task)).toMatchObject({ status: "stopped" });
      checkAnswered(await taskInStore(db.store, task.id));
    });

    test("after sweeps that failed", async () => {
      const process = await openProcess();
      await pass(100);
      let failures = 0;
      process.watched.before("tasks.listOwned", () => {
        failures += 1;
        if (failures <= 3) throw new Error("no database");
      });
      const task = await put();
      await passUntilHere(is("stopped", task));
      expect(process.logged.filter((text) => text === "sweepTasks failed")).toHaveLength(3);
    });
  });

  describe("of a dead peer", () => {
    test("are all taken over after 15 s, and its row is removed with the last one", async () => {
      const tasks = await Promise.all(
        Array.from({ length: 40 }, () =>
          put("Hello", { nodeId: "dead", claims: 1, consumedSeq: 2, fence: 3 }),
        ),
      );
      await db.store.change((tx) => tx.nodes.insert({ id: "dead", beat: 3, startedAt: 0, address: null }));
      const { runs } = await openProcess();
      await pass(14_000);
      expect(runs.size()).toBe(0);
      await passUntilHere(async () => (await taskRow(tasks[0] as Task)).claims > 1);
      const rows = await Promise.all(tasks.map(taskRow));
      expect(
        rows.filter(({ claims }) => claims === 1),
        "for any number of tasks",
      ).toEqual([]);
      await passUntilHere(is("stopped", ...tasks));
      await passUntilHere(async () => (await db.store.nodes.list()).every(({ id }) => id !== "dead"));
      for (const { id } of tasks) checkAnswered(await taskInStore(db.store, id));
    });

    test("are taken over at once by the holder of the folder, which knows that no peer exists", async () => {
      const tasks = await Promise.all(
        Array.from({ length: 5 }, () => put("Hello", { nodeId: "before", claims: 1, consumedSeq: 2 })),
      );
      await db.store.change((tx) => tx.nodes.insert({ id: "before", beat: 3, startedAt: 0, address: null }));
      const { watched } = await openProcess({ alone: true });
      await watched.quiet();
      const rows = await Promise.all(tasks.map(taskRow));
      expect(rows.map(({ claims }) => claims)).toEqual(rows.map(() => 2));
      await passUntilHere(is("stopped", ...tasks));
    });

    test("continue here after its event loop was blocked, and its later writes are refused", async () => {
      // The first process's clock stops while the second one's advances: the first does nothing.
      const stoppedClock = stillClock();
      const task = await put("[[say One]] [[sleep 3]] [[say Two]]");
      const first = await openProcess({ clock: stoppedClock });
      const oldNodeId = first.nodeId();
      await passUntilHere(async () => (await taskRow(task)).lastSeq === 3, stoppedClock);
      const second = await openProcess();
      await passUntilHere(() => second.runs.size() === 1);
      expect(await taskRow(task)).toMatchObject({ nodeId: second.nodeId(), claims: 2 });
      await passUntilHere(async () => (await db.store.nodes.list()).every(({ id }) => id !== oldNodeId));
      // It resumes: its agent's sleep is over, and its next heartbeat is due.
      await pass(6_000, stoppedClock);
      expect((await taskInStore(db.store, task.id)).events).toHaveLength(3);
      expect(first.runs.size()).toBe(0);
      expect(first.nodeId(), "it continues with another row").not.toBe(oldNodeId);
      await passUntilHere(is("stopped", task));
      const { events } = await taskInStore(db.store, task.id);
      expect(events.filter(({ text }) => text === "Two")).toHaveLength(1);
      checkAnswered(await taskInStore(db.store, task.id));
    });
  });

  test("are released after 10 s without a heartbeat, and resumed when the process can beat again", async () => {
    const task = await put("[[forever]]");
    const process = await openProcess();
    await passUntilHere(() => process.runs.size() === 1);
    let isUnavailable = true;
    process.watched.before("change", () => {
      if (isUnavailable) throw new Error("no database");
    });
    await pass(9_000);
    expect(process.runs.size()).toBe(1);
    expect(await passUntilHere(() => process.runs.size() === 0)).toBeLessThanOrEqual(7_500);
    const { fence } = await taskRow(task);
    isUnavailable = false;
    await passUntilHere(() => process.runs.size() === 1);
    expect(await taskRow(task)).toMatchObject({ nodeId: process.nodeId(), fence: fence + 1 });
  });

  test("are at most one per task that two processes claim", async () => {
    const holdingAgent = createHoldingAgent();
    await Promise.all(Array.from({ length: 40 }, () => put("Hello")));
    const two = [
      await openProcess({ agent: holdingAgent.agent }),
      await openProcess({ agent: holdingAgent.agent }),
    ];
    await passUntilHere(() => holdingAgent.begun.length >= 40);
    await pass(2_500);
    expect(new Set(holdingAgent.begun).size).toBe(40);
    expect(two.reduce((sum, { runs }) => sum + runs.size(), 0)).toBe(40);
  });

  describe("in a drain", () => {
    test("are released at once, and another process continues without repetition or loss", async () => {
      const text = "[[say One]] [[sleep 5]] [[say Two]]";
      const task = await put(text);
      const first = await openProcess();
      await passUntilHere(async () => (await taskRow(task)).lastSeq === 3);
      await first.runs.drain();
      expect(await taskRow(task)).toMatchObject({ status: "running", nodeId: null, idleClaims: 0 });
      expect(await db.store.nodes.list(), "it leaves no row behind").toEqual([]);
      await openProcess();
      await passUntilHere(is("stopped", task));
      const texts = (await taskInStore(db.store, task.id)).events.flatMap((event) => event.text ?? []);
      expect(texts.slice(0, 3)).toEqual([text, "One", "Two"]);
      checkAnswered(await taskInStore(db.store, task.id));
    });

    describe("that waits for calls of a model", () => {
      const tokens = { inputTokens: 10, outputTokens: 10, toolCalls: 0 };
      /**
       * An agent that calls a model for each text, and reports it with its event; each call lasts until it is
       * answered.
       */
      function createModelAgent() {
        const asked: PromiseWithResolvers<void>[] = [];
        const aborted: string[] = [];
        const agent: Agent = async function* ({ taskId, reserve, written, signal }) {
          signal.addEventListener("abort", () => aborted.push(taskId));
          // As every agent, it yields the events of an earlier run again.
          for (const event of written) yield { events: [event] };
          for (let nth = written.length; nth < 3; nth += 1) {
            const hold = await reserve(tokens);
            const call = Promise.withResolvers<void>();
            asked.push(call);
            await call.promise;
            // A tool of the answer, whose event reports the call.
            await reserve({ inputTokens: 0, outputTokens: 0, toolCalls: 1 });
            yield {
              events: [
                {
                  type: "assistant_message",
                  payload: { content: `Answer ${nth}`, deliveryKind: "progress" },
                },
              ],
              settles: [hold],
            };
          }
          return done;
        };
        return { agent, asked, aborted: () => aborted.length };
      }
      const textsOf = async (task: Task) =>
        (await taskInStore(db.store, task.id)).events.flatMap((event) => event.text ?? []);

      test("end after the current call, whose events are written, and another process makes the next call", async () => {
        const task = await put();
        const [first, second] = [createModelAgent(), createModelAgent()];
        const process = await openProcess({ agent: first.agent });
        await passUntilHere(() => first.asked.length === 1);
        let isOver = false;
        const drained = process.runs.drain(25_000).then(() => {
          isOver = true;
        });
        await pass(20_000);
        expect([isOver, first.aborted(), (await taskRow(task)).nodeId]).toEqual([false, 0, process.nodeId()]);
        expect((await db.store.nodes.list())[0]?.beat, "the process stays alive").toBeGreaterThan(2);
        first.asked[0]?.resolve();
        await drained;
        expect([first.asked.length, await textsOf(task)]).toEqual([1, ["Hello", "Answer 0"]]);
        expect(await taskRow(task)).toMatchObject({ status: "running", nodeId: null });
        await openProcess({ agent: second.agent });
        for (const nth of [0, 1]) {
          await passUntilHere(() => second.asked.length > nth);
          second.asked[nth]?.resolve();
        }
        await passUntilHere(is("stopped", task));
        expect(await textsOf(task)).toEqual(["Hello", "Answer 0", "Answer 1", "Answer 2", "Done"]);
        checkAnswered(await taskInStore(db.store, task.id));
      });

      test("are aborted when the call takes longer than the drain, and released at once when they have called no model", async () => {
        const [calling, other] = [await put(), await put("[[forever]]")];
        const model = createModelAgent();
        const process = await openProcess({
          agent: (turn) => (turn.messages[0] === "[[forever]]" ? offlineAgent(turn) : model.agent(turn)),
        });
        await passUntilHere(() => model.asked.length === 1 && process.runs.size() === 2);
        const drained = process.runs.drain(25_000);
        await passUntilHere(async () => (await taskRow(other)).nodeId === null);
        expect((await taskRow(calling)).nodeId).toBe(process.nodeId());
        await pass(24_000);
        expect(model.aborted()).toBe(0);
        // The agent does not clean up, for which it has 5 s.
        await pass(7_000);
        await drained;
        expect(model.aborted()).toBe(1);
        expect(await taskRow(calling)).toMatchObject({ status: "running", nodeId: null });
      });

      test("are aborted by a stop of the user during the drain", async () => {
        const task = await put();
        const model = createModelAgent();
        const process = await openProcess({ agent: model.agent });
        await passUntilHere(() => model.asked.length === 1);
        const drained = process.runs.drain(3_600_000);
        await db.store.change((tx) => tx.tasks.advance(task.id, { now: clock.now(), ...stop }));
        process.watched.notify({ taskId: task.id, lastSeq: 9, fence: 9, status: "stopped" });
        await pass(6_000);
        await drained;
        expect([model.aborted(), (await taskRow(task)).status]).toEqual([1, "stopped"]);
      });
    });

    test("are released before a stubborn agent has cleaned up", async () => {
      const task = await put();
      let hasBegun = false;
      const stubbornAgent: Agent = async function* () {
        hasBegun = true;
        await new Promise<never>(() => undefined);
        return done;
      };
      const process = await openProcess({ agent: stubbornAgent });
      await passUntilHere(() => hasBegun);
      const drained = process.runs.drain();
      await passUntilHere(async () => (await taskRow(task)).nodeId === null);
      expect(process.runs.size()).toBe(1);
      await clock.advance(6_000);
      await drained;
    });

    test("are released too when they were abandoned and not found again so far", async () => {
      const task = await put("[[crash]]");
      const process = await openProcess();
      await passUntilHere(async () => (await taskRow(task)).nodeId !== null && process.runs.size() === 0);
      await process.runs.drain();
      expect(await taskRow(task)).toMatchObject({ nodeId: null });
      expect(await db.store.nodes.list()).toEqual([]);
    });

    test("are released, and never begun, when their claim was in progress", async () => {
      const holdingAgent = createHoldingAgent();
      const process = await openProcess({ agent: holdingAgent.agent });
      await pass(100);
      const task = await put();
      const reached = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      process.watched.before("change", () => {
        reached.resolve();
        return gate.promise;
      });
      const woken = process.runs.wake();
      await reached.promise;
      const drained = process.runs.drain();
      gate.resolve();
      await Promise.all([woken, drained]);
      expect(holdingAgent.begun).toEqual([]);
      expect(await taskRow(task)).toMatchObject({ status: "running", nodeId: null });
      expect(await db.store.nodes.list()).toEqual([]);
    });

    test("leave no timer", async () => {
      const process = await openProcess();
      await pass(2_000);
      await process.runs.drain();
      const before = process.watched.calls("tasks.listOwned") + process.watched.calls("change");
      await process.runs.wake();
      await pass(20_000);
      expect(process.watched.calls("tasks.listOwned") + process.watched.calls("change")).toBe(before);
    });

    test("end although the database is gone, because others will find them", async () => {
      const task = await put("[[forever]]");
      const process = await openProcess();
      await passUntilHere(() => process.runs.size() === 1);
      let isUnavailable = true;
      process.watched.before("change", () => {
        if (isUnavailable) throw new Error("no database");
      });
      await process.runs.drain();
      expect(process.logged).toContain("releasing runs failed");
      expect(await taskRow(task)).toMatchObject({ nodeId: process.nodeId() });
      expect(
        (await db.store.nodes.list()).map(({ id }) => id),
        "the row stays with the tasks it owns",
      ).toEqual([process.nodeId()]);
      isUnavailable = false;
    });
  });

  test("are aborted by the next sweep when their task was stopped between claim and start", async () => {
    const process = await openProcess();
    await pass(1_100);
    const task = await put("[[forever]]");
    const { store } = process.watched;
    const change = store.change.bind(store);
    let stopped = false;
    // The claim is committed and its notification sent; the run is not registered so far.
    store.change = async (work) => {
      const result = await change(work);
      if (!stopped && (await taskRow(task)).nodeId !== null) {
        stopped = true;
        await change((tx) => tx.tasks.advance(task.id, { now: clock.now(), ...stop }));
      }
      return result;
    };
    await process.runs.wake();
    expect(stopped).toBe(true);
    expect(process.runs.size(), "it has begun, with an outdated fence").toBe(1);
    expect(await passUntilHere(() => process.runs.size() === 0)).toBeLessThanOrEqual(1_100);
    checkAnswered(await taskInStore(db.store, task.id));
  });
});
