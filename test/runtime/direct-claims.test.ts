import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Tx } from "../../src/core/store.ts";
import { claimedTask, firstEvents } from "../../src/core/tasks/lifecycle.ts";
import { defaultProfile } from "../../src/core/tasks/profile.ts";
import { taskSteps } from "../../src/core/tasks/steps.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { tasks } from "../../src/core/use-cases/manage-tasks.ts";
import type { Agent, Outcome } from "../../src/runtime/agent.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { type Runs, startRuns } from "../../src/runtime/runs.ts";
import { openTurn } from "../../src/runtime/turn.ts";
import { ann, putTask, sampleTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { unpublished } from "../support/claims.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { checkAnswered, taskInStore } from "../support/invariants.ts";
import { hangMs } from "../support/patience.ts";
import { type WatchedStore, watchedStore } from "./watched-store.ts";

const finish: Outcome = { kind: "finish", content: "Done" };
const callerOf = (accountId: string): Caller => ({
  ...{ ...ann, accountId, role: null, locale: "en" },
  credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
});
const input = { interactive: false, hidden: false, shareVisibility: "private" } as const;
const eventually = (check: () => unknown) => vi.waitFor(check, hangMs);
const failed = new Error("the rest of the change failed");

// On PostgreSQL every task waits in the queue.
describe("a turn that a change claims for its process", () => {
  let db: TestStore;
  let watched: WatchedStore;
  let runs: Runs;
  let nodeId: string;
  /** The turns of agents, in the order in which they began. */
  let turns: Parameters<Agent>[0][];
  /** Runs hold until then. */
  let gate: PromiseWithResolvers<void>;
  let most: number;

  beforeAll(async () => {
    db = await openTestStore("sqlite");
  });
  afterAll(() => db[Symbol.asyncDispose]());

  beforeEach(async () => {
    for (const table of ["task", "task_event", "node", "job", "agent_profile"])
      await runDirectly(db, `DELETE FROM ${table}`);
    [turns, gate, most] = [[], Promise.withResolvers(), 0];
  });
  afterEach(() => runs.drain());

  const agent: Agent = async function* (turn) {
    turns.push(turn);
    most = Math.max(most, runs.size());
    const aborted = new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    await Promise.race([gate.promise, aborted]);
    return finish;
  };
  const parts = () => ({
    store: watched.store,
    clock: systemClock,
    ids: systemIds,
    cipher,
    log: () => undefined,
    ...withoutFiles,
  });

  async function open(concurrency: number): Promise<void> {
    watched = watchedStore(db.store);
    const lease = await openLease(watched.store, systemClock, systemIds, true);
    nodeId = lease.nodeId();
    runs = startRuns({
      ...parts(),
      lease,
      concurrency,
      excludedProfiles: ["manus-1.6-max"],
      agentFor: () => agent,
    });
    db.store.feed.onJob((kind) => void (kind === "run" && runs.hasCapacity() && runs.wake()));
  }

  const operations = () =>
    tasks({
      ...{
        clock: systemClock,
        ids: systemIds,
        backlog: { add: () => undefined },
        keepsEvents: false,
        publishTask: unpublished,
      },
      steps: taskSteps(systemClock, [], runs.direct),
    });
  const createIn = (tx: Tx, accountId = "ann", more = {}) =>
    operations().create(tx, callerOf(accountId), {
      ...input,
      input: { texts: ["Sort it"], references: [] },
      ...more,
    });
  const create = (accountId?: string, more = {}) => db.store.change((tx) => createIn(tx, accountId, more));
  const send = (id: string) =>
    db.store.change((tx) =>
      operations().send(tx, callerOf("ann"), id, { texts: ["And this"], references: [] }, {}),
    );
  const stop = (id: string) => db.store.change((tx) => operations().stop(tx, callerOf("ann"), id));
  const rowOf = async (id: string): Promise<Task> =>
    (await db.store.tasks.byId(id)) ?? expect.fail("no such task");
  const ended = (...ids: readonly string[]) =>
    eventually(async () => {
      for (const id of ids) expect((await rowOf(id)).status).toBe("stopped");
    });
  const begun = () => turns.map(({ taskId }) => taskId);

  test("begins from memory, as a run that reads it would", async () => {
    await open(2);
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const created = await create("ann", { outputSchema: schema });
    expect(created).toMatchObject({
      nodeId,
      fence: 1,
      claims: 1,
      idleClaims: 0,
      answeredSeq: 0,
      consumedSeq: 2,
    });
    expect(await rowOf(created.id), "the row is the one in memory").toEqual(created);
    await eventually(() => expect(begun()).toEqual([created.id]));
    expect(watched.calls("events.list"), "its events were not read").toBe(0);
    const read = await openTurn({ ...parts(), store: db.store }, created, new AbortController().signal);
    const { messages, asked, history, written, outputSchema, earlier } = read;
    expect(turns[0]).toMatchObject({ messages: ["Sort it"], claim: 1, outputSchema: schema });
    expect(turns[0]).toMatchObject({ messages, asked, history, written, outputSchema, earlier });
    gate.resolve();
    await ended(created.id);
    checkAnswered(await taskInStore(db.store, created.id));
  });

  test("continues an ended task, too", async () => {
    await open(1);
    gate.resolve();
    const { id } = await create();
    await ended(id);
    await eventually(() => expect(runs.size()).toBe(0));
    gate = Promise.withResolvers();
    await send(id);
    expect(await rowOf(id)).toMatchObject({ nodeId, fence: 2, claims: 1, answeredSeq: 2 });
    gate.resolve();
    await ended(id);
    expect(turns.map(({ messages }) => messages)).toEqual([["Sort it"], ["And this"]]);
  });

  test("takes no slot of another one of the same turn of the event loop, and each waiting task runs when a slot is free", async () => {
    await open(2);
    const created = await Promise.all(Array.from({ length: 6 }, () => create()));
    expect(created.filter((task) => task.nodeId !== null)).toHaveLength(2);
    expect((await db.store.tasks.listUnowned(10)).length).toBe(4);
    gate.resolve();
    await ended(...created.map(({ id }) => id));
    expect(begun().toSorted(), "none ran twice").toEqual(created.map(({ id }) => id).toSorted());
    expect(most).toBe(2);
  });

  test("gives its slot back when its change is rolled back, alone and within a shared commit", async () => {
    await open(2);
    const fails = () =>
      db.store.change(async (tx) => {
        await createIn(tx);
        throw failed;
      });
    await expect(fails()).rejects.toBe(failed);
    const [first, second, third] = await Promise.allSettled([create(), fails(), create()]);
    expect(second).toEqual({ status: "rejected", reason: failed });
    expect([first, third]).toMatchObject([{ value: { nodeId } }, { value: { nodeId } }]);
    await eventually(() => expect(begun()).toHaveLength(2));
    expect((await create()).nodeId, "both slots are taken").toBeNull();
    gate.resolve();
  });

  test("is refused while a task waits, so that accounts take turns", async () => {
    await open(2);
    const greedy = await Promise.all(Array.from({ length: 8 }, () => create("ann")));
    const modest = await create("bo");
    expect(modest.nodeId).toBeNull();
    const [one] = greedy.filter((task) => task.nodeId !== null);
    await stop(one?.id ?? "");
    await eventually(() => expect(begun()).toHaveLength(3));
    expect(begun()[2], "the free slot goes to the other account").toBe(modest.id);
    gate.resolve();
  });

  test("is refused for a profile that a space limits, and for one without an agent here", async () => {
    await open(3);
    await db.store.change((tx) =>
      tx.agentProfiles.set(
        { spaceId: ann.spaceId, profile: defaultProfile, updatedAt: 1 },
        { timeLimit: 60 },
      ),
    );
    expect((await create()).nodeId, "limited").toBeNull();
    await eventually(() => expect(begun()).toHaveLength(1));
    expect((await create("ann", { agentProfile: "manus-1.6-lite" })).nodeId).toBe(nodeId);
    expect(
      (await create("ann", { agentProfile: "manus-1.6-max" })).nodeId,
      "left to remote workers",
    ).toBeNull();
    gate.resolve();
  });

  test("is aborted by a stop at once", async () => {
    await open(1);
    const { id } = await create();
    await stop(id);
    await eventually(() => expect(runs.size()).toBe(0));
    expect(await rowOf(id)).toMatchObject({ status: "stopped", nodeId: null, fence: 2 });
    expect((await create()).nodeId).toBe(nodeId);
    gate.resolve();
  });

  test("goes back to the queue when the process drains before the commit", async () => {
    await open(1);
    const held = Promise.withResolvers<void>();
    const reserved = Promise.withResolvers<void>();
    const creating = db.store.change(async (tx) => {
      const task = await createIn(tx);
      reserved.resolve();
      await held.promise;
      return task;
    });
    await reserved.promise;
    const drained = runs.drain();
    held.resolve();
    const created = await creating;
    await drained;
    expect(created.nodeId).toBe(nodeId);
    expect(await rowOf(created.id)).toMatchObject({ status: "running", nodeId: null, fence: 2 });
    expect(begun()).toEqual([]);
    expect(await db.store.nodes.list(), "the process is gone").toEqual([]);
    expect((await create()).nodeId, "and claims nothing more").toBeNull();
  });

  test("is taken over when its process dies between the commit and the run", async () => {
    const dead = await openLease(db.store, systemClock, systemIds, true);
    const events = firstEvents("Sort it");
    const { id } = await putTask(db.store, claimedTask(sampleTask(), dead.nodeId(), 1, events), events);
    await open(1);
    gate.resolve();
    await ended(id);
    expect(await rowOf(id)).toMatchObject({ fence: 2, consumedSeq: 2 });
    expect(turns.map(({ messages, claim }) => ({ messages, claim }))).toEqual([
      { messages: ["Sort it"], claim: 2 },
    ]);
  });

  test("is neither lost nor doubled among many creates, stops and failures at once", async () => {
    await open(3);
    gate.resolve();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, async (_, i) => {
        const { id } = await db.store.change(async (tx) => {
          const task = await createIn(tx, `account-${i % 5}`);
          if (i % 7 === 0) throw failed;
          return task;
        });
        if (i % 11 === 0 && i % 5 === 0) await stop(id).catch(() => undefined);
        return id;
      }),
    );
    const ids = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(ids).toHaveLength(60 - 9);
    await ended(...ids);
    expect(new Set(begun()).size, "no run was doubled").toBe(begun().length);
    expect(most).toBeLessThanOrEqual(3);
    for (const id of ids) checkAnswered(await taskInStore(db.store, id));
  });
});
