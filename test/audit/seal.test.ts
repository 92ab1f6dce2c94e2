import { expect, test } from "vitest";
import { genesis, rowHash, verifyChain } from "../../src/core/audit/chain.ts";
import { type Seal, sealer } from "../../src/core/audit/seal.ts";
import { Failure } from "../../src/core/failure.ts";
import type { Store } from "../../src/core/store.ts";
import { sampleAudit } from "../store/samples.ts";
import { describeOnOne, openTestStore, storeOfSuite } from "../support/database.ts";
import { auditRows, checkChain, putRows } from "./chain-rig.ts";

const never = new AbortController().signal;
const later = { now: () => 1_790_000_000_000 };
const sealAll = (store: Store): ReturnType<Seal> => sealer(store, later)(never);

describeOnOne("sealing", (kind) => {
  test("numbers each space's rows from 1 by time and id, and chains each hash to the previous one", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.audit.insert(sampleAudit({ id: "b", at: 5 })));
    await store.change((tx) => tx.audit.insert(sampleAudit({ id: "c", at: 2 })));
    await store.change((tx) =>
      tx.audit.insert(sampleAudit({ id: "a", at: 5, before: { x: "ü" }, after: null })),
    );
    await putRows(store, 2, { spaceId: "south" });
    expect(await sealAll(store)).toBe(5);
    const rows = await store.auditChain.sealed("north", null, 9);
    expect(rows.map(({ id, seq }) => [id, seq])).toEqual([
      ["c", 1],
      ["a", 2],
      ["b", 3],
    ]);
    let hash = genesis.hash;
    for (const row of rows) {
      hash = rowHash(hash, row.seq, row);
      expect(row.hash).toBe(hash);
    }
    expect(await store.auditChain.head("north")).toEqual({ seq: 3, hash });
    expect((await store.auditChain.head("south"))?.seq).toBe(2);
    expect(await sealAll(store), "there is no more").toBe(0);
  });

  test("continues after the last sealed row, and includes rows with earlier times that arrived late", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putRows(store, 3, { from: 10 });
    await sealAll(store);
    await putRows(store, 2);
    await sealAll(store);
    expect((await auditRows(database)).map(({ at, seq }) => [Number(at), Number(seq)])).toEqual(
      [10, 11, 12, 1, 2].map((at, i) => [at, i + 1]),
    );
    expect(await checkChain(store)).toEqual({ fault: null, sealed: 5, unsealed: 0 });
  });

  test("seals many spaces, and more rows than one change holds", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change(async (tx) => {
      for (let n = 0; n < 120; n += 1)
        await tx.audit.insert(sampleAudit({ spaceId: `space-${n % 60}`, at: n }));
      for (let n = 0; n < 1_100; n += 1) await tx.audit.insert(sampleAudit({ spaceId: "busy", at: n }));
    });
    expect(await sealAll(store)).toBe(1_220);
    expect(await checkChain(store, "busy")).toEqual({ fault: null, sealed: 1_100, unsealed: 0 });
    for (let n = 0; n < 60; n += 1)
      expect(await checkChain(store, `space-${n}`)).toEqual({ fault: null, sealed: 2, unsealed: 0 });
  });

  test("with concurrent sealers, changes in between and sealers that die, makes one chain without a gap", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    /** Fails after sealing, before its change commits. */
    const failingStore: Pick<Store, "change" | "auditChain"> = {
      auditChain: store.auditChain,
      change: (work) =>
        store.change(async (tx) => {
          await work(tx);
          throw new Failure("internal", "killed");
        }),
    };
    let written = 0;
    for (let round = 0; round < 12; round += 1) {
      const rows = Array.from({ length: 7 }, () => {
        written += 1;
        return putRows(store, 1, { from: written });
      });
      const sealers = [store, failingStore, store, failingStore, store].map((of) =>
        sealer(of, later)(never).catch(() => "killed"),
      );
      await Promise.all([...rows, ...sealers]);
    }
    await sealAll(store);
    expect(await checkChain(store)).toEqual({ fault: null, sealed: written, unsealed: 0 });
  });

  test("starts a space's chain once when several sealers start at the same time", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putRows(store, 20);
    await Promise.all(Array.from({ length: 6 }, () => sealAll(store)));
    await sealAll(store);
    expect(await checkChain(store)).toEqual({ fault: null, sealed: 20, unsealed: 0 });
  });

  test("leaves rows for the next run when it is aborted", async () => {
    await using database = await openTestStore(kind);
    await putRows(database.store, 2);
    expect(await sealer(database.store, later)(AbortSignal.abort())).toBe(0);
    expect(await checkChain(database.store)).toEqual({ fault: null, sealed: 0, unsealed: 2 });
  });
});

describeOnOne("a chain with a locked head", (kind) => {
  const database = storeOfSuite(kind);

  test.skipIf(kind === "sqlite")("blocks neither changes of the team nor other sealers", async () => {
    const { store } = database;
    await putRows(store, 3);
    await sealAll(store);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const slow = store.change(async (tx) => {
      const heads = await tx.auditChain.lockHeads(["north"]);
      expect(heads.size).toBe(1);
      await tx.auditChain.seal([], heads);
      hold();
      await released;
    });
    await held;
    // If any of these waited for the lock, it would never end.
    await Promise.all(Array.from({ length: 8 }, (_, n) => putRows(store, 5, { from: 100 + 10 * n })));
    expect(await sealAll(store), "a sealer that meets the lock skips it").toBe(0);
    expect((await store.auditChain.head("north"))?.seq).toBe(3);
    release();
    await slow;
    expect(await sealAll(store)).toBe(40);
    expect((await verifyChain(store, "north", null)).fault).toBeNull();
  });
});
