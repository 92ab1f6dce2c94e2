import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { postgresQueue } from "../../src/jobs/postgres.ts";
import { openTestStore, postgresTemplate } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { pendingJobs } from "../support/jobs.ts";
import { openService } from "../support/service.ts";
import { openQueueRig, type QueueRig } from "./queue-rig.ts";

const connections =
  "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pgboss'";

describe.skipIf(postgresTemplate === undefined)("the queue of PostgreSQL", () => {
  let rig: QueueRig;
  let keys: string[];

  beforeEach(async () => {
    rig = await openQueueRig("postgresql");
    keys = [];
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const take = () => rig.open(async (jobs) => void keys.push(...jobs.map(({ key }) => key)));
  const put = (key: string, inMs = 0) =>
    rig.store.change((tx) => tx.jobs.put({ kind: "publish", key, runAt: rig.clock.now() + inMs }));

  test("delivers another process's job at once, by notification instead of a query", async () => {
    await take();
    await rig.pass(300);
    await put("a");
    await put("b");
    // The clock does not move, so no query can find the job.
    await expect.poll(() => keys.toSorted()).toEqual(["a", "b"]);
  });

  test("delivers no uncommitted job, and no job that a change is putting again", async () => {
    await take();
    await put("waits", 1_000);
    const written = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const change = rig.store.change(async (tx) => {
      for (const key of ["new", "waits"]) await tx.jobs.put({ kind: "publish", key, runAt: rig.clock.now() });
      written.resolve();
      await commit.promise;
    });
    await written.promise;
    await rig.pass(3_000);
    expect(keys).toEqual([]);
    commit.resolve();
    await change;
    await expect.poll(() => keys.toSorted()).toEqual(["new", "waits"]);
  });

  test("continues after its connections were closed, and logs it", async () => {
    const { logged } = await take();
    await rig.pass(300);
    const closed = (await runDirectly(rig.db, `SELECT pid, pg_terminate_backend(pid) ${connections}`)).map(
      ({ pid }) => pid,
    );
    const isLeft = async () =>
      (await runDirectly(rig.db, `SELECT pid ${connections}`)).some(({ pid }) => closed.includes(pid));
    // The pools notice it in the next turns of the event loop, and the rig's statements must not meet a
    // closed connection.
    await expect.poll(isLeft).toBe(false);
    await expect.poll(() => logged).toContain("taking jobs failed");
    await put("a");
    await rig.passUntil(() => keys.length > 0);
    expect(keys).toEqual(["a"]);
  });

  test("stores nothing of an error that work threw", async () => {
    const { logged } = await rig.open(async () => {
      throw new Error("quite secret");
    });
    await put("a");
    await expect
      .poll(async () => (await runDirectly(rig.db, "SELECT output::text FROM pgboss.job"))[0]?.["output"])
      .toContain("failed");
    const [job] = await runDirectly(rig.db, "SELECT j::text AS row FROM pgboss.job j");
    expect(job?.["row"]).not.toContain("secret");
    expect(logged).toEqual(["taking jobs failed"]);
  });

  test("retries as long as work fails", async () => {
    let tries = 0;
    await rig.open(async () => {
      tries += 1;
      if (tries < 8) throw new Error("not now");
    });
    await put("a");
    // 1, 2, 4, 8 and 16 s, each up to twice as long, then at most 30 s.
    expect(await rig.passUntil(() => tries === 8)).toBeLessThanOrEqual(150_000);
    await expect.poll(() => pendingJobs(rig.db)).toEqual([]);
  });

  test("deletes jobs that ended a minute or two ago", async () => {
    await take();
    await put("a");
    await expect.poll(() => pendingJobs(rig.db)).toEqual([]);
    expect(await runDirectly(rig.db, "SELECT id FROM pgboss.job")).toHaveLength(1);
    await rig.pass(120_000);
    expect(await runDirectly(rig.db, "SELECT id FROM pgboss.job")).toEqual([]);
  });

  test("leaves no connection when it is drained", async () => {
    const count = async () => (await runDirectly(rig.db, `SELECT pid ${connections}`)).length;
    const before = await count();
    const { queue } = await take();
    await expect.poll(count).toBeGreaterThan(before);
    await queue.drain();
    await expect.poll(count).toBe(before);
  });

  test("fails to open where no server answers", async () => {
    await expect(
      postgresQueue("postgresql://127.0.0.1:1/none", rig.store.feed, () => undefined),
    ).rejects.toThrow();
  });
});

test.skipIf(postgresTemplate === undefined)(
  "puts jobs without a connection of pg-boss in a process that only serves",
  async () => {
    await using database = await openTestStore("postgresql");
    await using service = await openService({ over: database, idle: true });
    await service.store.change((tx) => tx.jobs.put({ kind: "publish", key: "site", runAt: 0 }));
    expect(await pendingJobs(database)).toEqual(["site"]);
    const ann = await service.person();
    await ann.v2("task.create", { message: { content: "Hello" } });
    expect(await pendingJobs(database), "a run has none").toEqual(["site"]);
    expect(await runDirectly(database, `SELECT pid ${connections}`)).toEqual([]);
  },
);
