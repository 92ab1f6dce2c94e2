import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import type { Agent } from "../../src/runtime/agent.ts";
import { type Lease, openLease } from "../../src/runtime/lease.ts";
import { type Runs, startRuns } from "../../src/runtime/runs.ts";
import { openStore } from "../../src/store/open.ts";
import { putQueue } from "../store/queues.ts";
import { withoutFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { openTestStore, postgresTemplate, type TestStore } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

const accounts = 3;
const perAccount = sample(100, 20);
const count = accounts * perAccount;
/** Tasks whose rows another transaction has locked. */
const lockedCount = 10;

describe.skipIf(postgresTemplate === undefined)(`three processes with a queue of ${count} tasks`, () => {
  let db: TestStore;
  let clock: StillClock;
  let stores: Store[];
  let runs: Runs[];
  /** By task, how often it was run. */
  let begun: Map<string, number>;
  let statements: string[];
  /** Runs when a claim has been made, before its process knows. */
  let afterClaim: (() => Promise<void>) | undefined;

  beforeEach(async () => {
    db = await openTestStore("postgresql");
    clock = stillClock();
    afterClaim = undefined;
    [stores, runs, begun, statements] = [[], [], new Map(), []];
    for (let n = 0; n < accounts; n += 1) await putQueue(db, `account-${n}`, perAccount);
  });
  afterEach(async () => {
    for (const drained of runs.map((each) => each.drain())) {
      await clock.advance(6_000);
      await drained;
    }
    for (const store of stores) await store.close();
    await db[Symbol.asyncDispose]();
  });

  const agent: Agent = async function* ({ taskId }) {
    begun.set(taskId, (begun.get(taskId) ?? 0) + 1);
    return { kind: "finish", content: "Done" };
  };

  async function openProcess(concurrency: number): Promise<void> {
    const onStatement = (text: string) => void statements.push(text);
    const store = await openStore({
      databaseUrl: db.url,
      clock: systemClock,
      random: systemRandom,
      onStatement,
    });
    stores.push(store);
    const opened = await openLease(store, clock, systemIds, false);
    const lease: Lease = {
      ...opened,
      async changeIfLive(work) {
        const done = await opened.changeIfLive(work);
        await afterClaim?.();
        return done;
      },
    };
    const parts = { store, clock, ids: systemIds, cipher, log: () => undefined, lease, concurrency };
    runs.push(startRuns({ ...parts, ...withoutFiles, agentFor: () => agent }));
  }

  const claimsSent = () => statements.filter((text) => text.includes("SKIP LOCKED")).length;
  const nodeWrites = () => statements.filter((text) => /^\s*UPDATE node/.test(text)).length;

  test("claim each task once, with at most 1.1 statements a task, write no node's row for it, and wait for no locked row", async () => {
    const other = new Client(db.url);
    await other.connect();
    await other.query("BEGIN");
    await other.query(`SELECT id FROM task ORDER BY queued_at, id LIMIT ${lockedCount} FOR UPDATE`);
    for (let n = 0; n < 3; n += 1) await openProcess(5);
    const beats = nodeWrites();
    await expect.poll(() => begun.size, { timeout: 30_000 }).toBe(count - lockedCount);
    await other.end();
    await clock.advance(1_000);
    await expect.poll(() => begun.size).toBe(count);
    expect([...begun.values()].every((times) => times === 1)).toBe(true);
    expect(claimsSent()).toBeLessThanOrEqual(1.1 * count);
    expect(nodeWrites() - beats, "the heartbeats of the start").toBeLessThanOrEqual(3);
    const rows = await runDirectly(
      db,
      "SELECT COUNT(DISTINCT fence) AS fences, COUNT(DISTINCT claims) AS claims FROM task",
    );
    expect(rows).toEqual([{ fences: "1", claims: "1" }]);
  });

  test("a task that begins to wait while a claim of the last task holds the only slot runs at once", async () => {
    await openProcess(1);
    await expect.poll(() => begun.size, { timeout: 30_000 }).toBe(count);
    await clock.advance(0);
    const [only] = runs;
    afterClaim = async () => {
      afterClaim = undefined;
      await putQueue(db, "late", 1);
      expect(only?.hasCapacity()).toBe(false);
    };
    await only?.wake();
    await expect.poll(() => begun.size, { timeout: 30_000 }).toBe(count + 1);
  });
});
