import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import type { Store } from "../../../src/core/store.ts";
import { finish } from "../../../src/core/tasks/lifecycle.ts";
import { openStore } from "../../../src/store/open.ts";
import {
  databaseUrl,
  describeOnEach,
  openTestStore,
  postgresTemplate,
  rowsIn,
  rowsOfEach,
  runOn,
  type TestDatabase,
} from "../../support/database.ts";
import { sample } from "../../support/depth.ts";
import { agentThought, ann, putTask } from "../samples.ts";

const columns =
  "id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until";

/** The copy, what it must be, and the tasks that must be marked and are not. */
async function readCopy({ url }: TestDatabase) {
  const [copy, running, unmarked] = await rowsOfEach(url, [
    `SELECT ${columns} FROM running_task ORDER BY id`,
    `SELECT ${columns} FROM task WHERE status = 'running' AND deleted_at IS NULL ORDER BY id`,
    "SELECT id FROM task WHERE indexed_seq < last_seq AND NOT texts_behind",
  ]);
  return { copy, running, unmarked };
}

type Step = (store: Store, database: TestDatabase, id: string, now: number) => Promise<unknown>;

const claim: Step = async (store, _, id, now) => {
  const queued = (await store.tasks.listUnowned(99)).filter((task) => task.id === id);
  return store.change((tx) => tx.tasks.claim(queued, "n", now));
};
const advance =
  (step: Parameters<Store["tasks"]["advance"]>[1]): Step =>
  (store, _, id, now) =>
    store.change((tx) => tx.tasks.advance(id, { ...step, now }));

/** What this release does with a task, and the statements of the release before it. */
const steps: Readonly<Record<string, Step>> = {
  claim,
  write: advance({ now: 0, events: [agentThought()] }),
  release: advance({ now: 0, set: { nodeId: null, raiseFence: true } }),
  suspend: advance({ now: 0, set: { nodeId: "wait" } }),
  end: advance({ now: 0, ...finish("Done") }),
  begin: advance({
    now: 0,
    set: { status: "running", nodeId: null, queuedAt: 7, agentProfile: "other", requiredNodeId: "m" },
  }),
  delete: (store, _, id, now) => store.change((tx) => tx.tasks.tombstone(id, now, false)),
  claimOfBefore: (_, { url }, id, now) =>
    runOn(
      url,
      `UPDATE task SET updated_at = ${now}, served_at = ${now}, node_id = 'old', fence = fence + 1, turn_until = 99
      WHERE id = '${id}' AND status = 'running' AND node_id IS NULL AND deleted_at IS NULL`,
    ),
  writeOfBefore: (_, { url }, id, now) =>
    runOn(
      url,
      `UPDATE task SET updated_at = ${now}, last_seq = last_seq + 1 WHERE id = '${id}' AND deleted_at IS NULL`,
    ),
  endOfBefore: (_, { url }, id, now) =>
    runOn(
      url,
      `UPDATE task SET updated_at = ${now}, status = 'stopped', node_id = NULL WHERE id = '${id}' AND deleted_at IS NULL`,
    ),
  remove: (_, { url }, id) => runOn(url, `DELETE FROM task WHERE id = '${id}'`),
};

describeOnEach("the copy of running tasks", (kind) => {
  test("agrees with the tasks after any steps of this release and the one before", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const some = fc.array(
      fc.record({ task: fc.integer({ min: 0, max: 2 }), name: fc.constantFrom(...Object.keys(steps)) }),
      {
        maxLength: 12,
      },
    );
    let now = 2_000;
    await fc.assert(
      fc.asyncProperty(some, async (chosen) => {
        const tasks = [
          await putTask(store),
          await putTask(store, { status: "stopped" }),
          await putTask(store, { nodeId: "n" }),
        ];
        for (const { task, name } of chosen) {
          now += 1;
          await steps[name]?.(store, database, tasks[task]?.id ?? "", now);
        }
        const { copy, running, unmarked } = await readCopy(database);
        expect(copy).toEqual(running);
        expect(unmarked).toEqual([]);
      }),
      { numRuns: sample(200, 12) },
    );
  });

  test("keeps lists and watches by the last change in order while tasks run", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    for (let n = 0; n < 6; n += 1)
      await putTask(store, { id: `t${n}`, updatedAt: 1_000 + n, createdAt: 1_000 });
    const advanceAt = (id: string, at: number) =>
      advance({ now: 0, events: [agentThought()] })(store, database, id, at);
    await claim(store, database, "t0", 2_000);
    await claim(store, database, "t3", 2_001);
    await advanceAt("t0", 2_005);
    await advanceAt("t4", 2_003);
    const expected = ["t0", "t4", "t3", "t5", "t2", "t1"];
    const read: string[] = [];
    for (let after: { at: number; id: string } | undefined; ; ) {
      const { tasks, next } = await store.tasks.list(
        ann,
        {},
        { orderBy: "updatedAt", order: "desc", limit: 2, ...(after && { after }) },
      );
      read.push(...tasks.map(({ id }) => id));
      if (!next) break;
      after = next;
    }
    expect(read).toEqual(expected);
    const { tasks } = await store.tasks.list(
      ann,
      { updatedAfter: 2_001, updatedBefore: 2_005 },
      { orderBy: "updatedAt", order: "asc", limit: 9 },
    );
    expect(tasks.map(({ id, updatedAt }) => [id, updatedAt])).toEqual([["t4", 2_003]]);
    const conversations = await store.conversations.list(
      ann,
      {},
      { orderBy: "updatedAt", order: "asc", limit: 9 },
    );
    expect(conversations.map(({ id }) => id)).toEqual(expected.toReversed());
    expect((await store.tasks.listChanged(ann, 2_001, 9)).map(({ id }) => id)).toEqual(["t3", "t4", "t0"]);
    await advance({ now: 0, ...finish("Done") })(store, database, "t0", 2_004);
    // The time of another process's clock may be behind. A later time stays.
    expect(await rowsIn(database.url, "SELECT updated_at, served_at FROM task WHERE id = 't0'")).toEqual([
      { updated_at: expect.anything(), served_at: expect.anything() },
    ]);
    expect((await store.tasks.byId("t0"))?.updatedAt).toBe(2_005);
    expect((await store.tasks.byId("t0"))?.lastClaimedAt).toBe(2_000);
  });
});

test.skipIf(postgresTemplate === undefined)(
  "writes an index only for the end of a run: all other updates of a task of 20 events are HOT",
  async () => {
    await using database = await databaseUrl("postgresql");
    const opened = await openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
    const { id } = await putTask(opened);
    await claim(opened, database, id, 2_000);
    for (let n = 0; n < 20; n += 1)
      await advance({ now: 0, events: [agentThought()] })(opened, database, id, 2_001 + n);
    await advance({ now: 0, ...finish("Done") })(opened, database, id, 3_000);
    await opened.close();
    const read = () =>
      rowsIn(
        database.url,
        "SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'task'",
      );
    // A session reports its counts when it ends.
    await vi.waitFor(async () => expect(await read()).toEqual([{ updates: 22, hot: 21 }]), {
      timeout: 20_000,
    });
  },
);
