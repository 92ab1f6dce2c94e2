import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/audit/chain.ts";
import { sealer } from "../../src/core/audit/seal.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { retainAt } from "../support/retain.ts";
import { auditRows, checkChain, putRows } from "./chain-rig.ts";

const dayMs = 24 * 3_600_000;
const never = new AbortController().signal;
/** All rows of `putRows` are in the first second of 1970. */
const muchLater = 100 * dayMs;

/** A store with the space "north" and a sealed log. */
async function openLog(kind: TestStore["kind"], rows: number): Promise<TestStore> {
  const database = await openTestStore(kind);
  await runDirectly(database, "INSERT INTO space (id, kind, created_at) VALUES ('north', 'team', 1)");
  await putRows(database.store, rows);
  await seal(database);
  return database;
}

const seal = ({ store }: TestStore) => sealer(store, { now: () => 1_790_000_000_000 })(never);
const retain = ({ store }: TestStore, now: number, auditDays = 30) => retainAt(store, now, { auditDays });
const operations = async (database: TestStore) =>
  (await auditRows(database)).map(({ operation }) => operation);

describeOnOne("AUDIT_DAYS", (kind) => {
  test("removes sealed rows that are older, records the removal, and the rest of the chain is intact", async () => {
    await using database = await openLog(kind, 300);
    await putRows(database.store, 2, { from: 90 * dayMs });
    await seal(database);
    const head = await database.store.auditChain.head("north");
    await retain(database, muchLater);
    const left = await auditRows(database);
    expect(
      left.filter(({ operation }) => operation !== "retention/RemoveAudit").map(({ seq }) => Number(seq)),
    ).toEqual([301, 302]);
    const report = await verifyChain(database.store, "north", head);
    expect(report).toMatchObject({ anchor: { seq: 300 }, fault: null, head: { seq: 302 } });
    await seal(database);
    expect(await verifyChain(database.store, "north", head)).toMatchObject({ fault: null, unsealed: 0 });
  });

  test("keeps rows that are not sealed, and rows after the first one that is young enough", async () => {
    await using database = await openLog(kind, 3);
    await putRows(database.store, 1, { from: 99 * dayMs });
    await seal(database);
    // A late row of an old time, and one that is not sealed.
    await putRows(database.store, 1, { from: 50 });
    await seal(database);
    await putRows(database.store, 1, { from: 60 });
    await retain(database, muchLater);
    expect((await auditRows(database)).map(({ id }) => id)).toEqual(
      expect.arrayContaining([`north-${99 * dayMs}`, "north-000050", "north-000060"]),
    );
    expect(await checkChain(database.store)).toEqual({ fault: null, sealed: 5, unsealed: 2 });
  });

  test("removes nothing by default, and nothing of a space under legal hold", async () => {
    await using database = await openLog(kind, 3);
    await retain(database, muchLater, 0);
    expect(await auditRows(database)).toHaveLength(3);
    await runDirectly(
      database,
      "INSERT INTO legal_hold (name, kind, subject, created_at) VALUES ('case 7', 'space', 'north', 1)",
    );
    await retain(database, muchLater);
    expect(await auditRows(database)).toHaveLength(3);
    await runDirectly(database, "DELETE FROM legal_hold");
    await retain(database, muchLater + dayMs);
    expect(await operations(database)).toEqual(["retention/RemoveAudit"]);
  });

  test("does not add a row a day to a log that has only records of removals", async () => {
    await using database = await openLog(kind, 3);
    for (const day of [100, 101, 140, 180]) {
      await retain(database, day * dayMs);
      await seal(database);
    }
    expect(await operations(database)).toEqual(["retention/RemoveAudit"]);
    await putRows(database.store, 1, { from: 181 * dayMs });
    await seal(database);
    await retain(database, 300 * dayMs);
    await seal(database);
    expect(await operations(database)).toEqual(["retention/RemoveAudit"]);
    expect(await checkChain(database.store)).toEqual({ fault: null, sealed: 6, unsealed: 0 });
  });

  test.each([
    ["rows deleted by hand after the anchor", ["DELETE FROM audit_event WHERE seq = 4"], "missing at 4"],
    [
      "rows deleted by hand with an anchor of their own",
      [
        "UPDATE audit_anchor SET seq = 4, hash = (SELECT hash FROM audit_event WHERE seq = 4)",
        "DELETE FROM audit_event WHERE seq = 4",
      ],
      "anchor at 5",
    ],
    [
      "a record of removal that was deleted",
      ["DELETE FROM audit_event WHERE operation = 'retention/RemoveAudit'"],
      "anchor at 4",
    ],
    ["an anchor that was deleted", ["DELETE FROM audit_anchor"], "missing at 1"],
  ])("leaves %s detectable", async (_, statements, fault) => {
    await using database = await openLog(kind, 3);
    await putRows(database.store, 3, { from: 99 * dayMs });
    await seal(database);
    await retain(database, muchLater);
    expect(await checkChain(database.store)).toEqual({ fault: null, sealed: 6, unsealed: 1 });
    for (const statement of statements) await runDirectly(database, statement);
    expect((await checkChain(database.store)).fault).toBe(fault);
  });

  test("a verification that reads the anchor before a removal, and its record after it, finds no fault", async () => {
    await using database = await openLog(kind, 20);
    const { store } = database;
    let removals = 0;
    const lastRemoval: typeof store.auditChain.lastRemoval = async (spaceId) => {
      if (removals++ === 0) await retain(database, muchLater);
      return store.auditChain.lastRemoval(spaceId);
    };
    const { fault, anchor } = await verifyChain(
      { auditChain: { ...store.auditChain, lastRemoval } },
      "north",
      null,
    );
    expect([fault, anchor?.seq, removals]).toEqual([null, 20, 2]);
  });

  test("keeps the chain intact while processes seal, remove and verify at once", async () => {
    await using database = await openLog(kind, 200);
    const writes = async (from: number) => {
      for (let n = 0; n < 20; n += 1) {
        await putRows(database.store, 3, { from: from + n * 10 });
        await seal(database);
      }
    };
    const removes = async () => {
      for (let n = 0; n < 5; n += 1) await retain(database, muchLater + n * dayMs);
    };
    const verifies = async () => {
      for (let n = 0; n < 10; n += 1) expect((await checkChain(database.store)).fault).toBeNull();
    };
    await Promise.all([writes(99 * dayMs), writes(99 * dayMs + 5), removes(), removes(), verifies()]);
    await seal(database);
    expect((await checkChain(database.store)).fault).toBeNull();
    expect((await auditRows(database)).filter(({ id }) => `${id}`.startsWith("north-0"))).toEqual([]);
  });
});
