import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Job } from "../../src/core/jobs/job.ts";
import type { Store } from "../../src/core/store.ts";
import { embeddedQueue } from "../../src/jobs/embedded.ts";
import type { Queue } from "../../src/jobs/queue.ts";
import { openStore } from "../../src/store/open.ts";
import { passTime, passUntil, type WatchedStore, watchedStore } from "../runtime/watched-store.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

const leaseMs = 30_000;

interface Process {
  readonly queue: Queue;
  readonly watched: WatchedStore;
  readonly logged: string[];
}

describeOnEach("the queue", (kind) => {
  let db: TestStore;
  let stores: readonly Store[];
  let clock: StillClock;
  let processes: Process[];

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
    await directly(db, "DELETE FROM job");
    clock = stillClock();
    processes = [];
  });
  afterEach(async () => {
    for (const { queue } of processes) await queue.drain();
  });

  function openProcess(work: (jobs: readonly Job[]) => Promise<void>): Process {
    const store = stores[processes.length];
    if (!store) throw new Error("too many processes");
    const watched = watchedStore(store);
    const logged: string[] = [];
    const queue = embeddedQueue(watched.store, clock, (_, text) => void logged.push(text));
    queue.subscribe("run", work);
    const opened = { queue, watched, logged };
    processes.push(opened);
    return opened;
  }

  const watchedStores = () => processes.map(({ watched }) => watched);
  const pass = (ms: number) => passTime(clock, ms, ...watchedStores());
  const passUntilHere = (holds: () => Promise<boolean> | boolean) => passUntil(clock, holds, ...watchedStores());
  const put = (store: Store, key: string, inMs = 0) => store.change((tx) => tx.jobs.put({ kind: "run", key, runAt: clock.now() + inMs }));
  const pending = async () => (await directly(db, "SELECT key FROM job ORDER BY key")).map(({ key }) => key);

  /** A process that keeps what it was given. */
  function taking() {
    const keys: string[] = [];
    const process = openProcess(async (jobs) => {
      keys.push(...jobs.map(({ key }) => key));
    });
    return { ...process, keys };
  }

  describe("hands out a job", () => {
    test("that nobody told of at once when news may have been missed", async () => {
      const { keys, watched } = taking();
      await pass(300);
      await directly(db, `INSERT INTO job (kind, key, run_at) VALUES ('run', 'a', ${clock.now()})`);
      await watched.quiet();
      expect(keys).toEqual([]);
      watched.lose();
      await watched.quiet();
      expect(keys).toEqual(["a"]);
    });

    test("of this process at once", async () => {
      const { keys, watched } = taking();
      await pass(300);
      await put(watched.store, "a");
      await watched.quiet();
      expect(keys).toEqual(["a"]);
      expect(await pending()).toEqual([]);
    });

    test("that is put in the very moment in which there was none", async () => {
      const { keys, watched } = taking();
      await pass(300);
      const change = watched.store.change.bind(watched.store);
      let put_ = false;
      watched.store.change = async (work) => {
        const taken = await change(work);
        // Nothing was found, and whoever looked does not know it yet.
        if (!put_) await put(stores[0] as Store, "late");
        put_ = true;
        return taken;
      };
      await clock.advance(1_000);
      // The clock stands still from here: no later look can find it.
      await expect.poll(() => keys).toEqual(["late"]);
    });

    test("of another process within a second", async () => {
      const { keys } = taking();
      await pass(300);
      await put(db.store, "a");
      expect(await passUntilHere(() => keys.length > 0)).toBeLessThanOrEqual(1_000);
    });

    test("that waited before the process started", async () => {
      await put(db.store, "a");
      const { keys, watched } = taking();
      await watched.quiet();
      expect(keys).toEqual(["a"]);
    });

    test("not before its time", async () => {
      const { keys, watched } = taking();
      await put(watched.store, "later", 5_000);
      await pass(4_900);
      expect(keys).toEqual([]);
      expect(await passUntilHere(() => keys.length > 0)).toBeLessThanOrEqual(1_100);
    });

    test("to one of two processes, each job once as long as nothing fails", async () => {
      const wanted = Array.from({ length: 230 }, (_, i) => `job-${i}`);
      await db.store.change(async (tx) => {
        for (const key of wanted) await tx.jobs.put({ kind: "run", key, runAt: clock.now() });
      });
      const [one, two] = [taking(), taking()];
      await passUntilHere(async () => (await pending()).length === 0);
      expect([...one.keys, ...two.keys].toSorted()).toEqual(wanted.toSorted());
    });
  });

  describe("hands out a job again", () => {
    test("when its work failed, as soon as its lease is over and not before", async () => {
      const times: number[] = [];
      const { logged, watched } = openProcess(async () => {
        times.push(clock.monotonic());
        if (times.length === 1) throw new Error("not now");
      });
      await put(watched.store, "a");
      await passUntilHere(async () => times.length === 2);
      const [first = 0, second = 0] = times;
      expect(second - first).toBeGreaterThanOrEqual(leaseMs);
      expect(second - first).toBeLessThanOrEqual(leaseMs + 1_100);
      await watched.quiet();
      expect(await pending()).toEqual([]);
      expect(logged).toEqual(["taking jobs failed"]);
    });

    test("when the process that had it is gone", async () => {
      const dead = openProcess(() => new Promise<never>(() => undefined));
      await put(dead.watched.store, "a");
      await dead.watched.quiet();
      processes.length = 0;
      const living = taking();
      await pass(leaseMs - 200);
      expect(living.keys).toEqual([]);
      expect(await passUntilHere(() => living.keys.length > 0)).toBeLessThanOrEqual(1_300);
    });

    test("when it was put again while it was in hand: that put may know more", async () => {
      const gate = Promise.withResolvers<void>();
      const seen: string[] = [];
      let world = "old";
      const { watched } = openProcess(async () => {
        seen.push(world);
        await gate.promise;
      });
      await put(watched.store, "a");
      await passUntilHere(() => seen.length === 1);
      world = "new";
      await clock.advance(1);
      await put(watched.store, "a");
      gate.resolve();
      await watched.quiet();
      expect(seen, "at once").toEqual(["old", "new"]);
      expect(await pending()).toEqual([]);
    });

    test("when what it did could not be written down", async () => {
      const { keys, watched } = taking();
      await pass(300);
      let changes = 0;
      watched.before("change", () => {
        changes += 1;
        // The put, the take, and then the end.
        if (changes === 3) throw new Error("no database");
      });
      await put(watched.store, "a");
      await passUntilHere(() => keys.length === 2);
      expect(keys).toEqual(["a", "a"]);
    });
  });

  test("hands out at least once after the last of many puts", async () => {
    let world = 0;
    let seen = 0;
    const { watched } = openProcess(async () => {
      seen = world;
    });
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        world += 1;
        await put(watched.store, "a");
      }),
    );
    await watched.quiet();
    expect(seen).toBe(50);
  });

  test("goes on after the database was away", async () => {
    const { keys, watched, logged } = taking();
    await pass(300);
    let tries = 0;
    watched.before("change", () => {
      tries += 1;
      if (tries <= 3) throw new Error("no database");
    });
    await put(db.store, "a");
    await passUntilHere(() => keys.length > 0);
    expect(logged.filter((text) => text === "taking jobs failed")).toHaveLength(3);
  });

  describe("when it is drained", () => {
    test("waits for the jobs in hand, and takes no more", async () => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const seen: string[] = [];
      const { queue, watched } = openProcess(async (jobs) => {
        seen.push(...jobs.map(({ key }) => key));
        begun.resolve();
        await gate.promise;
      });
      await put(watched.store, "in hand");
      await begun.promise;
      let drained = false;
      const drain = queue.drain().then(() => (drained = true));
      await put(watched.store, "waits");
      await turn();
      expect(drained).toBe(false);
      gate.resolve();
      await drain;
      expect(seen).toEqual(["in hand"]);
      expect(await pending(), "what is done is written down, what waits is another process's").toEqual(["waits"]);
    });

    test("leaves nothing that still ticks", async () => {
      const { queue, watched } = taking();
      await pass(1_500);
      await queue.drain();
      const before = watched.calls("change");
      await pass(5_000);
      await put(db.store, "a");
      await watched.quiet();
      expect(watched.calls("change")).toBe(before);
    });
  });
});
