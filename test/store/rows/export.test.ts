import { expect, test } from "vitest";
import type { Tx } from "../../../src/core/store.ts";
import { describeOnEach, openTestStore, storeOfSuite } from "../../support/database.ts";
import { newId, sampleCompliance, sampleExport } from "../samples.ts";

const archive = { blobId: "blob", bytes: 5_000_000_000, sha256: "ab", eventCount: null };

describeOnEach("exports", (kind) => {
  const suite = storeOfSuite(kind);
  const change = <T>(work: (tx: Tx) => Promise<T>) => suite.store.change(work);
  const exports = () => suite.store.exports;
  const put = async (members: Parameters<typeof sampleExport>[0] = {}) => {
    const sample = sampleExport(members);
    await change((tx) => tx.exports.insert(sample));
    return sample;
  };
  const claim = (id: string, now: number, until: number) => change((tx) => tx.exports.claim(id, now, until));

  test("begin pending, with all input, and exist only in their space", async () => {
    const sample = await put();
    const begun = {
      ...{
        ...sample,
        status: "pending",
        progress: { done: 0, total: 0 },
        claims: 0,
        fence: 0,
        leaseUntil: null,
      },
      ...{ archive: null, error: null, completedAt: null, purgedAt: null },
    };
    expect(await exports().find("data", sample.spaceId, sample.id)).toEqual(begun);
    expect(await exports().byId(sample.id)).toEqual(begun);
    expect(await exports().find("data", "south", sample.id)).toBeNull();
    expect(await exports().byId("unknown")).toBeNull();
  });

  test("of agent actions begin the same way, with their input, and only as their kind", async () => {
    const sample = sampleCompliance({ spaceId: newId("space") });
    const insert = () => change((tx) => tx.exports.insert(sample));
    expect(await insert()).toBe(true);
    const begun = {
      ...{
        ...sample,
        status: "pending",
        progress: { done: 0, total: 0 },
        claims: 0,
        fence: 0,
        leaseUntil: null,
      },
      ...{ archive: null, error: null, completedAt: null, purgedAt: null },
    };
    expect(await exports().find("compliance", sample.spaceId, sample.id)).toEqual(begun);
    expect(await exports().byId(sample.id)).toEqual(begun);
    expect(await exports().find("data", sample.spaceId, sample.id)).toBeNull();
    expect(await exports().find("compliance", "south", sample.id)).toBeNull();
    const { items } = await exports().list(sample.spaceId, sample.requestedBy, { limit: 10, offset: 0 });
    expect(items).toEqual([]);
    await claim(sample.id, 1000, 2000);
    await change((tx) => tx.exports.complete(sample.id, 1, { ...archive, eventCount: 6_000_000_000 }, 1500));
    expect((await exports().byId(sample.id))?.archive).toEqual({ ...archive, eventCount: 6_000_000_000 });
  });

  test("of agent actions are limited to one of twenty simultaneous ones in a space, and the next is admitted when it has ended in any way", async () => {
    const spaceId = newId("space");
    const insert = (id = newId("export"), space = spaceId) =>
      change((tx) => tx.exports.insert(sampleCompliance({ id, spaceId: space })));
    const open = async () => {
      const ids = Array.from({ length: 20 }, () => newId("export"));
      const written = await Promise.all(ids.map((id) => insert(id)));
      expect(written.filter(Boolean)).toHaveLength(1);
      expect((await Promise.all(ids.map((id) => exports().byId(id)))).map((found) => found !== null)).toEqual(
        written,
      );
      return ids[written.indexOf(true)] ?? "";
    };
    const endings: ((tx: Tx, id: string) => Promise<boolean>)[] = [
      (tx, id) => tx.exports.cancel(id, 1500),
      (tx, id) => tx.exports.fail(id, 1, "no room", 1500),
      (tx, id) => tx.exports.complete(id, 1, archive, 1500),
    ];
    for (const end of endings) {
      const id = await open();
      await claim(id, 1000, 2000);
      expect(await insert()).toBe(false);
      expect(await insert(newId("export"), newId("space"))).toBe(true);
      await put({ spaceId });
      expect(await change((tx) => end(tx, id))).toBe(true);
    }
    await open();
  });

  test("are held by one claim of fifty, and by another once its lease ends or it was released", async () => {
    const { id } = await put();
    const claims = await Promise.all(Array.from({ length: 50 }, () => claim(id, 1000, 2000)));
    expect(claims.filter((claimed) => claimed !== null)).toEqual([
      expect.objectContaining({ id, status: "processing", fence: 1, leaseUntil: 2000 }),
    ]);
    expect(await claim(id, 1999, 3000)).toBeNull();
    expect(await claim(id, 2000, 3000)).toMatchObject({ fence: 2, leaseUntil: 3000 });
    expect(await change((tx) => tx.exports.release(id, 2))).toBe(true);
    expect(await exports().byId(id)).toMatchObject({ status: "processing", leaseUntil: null });
    expect(await claim(id, 2001, 4000)).toMatchObject({ fence: 3 });
  });

  const late: [name: string, write: (tx: Tx, id: string, fence: number) => Promise<boolean>][] = [
    ["progress", (tx, id, fence) => tx.exports.progress(id, fence, { done: 1, total: 2 }, 9000)],
    ["completion", (tx, id, fence) => tx.exports.complete(id, fence, archive, 9000)],
    ["failure", (tx, id, fence) => tx.exports.fail(id, fence, "no room", 9000)],
    ["release", (tx, id, fence) => tx.exports.release(id, fence)],
  ];

  test.each(
    late,
  )("refuse the %s of a claim that was replaced, was released, or has ended", async (_, write) => {
    const { id } = await put();
    const attempt = (fence: number) => change((tx) => write(tx, id, fence));
    expect(await attempt(0)).toBe(false);
    await claim(id, 1000, 2000);
    await claim(id, 2000, 3000);
    const before = await exports().byId(id);
    expect(await attempt(1)).toBe(false);
    expect(await exports().byId(id)).toEqual(before);
    await change((tx) => tx.exports.release(id, 2));
    expect(await attempt(2)).toBe(false);
    await claim(id, 3000, 4000);
    await change((tx) => tx.exports.cancel(id, 3500));
    const ended = await exports().byId(id);
    for (const fence of [3, 4]) expect(await attempt(fence)).toBe(false);
    expect(await exports().byId(id)).toEqual(ended);
  });

  test("report their progress, and end once: completed, failed or cancelled", async () => {
    const [whole, broken, dropped] = [await put(), await put(), await put()];
    for (const { id } of [whole, broken, dropped]) await claim(id, 1000, 2000);
    expect(await change((tx) => tx.exports.progress(whole.id, 1, { done: 3, total: 7 }, 2500))).toBe(true);
    expect(await exports().byId(whole.id)).toMatchObject({
      progress: { done: 3, total: 7 },
      leaseUntil: 2500,
    });
    expect(await change((tx) => tx.exports.complete(whole.id, 1, archive, 2600))).toBe(true);
    expect(await change((tx) => tx.exports.fail(broken.id, 1, "no room", 2700))).toBe(true);
    expect(await change((tx) => tx.exports.cancel(dropped.id, 2800))).toBe(true);
    expect(await exports().byId(whole.id)).toMatchObject({
      ...{
        status: "completed",
        archive,
        progress: { done: 7, total: 7 },
        completedAt: 2600,
        leaseUntil: null,
        error: null,
      },
    });
    expect(await exports().byId(broken.id)).toMatchObject({
      status: "failed",
      archive: null,
      completedAt: 2700,
      error: "no room",
    });
    expect(await exports().byId(dropped.id)).toMatchObject({
      status: "cancelled",
      archive: null,
      completedAt: 2800,
      error: null,
    });
    for (const { id } of [whole, broken, dropped]) {
      expect(await claim(id, 1e12, 2e12)).toBeNull();
      expect(await change((tx) => tx.exports.cancel(id, 3000))).toBe(false);
    }
  });

  test("without a claim are found, oldest first, without ended ones", async () => {
    const [third, first, second, held, over] = await Promise.all(
      [3, 1, 2, 0, 0].map((createdAt) => put({ createdAt })),
    );
    for (const sample of [held, over, second]) await claim(sample?.id ?? "", 0, 10);
    await claim(held?.id ?? "", 10, 100);
    await change((tx) => tx.exports.complete(over?.id ?? "", 1, archive, 5));
    const mine = new Set([third, first, second, held, over].map((sample) => sample?.id));
    const loose = async (now: number) => (await exports().unclaimed(now, 1000)).filter((id) => mine.has(id));
    expect(await loose(9)).toEqual([first?.id, third?.id]);
    expect(await loose(10)).toEqual([first?.id, second?.id, third?.id]);
    expect(await loose(100)).toEqual([held?.id, first?.id, second?.id, third?.id]);
    expect(await exports().unclaimed(100, 1)).toHaveLength(1);
  });

  test("are listed newest first, of one person in one space, with their total on every page and beyond the last", async () => {
    const accountId = newId("account");
    const made = [];
    for (const n of [1, 2, 2, 3, 4]) made.push(await put({ accountId, createdAt: n }));
    await put({ accountId, spaceId: "south" });
    await put({ accountId: newId("account") });
    const ids = made
      .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
    const page = async (limit: number, offset: number) => {
      const { items, total } = await exports().list("north", accountId, { limit, offset });
      return [total, ...items.map(({ id }) => id)];
    };
    expect(await page(10, 0)).toEqual([5, ...ids]);
    expect([await page(2, 0), await page(2, 2), await page(2, 4)]).toEqual([
      [5, ...ids.slice(0, 2)],
      [5, ...ids.slice(2, 4)],
      [5, ...ids.slice(4)],
    ]);
    expect(await page(2, 6)).toEqual([5]);
    expect(await exports().list("north", newId("account"), { limit: 1, offset: 0 })).toEqual({
      items: [],
      total: 0,
    });
  });

  test("release their archives once, the oldest first", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const claimed = async () => {
      const { id } = sampleExport();
      await store.change((tx) => tx.exports.insert(sampleExport({ id })));
      await store.change((tx) => tx.exports.claim(id, 0, 10));
      return id;
    };
    const ended: string[] = [];
    for (const at of [300, 100, 200]) {
      const id = await claimed();
      await store.change((tx) => tx.exports.complete(id, 1, { ...archive, blobId: `of-${at}` }, at));
      ended.push(id);
    }
    const failed = await claimed();
    await store.change((tx) => tx.exports.fail(failed, 1, "no", 50));
    const purge = (until: number, max: number) => store.change((tx) => tx.exports.purge(until, 900, max));
    expect(await purge(99, 10)).toEqual([]);
    expect(await purge(200, 1)).toEqual(["of-100"]);
    expect(await purge(200, 10)).toEqual(["of-200"]);
    expect(await purge(200, 10)).toEqual([]);
    expect(await store.exports.byId(ended[2] ?? "")).toMatchObject({ status: "completed", purgedAt: 900 });
    expect(await store.exports.byId(ended[0] ?? "")).toMatchObject({ purgedAt: null });
  });
});
