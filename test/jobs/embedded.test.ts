import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Job } from "../../src/core/processes/shared.ts";
import { embeddedQueue, type Queue } from "../../src/jobs/embedded.ts";
import { passTime, passUntil, type WatchedStore, watchedStore } from "../runtime/watched-store.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

describe("the embedded queue", () => {
  let db: TestStore;
  let watched: WatchedStore;
  let clock: StillClock;
  let queue: Queue;
  let logged: string[];
  let keys: string[];

  beforeEach(async () => {
    db = await openTestStore("sqlite");
    watched = watchedStore(db.store);
    clock = stillClock();
    [logged, keys] = [[], []];
    queue = embeddedQueue(watched.store, clock, (_, text) => void logged.push(text));
    await queue.subscribe(
      "publish",
      async (jobs: readonly Job[]) => void keys.push(...jobs.map(({ key }) => key)),
    );
    await passTime(clock, 300, watched);
  });
  afterEach(async () => {
    await queue.drain();
    await db[Symbol.asyncDispose]();
  });

  const put = (store: Pick<TestStore["store"], "change">, key: string) =>
    store.change((tx) => tx.jobs.put({ kind: "publish", key, runAt: clock.now() }));

  test("delivers a job that is put just after a query found none", async () => {
    const change = watched.store.change.bind(watched.store);
    let isPut = false;
    watched.store.change = async (work) => {
      const taken = await change(work);
      // The query found nothing, and the queue does not know it yet.
      if (!isPut) await put(db.store, "late");
      isPut = true;
      return taken;
    };
    await clock.advance(1_000);
    // The clock does not move from here, so no later query can find the job.
    await expect.poll(() => keys).toEqual(["late"]);
  });

  test("delivers a job again when its completion could not be stored", async () => {
    let changes = 0;
    watched.before("change", () => {
      changes += 1;
      // The put, the take, and then the end.
      if (changes === 3) throw new Error("no database");
    });
    await put(watched.store, "a");
    await passUntil(clock, () => keys.length === 2, watched);
    expect(keys).toEqual(["a", "a"]);
  });

  test("continues after the database was unavailable", async () => {
    let tries = 0;
    watched.before("change", () => {
      tries += 1;
      if (tries <= 3) throw new Error("no database");
    });
    await put(db.store, "a");
    await passUntil(clock, () => keys.length > 0, watched);
    expect(logged.filter((text) => text === "taking jobs failed")).toHaveLength(3);
  });

  test("delivers an unannounced job at once after a possible loss of notifications", async () => {
    await runDirectly(db, `INSERT INTO job (kind, key, run_at) VALUES ('publish', 'a', ${clock.now()})`);
    await watched.quiet();
    expect(keys).toEqual([]);
    watched.notifyLoss();
    await expect.poll(() => keys).toEqual(["a"]);
  });

  test("leaves no timer when it is drained", async () => {
    await queue.drain();
    const before = watched.calls("change");
    await put(db.store, "a");
    await passTime(clock, 5_000, watched);
    expect(watched.calls("change")).toBe(before);
  });
});
