import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Log } from "../../src/core/log.ts";
import type { Store } from "../../src/core/store.ts";
import type { Agent } from "../../src/runtime/agent.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { type Runs, startRuns } from "../../src/runtime/runs.ts";
import { openStore } from "../../src/store/open.ts";
import { putQueue } from "../store/queues.ts";
import { putTask } from "../store/samples.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnPostgres, nodesOf, openTestStore, type TestStore } from "../support/database.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { passTime, passUntil, type WatchedStore, watchedStore } from "./watched-store.ts";

const runMs = 10_000;

describeOnPostgres("with 10,000 queued tasks of one account", (kind) => {
  let db: TestStore;
  let clock: StillClock;
  let stores: Store[];
  let watched: WatchedStore[];
  let runs: Runs[];
  /** The ids of tasks as their runs began. */
  let begun: string[];
  let failed: string[];

  beforeEach(async () => {
    db = await openTestStore(kind);
    await putQueue(db, "greedy", 10_000);
    clock = stillClock();
    [stores, watched, runs, begun, failed] = [[], [], [], [], []];
  });
  afterEach(async () => {
    for (const drained of runs.map((each) => each.drain())) {
      await clock.advance(6_000);
      await drained;
    }
    for (const store of stores) await store.close();
    await db[Symbol.asyncDispose]();
    expect(failed).toEqual([]);
  });

  /** Every run takes this long. */
  const agent: Agent = async function* ({ taskId, signal }) {
    begun.push(taskId);
    await clock.sleep(runMs, signal).catch(() => undefined);
    return { kind: "finish", content: "Done" };
  };

  async function openNodes(concurrency: number, nodes = nodesOf(kind)): Promise<void> {
    for (let i = 0; i < nodes; i += 1) {
      const store = await openStore({ databaseUrl: db.url, clock: systemClock, random: systemRandom });
      stores.push(store);
      const watchedOne = watchedStore(store);
      watched.push(watchedOne);
      const lease = await openLease(watchedOne.store, clock, systemIds, kind === "sqlite");
      const log: Log = (level, text) => void (level === "error" && failed.push(text));
      runs.push(
        startRuns({
          store: watchedOne.store,
          clock,
          ids: systemIds,
          cipher,
          log,
          lease,
          concurrency,
          ...withoutFiles,
          agentFor: () => agent,
        }),
      );
    }
  }

  test.each([
    1, 3,
  ])("another account's first task begins within one run's length, with %i at once in each process", async (concurrency) => {
    await openNodes(concurrency);
    await passTime(clock, 2.5 * runMs, ...watched);
    expect(begun.length, "all processes are busy").toBe(3 * concurrency * nodesOf(kind));
    const { id } = await putTask(db.store, { id: "first", accountId: "modest", queuedAt: clock.now() });
    const waited = await passUntil(clock, () => begun.includes(id), ...watched);
    expect(waited).toBeLessThanOrEqual(runMs);
  });

  test("two accounts alternate where one runs at a time, however long one of them has waited", async () => {
    await openNodes(1, 1);
    await passTime(clock, 2.5 * runMs, ...watched);
    await putQueue(db, "second", 50);
    const before = begun.length;
    await passUntil(clock, () => begun.length >= before + 6, ...watched);
    const turns = begun.slice(before, before + 6).map((id) => id.replace(/-\d+$/, ""));
    expect(turns).toEqual(["second", "greedy", "second", "greedy", "second", "greedy"]);
  });

  test("within an account the oldest comes first", async () => {
    await openNodes(1);
    await passTime(clock, 3.5 * runMs, ...watched);
    const first = Array.from({ length: begun.length }, (_, i) => `greedy-${i + 1}`);
    expect(begun.toSorted()).toEqual(first.toSorted());
  });
});
