import { expect, test } from "vitest";
import type { Store, Tx } from "../../../src/core/store.ts";
import { describeOnEach, openTestStore, storeOfSuite } from "../../support/database.ts";
import { newId } from "../samples.ts";

const quota = 100;

async function beginIn(store: Store, accountId: string | null, bytes: number, leaseUntil: number) {
  const id = newId("blob");
  return {
    id,
    isBegun: await store.change((tx) => tx.blobs.begin({ id, accountId, bytes, leaseUntil }, quota)),
  };
}

describeOnEach("blobs", (kind) => {
  const suite = storeOfSuite(kind);
  const change = <T>(work: (tx: Tx) => Promise<T>) => suite.store.change(work);
  const begin = (accountId: string | null, bytes: number) => beginIn(suite.store, accountId, bytes, 1e12);
  test("are begun up to the quota and not a byte beyond, by fifty at once", async () => {
    const account = newId("account");
    const begun = await Promise.all(Array.from({ length: 50 }, () => begin(account, 3)));
    expect(begun.filter(({ isBegun }) => isBegun)).toHaveLength(33);
    expect(await suite.store.blobs.usedBytes(account)).toBe(99);
    expect((await begin(account, 1)).isBegun).toBe(true);
    expect((await begin(account, 1)).isBegun).toBe(false);
    expect((await begin(newId("account"), 1)).isBegun).toBe(true);
  });

  test("of artifacts count toward no quota", async () => {
    expect((await begin(null, 1_000_000)).isBegun).toBe(true);
  });

  test("use their reserved bytes, then their size, then nothing", async () => {
    const account = newId("account");
    const used = () => suite.store.blobs.usedBytes(account);
    const { id } = await begin(account, 10);
    expect(await change((tx) => tx.blobs.reserve(id, 80, quota))).toBe(true);
    expect(await change((tx) => tx.blobs.reserve(id, 11, quota))).toBe(false);
    expect(await used()).toBe(90);
    expect(await change((tx) => tx.blobs.settle(id, { reserved: 89, bytes: 1 }, 1))).toBe(false);
    expect(await change((tx) => tx.blobs.settle(id, { reserved: 90, bytes: 42 }, 1))).toBe(true);
    expect(await used()).toBe(42);
    expect(await change((tx) => tx.blobs.keep(id))).toBe(true);
    expect(await used()).toBe(42);
    await change((tx) => tx.blobs.drop([id, id, "unknown"]));
    await change((tx) => tx.blobs.drop([id]));
    expect(await used()).toBe(0);
  });

  test("that are aborted use no more quota, and cannot be kept", async () => {
    const account = newId("account");
    const { id } = await begin(account, 10);
    expect(await change((tx) => tx.blobs.abandon(id))).toBe(true);
    expect(await change((tx) => tx.blobs.abandon(id))).toBe(false);
    expect(await suite.store.blobs.usedBytes(account)).toBe(0);
    for (const late of [
      (tx: Tx) => tx.blobs.keep(id),
      (tx: Tx) => tx.blobs.renew(id, 5),
      (tx: Tx) => tx.blobs.reserve(id, 1, quota),
      (tx: Tx) => tx.blobs.settle(id, { reserved: 10, bytes: 1 }, 5),
    ]) {
      expect(await change(late)).toBe(false);
    }
    expect(await suite.store.blobs.usedBytes(account)).toBe(0);
  });

  test("that are kept are not aborted: a change whose answer was lost may have kept them", async () => {
    const { id } = await begin(newId("account"), 10);
    await change((tx) => tx.blobs.keep(id));
    expect(await change((tx) => tx.blobs.abandon(id))).toBe(false);
    expect(await change((tx) => tx.blobs.claimDeletable(1e13, 1e13, 1000))).not.toContain(id);
    await change((tx) => tx.blobs.deleteDropped([id]));
    expect(await change((tx) => tx.blobs.keep(id))).toBe(false);
    await change((tx) => tx.blobs.drop([id]));
    expect(await change((tx) => tx.blobs.claimDeletable(1, 1, 1000))).toContain(id);
  });

  test("are loose once dropped, or once their writer's lease ends: each is taken by one sweep", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const change = <T>(work: (tx: Tx) => Promise<T>) => store.change(work);
    const begin = (bytes: number, leaseUntil: number) => beginIn(store, account, bytes, leaseUntil);
    const account = newId("account");
    const [dead, alive, abandoned, dropped] = [
      await begin(1, 50),
      await begin(2, 51),
      await begin(3, 51),
      await begin(4, 1e12),
    ];
    await change(async (tx) => {
      await tx.blobs.abandon(abandoned.id);
      await tx.blobs.keep(dropped.id);
      await tx.blobs.drop([dropped.id]);
    });
    const taken = (
      await Promise.all([1, 2, 3].map(() => change((tx) => tx.blobs.claimDeletable(50, 80, 1000))))
    ).flat();
    expect(taken.toSorted()).toEqual([dead.id, dropped.id].toSorted());
    expect(await store.blobs.usedBytes(account)).toBe(2);
    // The process that took them died before it erased them.
    const again = await change((tx) => tx.blobs.claimDeletable(80, 99, 1000));
    expect(again.toSorted()).toEqual([dead.id, dropped.id, abandoned.id, alive.id].toSorted());
    await change((tx) => tx.blobs.deleteDropped(again));
    expect(await change((tx) => tx.blobs.claimDeletable(99, 99, 1000))).toEqual([]);
    expect(await store.blobs.usedBytes(account)).toBe(0);
  });
});
