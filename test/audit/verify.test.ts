import { expect, test } from "vitest";
import { sealer } from "../../src/core/audit/seal.ts";
import { verifyChain } from "../../src/core/audit/verify.ts";
import { sampleAudit } from "../store/samples.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { checked, putRows } from "./chain-rig.ts";

const never = new AbortController().signal;

async function chainOf(kind: TestStore["kind"], rows: number): Promise<TestStore> {
  const database = await openTestStore(kind);
  await putRows(database.store, rows);
  await sealer(database.store, { now: () => 1_790_000_000_000 })(never);
  return database;
}

const at = (seq: number) => `space_id = 'north' AND seq = ${seq}`;
const swap = (columns: string) =>
  `UPDATE audit_event SET (${columns}) = (SELECT ${columns} FROM audit_event o WHERE o.space_id = 'north' AND o.seq = 9 - audit_event.seq)
   WHERE space_id = 'north' AND seq IN (4, 5)`;
const copied = "at, space_id, account_id, credential, operation, request_id, address, subject, before, after, outcome, reason, count";

describeOnEach("the check of a chain", (kind) => {
  test("finds a whole one whole, tells where it ends, and counts what is not sealed yet", async () => {
    await using database = await chainOf(kind, 8);
    await putRows(database.store, 2, { from: 100 });
    const head = await database.store.auditChain.head("north");
    expect(await verifyChain(database.store, "north", null)).toEqual({
      fault: null,
      head: expect.objectContaining(head ?? {}),
      unsealed: 2,
    });
    expect(await checked(database.store, "south"), "a space without a log").toEqual({ fault: null, sealed: 0, unsealed: 0 });
  });

  test.each<{ why: string; sql: readonly string[]; fault: string; undo?: readonly string[] }>([
    ...["id", "account_id", "credential", "operation", "request_id", "address", "subject", "before", "after", "reason", "hash"].map(
      (column) => ({
        why: `another ${column}`,
        sql: [`UPDATE audit_event SET ${column} = 'x' WHERE ${at(4)}`],
        fault: "changed at 4",
      }),
    ),
    ...["at", "count"].map((column) => ({
      why: `another ${column}`,
      sql: [`UPDATE audit_event SET ${column} = 77 WHERE ${at(4)}`],
      fault: "changed at 4",
    })),
    { why: "another outcome", sql: [`UPDATE audit_event SET outcome = 'refused' WHERE ${at(4)}`], fault: "changed at 4" },
    { why: "a subject taken away", sql: [`UPDATE audit_event SET subject = NULL WHERE ${at(1)}`], fault: "changed at 1" },
    { why: "a row moved to another space", sql: [`UPDATE audit_event SET space_id = 'south' WHERE ${at(4)}`], fault: "missing at 4" },
    { why: "a row deleted", sql: [`DELETE FROM audit_event WHERE ${at(4)}`], fault: "missing at 4" },
    { why: "the first row deleted", sql: [`DELETE FROM audit_event WHERE ${at(1)}`], fault: "missing at 1" },
    { why: "a row unsealed", sql: [`UPDATE audit_event SET seq = NULL WHERE ${at(4)}`], fault: "missing at 4" },
    {
      why: "a row deleted and the gap closed",
      sql: [
        `DELETE FROM audit_event WHERE ${at(4)}`,
        ...[5, 6, 7, 8].map((seq) => `UPDATE audit_event SET seq = ${seq - 1} WHERE ${at(seq)}`),
      ],
      fault: "changed at 4",
    },
    {
      why: "a row put between",
      sql: [
        ...[8, 7, 6, 5, 4].map((seq) => `UPDATE audit_event SET seq = ${seq + 1} WHERE ${at(seq)}`),
        `INSERT INTO audit_event (id, seq, hash, ${copied}) SELECT 'new', 4, hash, ${copied} FROM audit_event WHERE ${at(3)}`,
      ],
      fault: "reordered at 4",
    },
    {
      why: "two rows of one place",
      sql: [
        "DROP INDEX audit_event_chain",
        `INSERT INTO audit_event (id, seq, hash, ${copied}) SELECT 'zzz', seq, hash, ${copied} FROM audit_event WHERE ${at(4)}`,
      ],
      fault: "doubled at 4",
      // The database is another test's after this.
      undo: [
        "DELETE FROM audit_event WHERE id = 'zzz'",
        "CREATE UNIQUE INDEX audit_event_chain ON audit_event(space_id, seq) WHERE (seq IS NOT NULL)",
      ],
    },
    {
      why: "two rows whose places are swapped",
      sql: [
        `UPDATE audit_event SET seq = 99 WHERE ${at(4)}`,
        `UPDATE audit_event SET seq = 4 WHERE ${at(5)}`,
        `UPDATE audit_event SET seq = 5 WHERE ${at(99)}`,
      ],
      fault: "reordered at 4",
    },
    { why: "two rows whose contents are swapped", sql: [swap("operation, subject, before, after, at, request_id")], fault: "changed at 4" },
    { why: "the end cut off", sql: [`DELETE FROM audit_event WHERE space_id = 'north' AND seq > 6`], fault: "missing at 7" },
    { why: "everything deleted but the head", sql: ["DELETE FROM audit_event"], fault: "missing at 1" },
    { why: "a head that is behind", sql: ["UPDATE audit_head SET seq = 6"], fault: "head at 8" },
    { why: "a head that is gone", sql: ["DELETE FROM audit_head"], fault: "head at 8" },
    { why: "a head with another hash", sql: ["UPDATE audit_head SET hash = 'x'"], fault: "head at 8" },
  ])("finds $why", async ({ sql, fault, undo = [] }) => {
    await using database = await chainOf(kind, 8);
    for (const statement of sql) await directly(database, statement);
    const found = await checked(database.store);
    for (const statement of undo) await directly(database, statement);
    expect(found.fault).toBe(fault);
  });

  test("by a head that was kept, finds an end that was cut off with its head, and a chain written anew", async () => {
    await using database = await chainOf(kind, 8);
    const { store } = database;
    const kept = (await store.auditChain.head("north")) ?? { seq: 0, hash: "" };
    expect((await verifyChain(store, "north", kept)).fault).toBeNull();
    expect((await verifyChain(store, "north", { ...kept, hash: "0".repeat(64) })).fault).toMatchObject({ seq: 8, kind: "changed" });
    const [fifth] = (await store.auditChain.sealed("north", null, 9)).slice(4);
    await directly(database, "DELETE FROM audit_event WHERE seq > 5");
    await directly(database, `UPDATE audit_head SET seq = 5, hash = '${fifth?.hash}'`);
    expect((await verifyChain(store, "north", null)).fault, "by itself it is whole").toBeNull();
    expect((await verifyChain(store, "north", kept)).fault).toMatchObject({ seq: 6, kind: "missing" });
    await putRows(store, 5, { from: 200 });
    await sealer(store, { now: () => 1_790_000_000_000 })(never);
    expect((await verifyChain(store, "north", kept)).fault, "whoever goes on differs").toMatchObject({ seq: 8, kind: "changed" });
  });

  test("goes over more rows than it reads at once, beside a sealer that goes on", async () => {
    await using database = await chainOf(kind, 1);
    const { store } = database;
    const seal = sealer(store, { now: () => 1_790_000_000_000 });
    const put = store.change(async (tx) => {
      for (let n = 0; n < 2_300; n += 1) await tx.audit.insert(sampleAudit({ at: 10 + n }));
    });
    await put;
    const [, found] = await Promise.all([seal(never), verifyChain(store, "north", null)]);
    expect(found.fault).toBeNull();
    expect(await checked(store)).toEqual({ fault: null, sealed: 2_301, unsealed: 0 });
  });
});
