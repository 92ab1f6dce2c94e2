import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/core/store.ts";
import { describeOnEach } from "../support/database.ts";
import { pendingJobs } from "../support/jobs.ts";
import { openQueueRig, type QueueRig } from "./queue-rig.ts";

describeOnEach("the queue", (kind) => {
  let rig: QueueRig;

  beforeEach(async () => {
    rig = await openQueueRig(kind);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const put = (store: Store, key: string, inMs = 0) =>
    store.change((tx) => tx.jobs.put({ kind: "publish", key, runAt: rig.clock.now() + inMs }));
  const pending = () => pendingJobs(rig.db);

  /** A process that stores the jobs it received. */
  async function taking() {
    const keys: string[] = [];
    const process = await rig.open(async (jobs) => void keys.push(...jobs.map(({ key }) => key)));
    return { ...process, keys };
  }

  describe("delivers a job", () => {
    test("of this process at once", async () => {
      const { keys, store } = await taking();
      await rig.pass(300);
      await put(store, "a");
      // The clock does not move, so no later query can find it.
      await expect.poll(() => keys).toEqual(["a"]);
      await expect.poll(pending).toEqual([]);
    });

    test("of this process within a second, and not at once, while it has no capacity", async () => {
      const keys: string[] = [];
      const { store } = await rig.open(
        async (jobs) => void keys.push(...jobs.map(({ key }) => key)),
        () => false,
      );
      await rig.pass(300);
      await put(store, "a");
      await rig.pass(100);
      expect(keys).toEqual([]);
      expect(await rig.passUntil(() => keys.length > 0)).toBeLessThanOrEqual(1_000);
    });

    test("of another process within a second", async () => {
      const { keys } = await taking();
      await rig.pass(300);
      await put(rig.store, "a");
      expect(await rig.passUntil(() => keys.length > 0)).toBeLessThanOrEqual(1_000);
    });

    test("that waited before the process started", async () => {
      await put(rig.store, "a");
      const { keys } = await taking();
      await expect.poll(() => keys).toEqual(["a"]);
    });

    test("not before its time, and within a second after it", async () => {
      const { keys, store } = await taking();
      await put(store, "later", 5_000);
      await rig.pass(4_900);
      expect(keys).toEqual([]);
      expect(await rig.passUntil(() => keys.length > 0)).toBeLessThanOrEqual(1_100);
    });

    test("at the time of the latest put: earlier", async () => {
      const { keys, store } = await taking();
      await put(store, "a", 60_000);
      await put(store, "a", 2_000);
      expect(await rig.passUntil(() => keys.length > 0)).toBeLessThanOrEqual(3_000);
      await rig.pass(70_000);
      expect(keys).toEqual(["a"]);
    });

    test("at the time of the latest put: later", async () => {
      const { keys, store } = await taking();
      await put(store, "a", 2_000);
      await put(store, "a", 10_000);
      await rig.pass(9_900);
      expect(keys).toEqual([]);
      expect(await rig.passUntil(() => keys.length > 0)).toBeLessThanOrEqual(1_100);
    });

    test("to one of two processes, each job once as long as nothing fails", async () => {
      const wanted = Array.from({ length: 230 }, (_, i) => `job-${i}`);
      await rig.store.change(async (tx) => {
        for (const key of wanted) await tx.jobs.put({ kind: "publish", key, runAt: rig.clock.now() });
      });
      const [one, two] = [await taking(), await taking()];
      await rig.passUntil(async () => (await pending()).length === 0);
      expect([...one.keys, ...two.keys].toSorted()).toEqual(wanted.toSorted());
    });

    test("never from a change that was rolled back", async () => {
      const { keys, store } = await taking();
      const change = store.change(async (tx) => {
        await tx.jobs.put({ kind: "publish", key: "a", runAt: rig.clock.now() });
        throw new Error("no");
      });
      await expect(change).rejects.toThrow("no");
      await rig.pass(1_500);
      await put(store, "b");
      await expect.poll(() => keys).toEqual(["b"]);
    });
  });

  describe("delivers a job again", () => {
    test("when its work has failed, after a pause and not before", async () => {
      const times: number[] = [];
      const { logged, store } = await rig.open(async () => {
        times.push(rig.clock.now());
        if (times.length === 1) throw new Error("not now");
      });
      await put(store, "a");
      await rig.passUntil(() => times.length === 2);
      const [first = 0, second = 0] = times;
      const [minMs, maxMs] = rig.retryAfter.failed;
      expect(second - first).toBeGreaterThanOrEqual(minMs);
      expect(second - first).toBeLessThanOrEqual(maxMs);
      await expect.poll(pending).toEqual([]);
      expect(logged).toEqual(["taking jobs failed"]);
    });

    test("when its process has died", async () => {
      await put(rig.store, "a");
      await rig.takeAndDie();
      const { keys } = await taking();
      const [minMs, maxMs] = rig.retryAfter.died;
      await rig.pass(minMs - 200);
      expect(keys).toEqual([]);
      expect(await rig.passUntil(() => keys.length > 0)).toBeLessThanOrEqual(maxMs - minMs + 200);
    });

    test("when it was put again while it ran, because that put may be newer", async () => {
      const gate = Promise.withResolvers<void>();
      const seen: string[] = [];
      let world = "old";
      const { store } = await rig.open(async () => {
        seen.push(world);
        await gate.promise;
      });
      await put(store, "a");
      await rig.passUntil(() => seen.length === 1);
      world = "new";
      await rig.pass(1);
      await put(store, "a");
      gate.resolve();
      await expect.poll(() => seen).toEqual(["old", "new"]);
      await expect.poll(pending).toEqual([]);
    });
  });

  test("delivers at least once after the last of many puts", async () => {
    let world = 0;
    let seen = 0;
    const { store } = await rig.open(async () => {
      seen = world;
    });
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        world += 1;
        await put(store, "a");
      }),
    );
    await expect.poll(() => seen).toBe(50);
    await expect.poll(pending).toEqual([]);
  });

  describe("when it is drained", () => {
    test("waits for running jobs and takes no more", async () => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const seen: string[] = [];
      const { queue, store } = await rig.open(async (jobs) => {
        seen.push(...jobs.map(({ key }) => key));
        begun.resolve();
        await gate.promise;
      });
      await put(store, "in hand");
      await begun.promise;
      let drained = false;
      const drain = queue.drain().then(() => (drained = true));
      await put(store, "waits");
      await turn();
      expect(drained).toBe(false);
      gate.resolve();
      await drain;
      expect(seen).toEqual(["in hand"]);
      expect(await pending(), "finished jobs are stored, waiting ones belong to another process").toEqual([
        "waits",
      ]);
    });

    test("leaves nothing that still takes jobs", async () => {
      const { queue, keys } = await taking();
      await rig.pass(1_500);
      await queue.drain();
      await put(rig.store, "a");
      await rig.pass(5_000);
      expect(keys).toEqual([]);
    });
  });
});
