import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { abandonAfterMs, deadAfterMs, heartbeatMs, type Lease, openLease } from "../../src/runtime/lease.ts";
import { putTask } from "../store/samples.ts";
import { claimTasks } from "../support/claims.ts";
import { type MovableClock, movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { watchedStore } from "./watched-store.ts";

const hourMs = 3_600_000;

/** A process with only its lease, and its own clocks. */
interface Process {
  readonly lease: Lease;
  readonly clock: MovableClock;
  beat(): Promise<boolean>;
  /** Runs this before each change of the process. */
  beforeChanges(hook: () => Promise<void> | void): void;
}

describeOnEach("a lease", (kind) => {
  let db: TestStore;
  let store: Store;
  let first: Process;
  let second: Process;

  beforeAll(async () => {
    db = await openTestStore(kind);
    store = db.store;
  });
  afterAll(() => db[Symbol.asyncDispose]());

  beforeEach(async () => {
    for (const id of await nodeIds()) await store.change((tx) => tx.nodes.remove(id));
    first = await openProcess();
    second = await openProcess();
  });
  async function openProcess(alone = false): Promise<Process> {
    const clock = movableClock();
    const { store: watched, before } = watchedStore(store);
    const lease = await openLease(watched, clock, systemIds, alone);
    return { lease, clock, beat: lease.beat, beforeChanges: (hook) => before("change", hook) };
  }

  const nodeIds = async () => (await store.nodes.list()).map(({ id }) => id);

  /** Lets time pass for the watching process, which checks each second as the sweep does. */
  async function passWatching(watcher: Process, ms: number): Promise<readonly string[]> {
    for (let left = ms; left > 0; left -= 1_000) {
      await watcher.lease.findDeadPeers();
      watcher.clock.pass(Math.min(left, 1_000));
    }
    return watcher.lease.findDeadPeers();
  }

  describe("a peer", () => {
    test(`is dead when its heartbeat has not changed for ${deadAfterMs} ms of the observer's monotonic clock`, async () => {
      expect(await passWatching(second, deadAfterMs - 1)).toEqual([]);
      expect(await passWatching(second, 1)).toEqual([first.lease.nodeId()]);
    });

    test("is alive while it beats", async () => {
      for (let beats = 0; beats < 5; beats += 1) {
        expect(await passWatching(second, 2 * heartbeatMs)).toEqual([]);
        await first.beat();
      }
    });

    test.each([hourMs, -hourMs])("is not dead because a wall clock steps by %i ms", async (step) => {
      await passWatching(second, 5_000);
      for (const { clock } of [first, second]) clock.set(clock.now() + step);
      expect(await passWatching(second, deadAfterMs - 5_001)).toEqual([]);
      expect(await passWatching(second, 1)).toEqual([first.lease.nodeId()]);
    });

    test("is not dead to an observer that was held up itself: its measurement starts over", async () => {
      await passWatching(second, 5_000);
      second.clock.pass(60_000);
      expect(await second.lease.findDeadPeers()).toEqual([]);
      expect(await passWatching(second, deadAfterMs - 1)).toEqual([]);
      expect(await passWatching(second, 1)).toEqual([first.lease.nodeId()]);
    });

    test("is dead at once to the holder of the folder, which knows that it is alone", async () => {
      const alone = await openProcess(true);
      expect((await alone.lease.findDeadPeers()).toSorted()).toEqual(
        [first.lease.nodeId(), second.lease.nodeId()].toSorted(),
      );
    });
  });

  describe("a process", () => {
    test("gets a new row at each start", async () => {
      expect(await nodeIds()).toEqual(expect.arrayContaining([first.lease.nodeId(), second.lease.nodeId()]));
      expect(first.lease.nodeId()).not.toBe(second.lease.nodeId());
    });

    test(`must release its runs when it could not beat for more than ${abandonAfterMs} ms`, async () => {
      first.clock.pass(abandonAfterMs);
      expect(first.lease.hasLapsed()).toBe(false);
      first.clock.pass(1);
      expect(first.lease.hasLapsed()).toBe(true);
      await first.beat();
      expect(first.lease.hasLapsed()).toBe(false);
    });

    test("counts a heartbeat from the start of its write, because peers may have read it since", async () => {
      first.beforeChanges(() => first.clock.pass(abandonAfterMs));
      await first.beat();
      first.clock.pass(1);
      expect(first.lease.hasLapsed()).toBe(true);
    });

    test("whose heartbeat fails has not beaten", async () => {
      first.clock.pass(abandonAfterMs + 1);
      first.beforeChanges(() => Promise.reject(new Error("no database")));
      await expect(first.beat()).rejects.toThrow();
      expect(first.lease.hasLapsed()).toBe(true);
    });
  });

  describe("a process that was taken for dead", () => {
    test("writes nothing under its old row, and continues with a new one", async () => {
      const oldNodeId = first.lease.nodeId();
      const task = await putTask(store);
      await second.lease.removeNode(oldNodeId);
      expect(await first.lease.changeIfLive((tx, nodeId) => claimTasks(tx, [task], nodeId, 0))).toBeNull();
      expect(await store.tasks.byId(task.id)).toMatchObject({ nodeId: null, fence: 0 });
      expect(first.lease.nodeId()).not.toBe(oldNodeId);
      expect(await nodeIds()).toContain(first.lease.nodeId());
      expect(await first.lease.changeIfLive((tx, nodeId) => claimTasks(tx, [task], nodeId, 0))).toHaveLength(
        1,
      );
    });

    test("gets one new row, however many of its parts notice at once", async () => {
      await second.lease.removeNode(first.lease.nodeId());
      expect(await Promise.all(Array.from({ length: 8 }, () => first.beat()))).toContain(false);
      expect((await nodeIds()).toSorted()).toEqual([first.lease.nodeId(), second.lease.nodeId()].toSorted());
    });
  });

  describe("the row of a dead process", () => {
    test("is removed when it owns nothing", async () => {
      await second.lease.removeNode(first.lease.nodeId());
      expect(await nodeIds()).toEqual([second.lease.nodeId()]);
    });

    test("stays while a task names it, because otherwise that task would not be found again", async () => {
      await putTask(store, { nodeId: first.lease.nodeId() });
      await second.lease.removeNode(first.lease.nodeId());
      expect(await nodeIds()).toContain(first.lease.nodeId());
    });

    test("is either removed or used for a claim, never both", async () => {
      for (let round = 0; round < 15; round += 1) {
        const dead = await openProcess();
        const task = await putTask(store);
        const [claimed] = await Promise.all([
          dead.lease.changeIfLive((tx, nodeId) => claimTasks(tx, [task], nodeId, 0)),
          first.lease.removeNode(dead.lease.nodeId()),
          second.lease.removeNode(dead.lease.nodeId()),
        ]);
        const owner = (await store.tasks.byId(task.id))?.nodeId ?? null;
        if (claimed === null) expect(owner).toBeNull();
        else expect(await nodeIds()).toContain(owner);
      }
    });
  });
});
