import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ClaimableTask } from "../../src/core/tasks/task-rows.ts";
import { claimWithinLimits } from "../../src/runtime/claims.ts";
import { ann, annAtHome, putTask } from "../store/samples.ts";
import { unpublished } from "../support/claims.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";

// spec/api.md 8.78, spec/decisions.md 97
describeOnEach("a profile with a limit of runs", (kind) => {
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(kind);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  let nth = 0;
  /** A separate profile for each test. */
  let profile: string;
  beforeEach(() => {
    nth += 1;
    profile = `p${nth}`;
  });
  const limit = (concurrency: number | null, { spaceId } = ann) =>
    db.store.change((tx) => tx.agentProfiles.set({ spaceId, profile, updatedAt: 1 }, { concurrency }));
  const put = (count: number, members = {}) =>
    Promise.all(
      Array.from({ length: count }, () =>
        putTask(db.store, { status: "running", agentProfile: profile, ...members }),
      ),
    );
  const waiting = () => db.store.tasks.listUnowned(50, { profiles: [profile] });
  const claim = (tasks: readonly ClaimableTask[], node = "n") =>
    db.store.change((tx) => claimWithinLimits(tx, tasks, { nodeId: node, now: 1, publishTask: unpublished }));

  test("has at most that many, of several processes that claim at once", async () => {
    await limit(3);
    await put(12);
    const tasks = await waiting();
    expect(tasks.map(({ isLimited }) => isLimited)).toEqual(tasks.map(() => true));
    const claimed = (await Promise.all(tasks.map((task, i) => claim([task], `n${i % 4}`)))).flat();
    expect(claimed).toHaveLength(3);
    expect(await waiting(), "a full profile has no waiting tasks for runners").toEqual([]);
  });

  test("has the oldest of its tasks run, and another one when a run ends", async () => {
    await limit(2);
    const ids: string[] = [];
    for (const queuedAt of [5, 3, 4])
      ids.push((await putTask(db.store, { status: "running", agentProfile: profile, queuedAt })).id);
    const claimed = await claim(await waiting());
    expect(claimed.map(({ id }) => id).toSorted()).toEqual([ids[1], ids[2]].toSorted());
    for (const set of [
      { status: "waiting", nodeId: null },
      { nodeId: null, raiseFence: true },
    ] as const) {
      const [run] = await db.store.tasks
        .listOwned(["n"])
        .then((owned) => owned.filter(({ agentProfile }) => agentProfile === profile));
      await db.store.change((tx) => tx.tasks.advance(run?.id ?? "", { now: 2, set }));
      expect(await claim(await waiting())).toHaveLength(1);
    }
  });

  test("limits neither other spaces and profiles nor takeovers of runs, and nothing once the limit is removed", async () => {
    await limit(1);
    const [mine] = await put(1);
    await claim(await waiting());
    await put(1, annAtHome);
    expect(await claim(await waiting()), "another space").toHaveLength(1);
    const { id } = await putTask(db.store, { status: "running", agentProfile: `${profile}-other` });
    const other = await db.store.tasks.listUnowned(50, { profiles: [`${profile}-other`] });
    expect(
      (await claim(other)).map((task) => task.id),
      "another profile",
    ).toEqual([id]);
    const owned = (await db.store.tasks.listOwned(["n"])).filter((task) => task.id === mine?.id);
    expect(await claim(owned, "successor"), "a takeover").toHaveLength(1);
    await put(3);
    expect(await waiting()).toEqual([]);
    await limit(null);
    const left = await waiting();
    expect(left.map(({ isLimited }) => isLimited)).toEqual([false, false, false]);
    expect(await claim(left)).toHaveLength(3);
  });
});
