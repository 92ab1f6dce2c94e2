import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Caller, OpenCall } from "../../src/core/accounts/caller.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { Feed, Tx } from "../../src/core/store.ts";
import type { EventWindow, TaskEvent } from "../../src/core/tasks/event.ts";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import { taskSubscriptions } from "../../src/core/tasks/task-subscriptions.ts";
import { type Watches, watches } from "../../src/core/tasks/watches.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { step } from "./watch-rig.ts";

const ann: Caller = {
  accountId: "account",
  spaceId: "space",
  credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
  role: "owner",
  locale: "en",
};

describe("watches", () => {
  let db: TestStore;
  let clock: StillClock;
  let draining: AbortController;
  let gone: AbortController;
  let watching: Watches;
  let id: string;

  const rules = () => ({ draining: draining.signal, holdSeconds: 50 });

  beforeAll(async () => {
    db = await openTestStore("sqlite");
  });
  afterAll(() => db[Symbol.asyncDispose]());
  beforeEach(async () => {
    clock = stillClock();
    draining = new AbortController();
    gone = new AbortController();
    const subscriptions = taskSubscriptions(db.store.feed, clock, {
      limit: 1,
      pollMs: 5_000,
      draining: draining.signal,
    });
    watching = watches(subscriptions, clock, rules());
    id = systemIds.short();
    await db.store.change((tx) =>
      tx.tasks.insert({ ...idleTask(id, ann, 0), status: "running" }, [step(), step()]),
    );
  });

  const add = (count: number) =>
    db.store.change((tx) =>
      tx.tasks.advance(id, { now: 0, events: Array.from({ length: count }, () => step()) }),
    );
  const ask: OpenCall["reauthenticate"] = async () => ann;
  const call = (again = ask): OpenCall => ({
    caller: ann,
    accessKey: again === ask ? "ann" : systemIds.short(),
    network: "192.0.2.1",
    reauthenticate: again,
    gone: gone.signal,
  });
  async function watch(
    open = call(),
    tx: Tx = db.store,
    untilSettled = false,
  ): Promise<AsyncIterator<TaskEvent>> {
    const events = await watching.watch(tx, open, { taskId: id, afterSeq: 0, untilSettled });
    if (!events) throw new Error("there is nothing to tell");
    return events[Symbol.asyncIterator]();
  }
  const next = async (events: AsyncIterator<TaskEvent>): Promise<number | undefined> => {
    const { done, value } = await events.next();
    return done ? undefined : value.seq;
  };
  const take = async (events: AsyncIterator<TaskEvent>, count: number): Promise<void> => {
    for (let taken = 0; taken < count; taken += 1) await next(events);
  };

  /** The repeated read of a held call. */
  const readTask = (tx: Tx) => async (caller: Caller) => {
    const task = await tx.tasks.find(caller, id);
    if (!task) throw new Error("unknown task");
    return { task };
  };

  /**
   * A store that runs an action right after each of a watch's reads of the task, or before it reads a page.
   */
  function storeWithAction(aggregate: "tasks" | "events", action: () => Promise<unknown>): Tx {
    if (aggregate === "events") {
      const list = async (taskId: string, window: EventWindow) => {
        await action();
        return db.store.events.list(taskId, window);
      };
      return storeWithFaults(db.store, "events", () => ({ list }));
    }
    const find: Tx["tasks"]["find"] = async (scope, taskId) => {
      const found = await db.store.tasks.find(scope, taskId);
      await action();
      return found;
    };
    return storeWithFaults(db.store, "tasks", () => ({ find }));
  }

  test("miss no event between a read and the wait after it", async () => {
    let more = 3;
    const events = await watch(
      call(),
      storeWithAction("tasks", async () => (more-- > 0 ? add(1) : null)),
    );
    // No time passes: only the notification can wake it.
    for (let seq = 1; seq <= 5; seq += 1) expect(await next(events)).toBe(seq);
    await events.return?.();
  });

  test("miss no event that a held call's read did not see", async () => {
    let more = 1;
    const tx = storeWithAction("tasks", async () => (more-- > 0 ? add(1) : null));
    const { task } = await watching.hold(call(), {
      seconds: 60,
      read: readTask(tx),
      isEnough: (found) => found.task.lastSeq > 2,
    });
    expect(task.lastSeq).toBe(3);
  });

  test("read once while nothing changes, and not again for a claim, which adds no event", async () => {
    let looks = 0;
    const look = (caller: Caller) => {
      looks += 1;
      return readTask(db.store)(caller);
    };
    const held = watching.hold(call(), { seconds: 60, read: look, isEnough: ({ task }) => task.lastSeq > 2 });
    for (let turns = 0; turns < 20; turns += 1) await turn();
    await db.store.change((tx) =>
      tx.tasks.advance(id, { now: 0, set: { nodeId: "node", raiseFence: true } }),
    );
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(looks).toBe(1);
    await add(1);
    expect((await held).task.lastSeq).toBe(3);
    expect(looks).toBe(2);
  });

  test("end a held call at its time, even if timers fire early", async () => {
    const early = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => clock.sleep(Math.max(1, ms - 3), signal),
    };
    const subscriptions = taskSubscriptions(db.store.feed, early, {
      limit: 1,
      pollMs: 5_000,
      draining: draining.signal,
    });
    const held = watches(subscriptions, early, rules()).hold(call(), {
      seconds: 1,
      read: readTask(db.store),
      isEnough: () => false,
    });
    for (let turns = 0; turns < 20; turns += 1) await turn();
    await clock.advance(1_000);
    expect((await held).task.lastSeq).toBe(2);
  });

  test("read one page, and no more until it was consumed", async () => {
    await add(998);
    let read = 0;
    const list = async (taskId: string, window: EventWindow) => {
      const page = await db.store.events.list(taskId, window);
      read += page.length;
      return page;
    };
    const events = await watch(
      call(),
      storeWithFaults(db.store, "events", () => ({ list })),
    );
    await next(events);
    await add(1_000);
    expect(read).toBe(100);
    await take(events, 99);
    expect(read).toBe(100);
    await next(events);
    expect(read).toBe(200);
    await events.return?.();
  });

  test("check a slow reader's credential before each event, if the last check was 5 s ago", async () => {
    await add(50);
    let checks = 0;
    const refusal = new Failure("unauthenticated", "no more");
    const events = await watch(
      call(async () => {
        checks += 1;
        if (checks > 1) throw refusal;
        return ann;
      }),
    );
    await take(events, 10);
    await clock.advance(4_999);
    expect([await next(events), checks]).toEqual([11, 0]);
    await clock.advance(1);
    expect([await next(events), checks]).toEqual([12, 1]);
    await clock.advance(4_999);
    expect([await next(events), checks]).toEqual([13, 1]);
    await clock.advance(1);
    await expect(next(events)).rejects.toBe(refusal);
  });

  test("report the drain to a slow reader before the next event", async () => {
    const events = await watch();
    await next(events);
    draining.abort();
    await expect(next(events)).rejects.toMatchObject({ reason: "unavailable", retryAfter: 1 });
  });

  test("end with not_found, not as settled, when the task is deleted before its last events were read", async () => {
    await db.store.change((tx) => tx.tasks.advance(id, { now: 0, set: { status: "stopped" } }));
    const remove = () =>
      db.store.change(async (tx) => {
        await tx.events.deleteOfTask(id);
        await tx.tasks.tombstone(id, 0, false);
      });
    const events = await watch(call(), storeWithAction("events", remove), true);
    await expect(next(events)).rejects.toMatchObject({ reason: "not_found" });
  });

  describe("release a slot", () => {
    const full = { reason: "resource_exhausted" };

    test("when the reader stops", async () => {
      const events = await watch();
      await next(events);
      await expect(watch()).rejects.toMatchObject(full);
      await events.return?.();
      await watch();
    });

    test("when the caller disconnects, while it waits, is read, or was never read", async () => {
      for (const before of [0, 1, 2]) {
        const events = await watch();
        await take(events, before);
        const pending = before === 2 ? next(events) : undefined;
        gone.abort();
        if (pending) await expect(pending).rejects.toMatchObject({ reason: "cancelled" });
        gone = new AbortController();
      }
      await watch();
    });

    test("and leave no timer", async () => {
      let timers = 0;
      const counting = {
        ...clock,
        async sleep(ms: number, signal?: AbortSignal) {
          timers += 1;
          await clock.sleep(ms, signal).finally(() => (timers -= 1));
        },
      };
      const subscriptions = taskSubscriptions(db.store.feed, counting, {
        limit: 2,
        pollMs: 5_000,
        draining: draining.signal,
      });
      const seen = { id, lastSeq: 2, status: "running" };
      const open = [
        subscriptions.prepare().subscribe(call(), seen, 1_000),
        subscriptions.prepare().subscribe(call(), seen),
      ];
      expect(timers).toBe(2);
      for (const { close: leave } of open) leave();
      for (let turns = 0; turns < 5; turns += 1) await turn();
      expect(timers).toBe(0);
    });

    test("when the caller has disconnected already", async () => {
      gone.abort();
      await watch();
      await watch();
    });

    test("when a held call's read throws, or its caller disconnects", async () => {
      const held = (again: OpenCall["reauthenticate"]) =>
        watching.hold(call(again), { seconds: 60, read: readTask(db.store), isEnough: () => false });
      const refused = expect(held(() => Promise.reject(new Error("no more")))).rejects.toThrow("no more");
      for (let turns = 0; turns < 20; turns += 1) await turn();
      await add(1);
      await refused;
      const pending = held(async () => ann);
      gone.abort();
      await expect(pending).rejects.toMatchObject({ reason: "cancelled" });
      gone = new AbortController();
      await watch();
    });
  });

  test("read again immediately when notifications may have been lost, without waiting for the next regular read", async () => {
    let lose = (): void => undefined;
    const silentFeed: Feed = {
      onTask: () => () => undefined,
      onJob: () => () => undefined,
      onLost(listener) {
        lose = listener;
        return () => undefined;
      },
    };
    watching = watches(
      taskSubscriptions(silentFeed, clock, { limit: 1, pollMs: 5_000, draining: draining.signal }),
      clock,
      rules(),
    );
    const events = await watch();
    await take(events, 2);
    const third = next(events);
    for (let i = 0; i < 20; i += 1) await turn();
    await add(1);
    lose();
    expect(await third).toBe(3);
  });
});
