import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { claimTasks } from "../../src/runtime/claims.ts";
import { beatMs, deadMs, giveUpMs, type Lease, openLease } from "../../src/runtime/lease.ts";
import { putTask } from "../store/samples.ts";
import { type MovableClock, movableClock } from "../support/clock.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";

const hourMs = 3_600_000;

/** A process as far as its lease goes, with clocks of its own. */
interface Process {
  readonly lease: Lease;
  readonly clock: MovableClock;
  beat(): Promise<boolean | null>;
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
    const lease = await openLease(store, clock, systemIds, alone);
    return { lease, clock, beat: () => lease.alive(async () => true) };
  }

  const nodeIds = async () => (await store.nodes.list()).map(({ id }) => id);

  /** Lets time pass for the one that watches, who looks each second as the sweep does. */
  async function watch(watcher: Process, ms: number): Promise<readonly string[]> {
    for (let left = ms; left > 0; left -= 1_000) {
      await watcher.lease.deadPeers();
      watcher.clock.pass(Math.min(left, 1_000));
    }
    return watcher.lease.deadPeers();
  }

  describe("a peer", () => {
    test(`is dead when its beat has not changed for ${deadMs} ms of one's own monotonic clock`, async () => {
      expect(await watch(second, deadMs - 1)).toEqual([]);
      expect(await watch(second, 1)).toEqual([first.lease.nodeId()]);
    });

    test("lives as long as it beats", async () => {
      for (let beats = 0; beats < 5; beats += 1) {
        expect(await watch(second, 2 * beatMs)).toEqual([]);
        await first.beat();
      }
    });

    test("that claims lives, for a claim is a beat", async () => {
      await watch(second, deadMs - 1);
      await first.lease.alive((tx, nodeId) => claimTasks(tx, [], nodeId, 0));
      expect(await watch(second, deadMs - 1)).toEqual([]);
    });

    test.each([hourMs, -hourMs])("is neither dead nor alive because somebody's time of day steps by %i ms", async (step) => {
      await watch(second, 5_000);
      for (const { clock } of [first, second]) clock.set(clock.now() + step);
      expect(await watch(second, deadMs - 5_001)).toEqual([]);
      expect(await watch(second, 1)).toEqual([first.lease.nodeId()]);
    });

    test("is not dead to one who has not looked for a while: who was held up himself begins to measure anew", async () => {
      await watch(second, 5_000);
      second.clock.pass(60_000);
      expect(await second.lease.deadPeers()).toEqual([]);
      expect(await watch(second, deadMs - 1)).toEqual([]);
      expect(await watch(second, 1)).toEqual([first.lease.nodeId()]);
    });

    test("is dead at once to the holder of the folder, who knows that he is alone", async () => {
      const alone = await openProcess(true);
      expect((await alone.lease.deadPeers()).toSorted()).toEqual([first.lease.nodeId(), second.lease.nodeId()].toSorted());
    });
  });

  describe("a process", () => {
    test("gets a row of its own at each start", async () => {
      expect(await nodeIds()).toEqual(expect.arrayContaining([first.lease.nodeId(), second.lease.nodeId()]));
      expect(first.lease.nodeId()).not.toBe(second.lease.nodeId());
    });

    test(`has to give its runs up when it could not beat for more than ${giveUpMs} ms`, async () => {
      first.clock.pass(giveUpMs);
      expect(first.lease.lapsed()).toBe(false);
      first.clock.pass(1);
      expect(first.lease.lapsed()).toBe(true);
      await first.beat();
      expect(first.lease.lapsed()).toBe(false);
    });

    test("counts a beat from when it began to write it, for peers may have seen it since", async () => {
      await first.lease.alive(async () => first.clock.pass(giveUpMs));
      first.clock.pass(1);
      expect(first.lease.lapsed()).toBe(true);
    });

    test("whose beat fails has not beaten", async () => {
      first.clock.pass(giveUpMs + 1);
      await expect(first.lease.alive(() => Promise.reject(new Error("no database")))).rejects.toThrow();
      expect(first.lease.lapsed()).toBe(true);
    });
  });

  describe("a process that was taken for dead", () => {
    test("writes nothing in its old name, and goes on with a new row", async () => {
      const lost = first.lease.nodeId();
      const task = await putTask(store);
      await second.lease.forget(lost);
      expect(await first.lease.alive((tx, nodeId) => claimTasks(tx, [task], nodeId, 0))).toBeNull();
      expect(await store.tasks.byId(task.id)).toMatchObject({ nodeId: null, fence: 0 });
      expect(first.lease.nodeId()).not.toBe(lost);
      expect(await nodeIds()).toContain(first.lease.nodeId());
      expect(await first.lease.alive((tx, nodeId) => claimTasks(tx, [task], nodeId, 0))).toHaveLength(1);
    });

    test("gets one new row, however much of it finds out at once", async () => {
      await second.lease.forget(first.lease.nodeId());
      expect(await Promise.all(Array.from({ length: 8 }, () => first.beat()))).toContain(null);
      expect((await nodeIds()).toSorted()).toEqual([first.lease.nodeId(), second.lease.nodeId()].toSorted());
    });
  });

  describe("the row of a dead process", () => {
    test("goes when it owns nothing", async () => {
      await second.lease.forget(first.lease.nodeId());
      expect(await nodeIds()).toEqual([second.lease.nodeId()]);
    });

    test("stays while a task names it, or nobody would find that task again", async () => {
      await putTask(store, { nodeId: first.lease.nodeId() });
      await second.lease.forget(first.lease.nodeId());
      expect(await nodeIds()).toContain(first.lease.nodeId());
    });

    test("is removed or claimed under, never both", async () => {
      for (let round = 0; round < 15; round += 1) {
        const dead = await openProcess();
        const task = await putTask(store);
        const [claimed] = await Promise.all([
          dead.lease.alive((tx, nodeId) => claimTasks(tx, [task], nodeId, 0)),
          first.lease.forget(dead.lease.nodeId()),
          second.lease.forget(dead.lease.nodeId()),
        ]);
        const owner = (await store.tasks.byId(task.id))?.nodeId ?? null;
        if (claimed === null) expect(owner).toBeNull();
        else expect(await nodeIds()).toContain(owner);
      }
    });
  });
});
