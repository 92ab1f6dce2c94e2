import { expect, test } from "vitest";
import type { ShareFilter, ShareType } from "../../../src/core/assets/share.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import type { Store } from "../../../src/core/store.ts";
import type { Task, TaskChanges } from "../../../src/core/tasks/task.ts";
import { newWebsite } from "../../../src/core/websites/website.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { runDirectly } from "../../support/direct.ts";
import { ann, annAtHome, bo, putTask } from "../samples.ts";

const all = { limit: 100, offset: 0 };
const idsOf = async (store: Store, filter: ShareFilter = {}, page = all, type: ShareType = "task") => {
  const { items, total } = await store.shares.list(ann.spaceId, type, filter, page);
  return { ids: items.map(({ id }) => id), total };
};
const set = (store: Store, id: string, now: number, changes: TaskChanges) =>
  store.change((tx) => tx.tasks.advance(id, { now, set: changes }));
const put = (store: Store, id: string, createdAt: number, members: Partial<Task> = {}) =>
  putTask(store, { id, createdAt, shareVisibility: "public", ...members });

describeOnEach("shares", (kind) => {
  test("are listed by time of sharing, the latest first, then by id; every page has the exact total", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    for (const [id, at] of [
      ["a", 1000],
      ["b", 3000],
      ["c", 2000],
      ["d", 3000],
    ] as const)
      await put(store, id, at);
    await put(store, "later", 500, { shareVisibility: "private" });
    await put(store, "never", 9000, { shareVisibility: "private" });
    await set(store, "later", 4000, { shareVisibility: "team" });
    const order = ["later", "d", "b", "c", "a"];
    expect(await idsOf(store)).toEqual({ ids: order, total: 5 });
    expect(await idsOf(store, {}, { limit: 2, offset: 1 })).toEqual({ ids: order.slice(1, 3), total: 5 });
    expect(await idsOf(store, {}, { limit: 2, offset: 5 })).toEqual({ ids: [], total: 5 });
    expect(await idsOf(store, {}, all, "website")).toEqual({ ids: [], total: 0 });
  });

  test("start again when they are shared again, and keep their time while they are widened, withdrawn or limited", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await put(store, "t", 1000);
    const times = async () => {
      const { items } = await store.shares.list(ann.spaceId, "task", {}, all);
      return items.map(({ sharedAt, changedAt, visibility, maxVisibility }) => [
        sharedAt,
        changedAt,
        visibility,
        maxVisibility,
      ]);
    };
    expect(await times()).toEqual([[1000, 1000, "public", null]]);
    await set(store, "t", 2000, { shareVisibility: "team" });
    expect(await times()).toEqual([[1000, 2000, "team", null]]);
    await set(store, "t", 2500, { title: "x" });
    await set(store, "t", 3000, { maxVisibility: "private" });
    expect(await times()).toEqual([[1000, 3000, "team", "private"]]);
    await set(store, "t", 4000, { shareVisibility: "private" });
    await set(store, "t", 5000, { shareVisibility: "private" });
    expect(await times()).toEqual([[1000, 5000, "private", "private"]]);
    await set(store, "t", 6000, { shareVisibility: "public" });
    expect(await times()).toEqual([[6000, 6000, "public", "private"]]);
  });

  test("satisfy both bounds, which are inclusive, and filters on name, owner and scope", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    for (const at of [1000, 2000, 3000]) await put(store, `t${at}`, at, { title: `Ärger ${at}` });
    await put(store, "bo", 2500, { accountId: bo.accountId, title: "100% sure", shareVisibility: "team" });
    expect((await idsOf(store, { from: 2000, until: 3000 })).ids).toEqual(["t3000", "bo", "t2000"]);
    expect((await idsOf(store, { from: 2001, until: 2499 })).ids).toEqual([]);
    expect((await idsOf(store, { prefix: "ÄRGER 2" })).ids).toEqual(["t2000"]);
    expect((await idsOf(store, { prefix: "100%" })).ids).toEqual(["bo"]);
    expect((await idsOf(store, { prefix: "1_0" })).ids).toEqual([]);
    expect((await idsOf(store, { accountId: bo.accountId })).ids).toEqual(["bo"]);
    expect((await idsOf(store, { visibility: "public", until: 2500 })).ids).toEqual(["t2000", "t1000"]);
  });

  test("are found only in their own space", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await put(store, "home", 1000, { accountId: annAtHome.accountId, spaceId: annAtHome.spaceId });
    expect((await idsOf(store)).total).toBe(0);
    const lock = (spaceId: string) => store.change((tx) => tx.shares.lock(spaceId, "home"));
    expect(await lock(ann.spaceId)).toBeNull();
    expect(await lock(annAtHome.spaceId)).toMatchObject({ id: "home", type: "task", exists: true });
  });

  test("from an older release are included, with their creation time", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const made = newWebsite({
      ...ann,
      taskId: "t",
      title: "Site",
      now: 1000,
      ids: systemIds,
      random: systemRandom,
    });
    const site = { ...made, id: "w", visibility: "public", status: "published", liveId: "c" } as const;
    await put(store, "t", 2000);
    await store.change((tx) => tx.websites.insert(site));
    // As that release writes it.
    await runDirectly(
      database,
      "UPDATE task SET shared_at = NULL, share_changed_at = NULL, share_visibility = 'team'",
    );
    expect((await store.shares.list(ann.spaceId, "task", {}, all)).items).toMatchObject([
      { sharedAt: 2000, visibility: "team" },
    ]);
    expect((await store.shares.list(ann.spaceId, "website", {}, all)).items).toMatchObject([
      { id: "w", sharedAt: 1000 },
    ]);
    await set(store, "t", 9000, { shareVisibility: "private" });
    expect((await store.shares.list(ann.spaceId, "task", {}, all)).items).toMatchObject([
      { sharedAt: 2000, visibility: "private" },
    ]);
  });

  test("a website is shared from its first publication, and published any number of times", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const site = {
      ...newWebsite({ ...ann, taskId: "t", title: "Site", now: 1000, ids: systemIds, random: systemRandom }),
      id: "w",
    };
    await store.change((tx) => tx.websites.insert(site));
    for (const [at, visibility] of [
      [2000, "team"],
      [3000, "public"],
    ] as const) {
      await store.change((tx) => tx.websites.begin("w", { checkpointId: "c", visibility }, at));
      await store.change((tx) => tx.websites.goLive("w", "c", at));
      const { items } = await store.shares.list(ann.spaceId, "website", {}, all);
      expect(items).toMatchObject([{ sharedAt: 2000, changedAt: at, visibility }]);
    }
  });
});
