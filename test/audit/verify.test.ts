import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyChain } from "../../src/core/audit/chain.ts";
import { sealer } from "../../src/core/audit/seal.ts";
import { sampleAudit } from "../store/samples.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { checkChain, putRows } from "./chain-rig.ts";

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
const copied =
  "at, space_id, account_id, credential, operation, request_id, address, subject, before, after, outcome, reason, count";

describeOnOne("the check of a chain", (kind) => {
  /** A chain that each case changes, and its rows as they were. */
  let chain: TestStore;
  const written = ["audit_event", "audit_head"];
  beforeAll(async () => {
    chain = await chainOf(kind, 8);
    for (const table of written)
      await runDirectly(chain, `CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  });
  async function restore(): Promise<void> {
    for (const table of written) {
      await runDirectly(chain, `DELETE FROM ${table}`);
      await runDirectly(chain, `INSERT INTO ${table} SELECT * FROM kept_${table}`);
    }
  }
  afterAll(async () => {
    for (const table of written) await runDirectly(chain, `DROP TABLE kept_${table}`);
    await chain[Symbol.asyncDispose]();
  });

  test("reports an intact chain as intact, with its end and the number of unsealed rows", async () => {
    await using database = await chainOf(kind, 8);
    await putRows(database.store, 2, { from: 100 });
    const head = await database.store.auditChain.head("north");
    expect(await verifyChain(database.store, "north", null)).toEqual({
      anchor: null,
      fault: null,
      head: expect.objectContaining(head ?? {}),
      unsealed: 2,
    });
    expect(await checkChain(database.store, "south"), "a space without a log").toEqual({
      fault: null,
      sealed: 0,
      unsealed: 0,
    });
  });

  test.each<{ why: string; sql: readonly string[]; fault: string; undo?: readonly string[] }>([
    ...[
      "id",
      "account_id",
      "credential",
      "operation",
      "request_id",
      "address",
      "subject",
      "before",
      "after",
      "reason",
      "hash",
    ].map((column) => ({
      why: `another ${column}`,
      sql: [`UPDATE audit_event SET ${column} = 'x' WHERE ${at(4)}`],
      fault: "changed at 4",
    })),
    ...["at", "count"].map((column) => ({
      why: `another ${column}`,
      sql: [`UPDATE audit_event SET ${column} = 77 WHERE ${at(4)}`],
      fault: "changed at 4",
    })),
    {
      why: "another outcome",
      sql: [`UPDATE audit_event SET outcome = 'refused' WHERE ${at(4)}`],
      fault: "changed at 4",
    },
    {
      why: "a removed subject",
      sql: [`UPDATE audit_event SET subject = NULL WHERE ${at(1)}`],
      fault: "changed at 1",
    },
    {
      why: "a row moved to another space",
      sql: [`UPDATE audit_event SET space_id = 'south' WHERE ${at(4)}`],
      fault: "missing at 4",
    },
    { why: "a row deleted", sql: [`DELETE FROM audit_event WHERE ${at(4)}`], fault: "missing at 4" },
    { why: "the first row deleted", sql: [`DELETE FROM audit_event WHERE ${at(1)}`], fault: "missing at 1" },
    {
      why: "a row unsealed",
      sql: [`UPDATE audit_event SET seq = NULL WHERE ${at(4)}`],
      fault: "missing at 4",
    },
    {
      why: "a row deleted and the gap closed",
      sql: [
        `DELETE FROM audit_event WHERE ${at(4)}`,
        ...[5, 6, 7, 8].map((seq) => `UPDATE audit_event SET seq = ${seq - 1} WHERE ${at(seq)}`),
      ],
      fault: "changed at 4",
    },
    {
      why: "an inserted row",
      sql: [
        ...[8, 7, 6, 5, 4].map((seq) => `UPDATE audit_event SET seq = ${seq + 1} WHERE ${at(seq)}`),
        `INSERT INTO audit_event (id, seq, hash, ${copied}) SELECT 'new', 4, hash, ${copied} FROM audit_event WHERE ${at(3)}`,
      ],
      fault: "reordered at 4",
    },
    {
      why: "two rows with the same number",
      sql: [
        "DROP INDEX audit_event_chain",
        `INSERT INTO audit_event (id, seq, hash, ${copied}) SELECT 'zzz', seq, hash, ${copied} FROM audit_event WHERE ${at(4)}`,
      ],
      fault: "doubled at 4",
      undo: [
        "DELETE FROM audit_event WHERE id = 'zzz'",
        "CREATE UNIQUE INDEX audit_event_chain ON audit_event(space_id, seq) WHERE (seq IS NOT NULL)",
      ],
    },
    {
      why: "two rows with swapped numbers",
      sql: [
        `UPDATE audit_event SET seq = 99 WHERE ${at(4)}`,
        `UPDATE audit_event SET seq = 4 WHERE ${at(5)}`,
        `UPDATE audit_event SET seq = 5 WHERE ${at(99)}`,
      ],
      fault: "reordered at 4",
    },
    {
      why: "two rows whose contents are swapped",
      sql: [swap("operation, subject, before, after, at, request_id")],
      fault: "changed at 4",
    },
    {
      why: "a truncated end",
      sql: [`DELETE FROM audit_event WHERE space_id = 'north' AND seq > 6`],
      fault: "missing at 7",
    },
    { why: "all rows deleted, but not the head", sql: ["DELETE FROM audit_event"], fault: "missing at 1" },
    { why: "an outdated head", sql: ["UPDATE audit_head SET seq = 6"], fault: "head at 8" },
    { why: "a deleted head", sql: ["DELETE FROM audit_head"], fault: "head at 8" },
    { why: "a head with another hash", sql: ["UPDATE audit_head SET hash = 'x'"], fault: "head at 8" },
  ])("finds $why", async ({ sql, fault, undo = [] }) => {
    for (const statement of sql) await runDirectly(chain, statement);
    const report = await checkChain(chain.store);
    for (const statement of undo) await runDirectly(chain, statement);
    await restore();
    expect(report.fault).toBe(fault);
    expect((await checkChain(chain.store)).fault).toBeNull();
  });

  test("with a saved head, detects an end truncated together with its head, and a rewritten chain", async () => {
    await using database = await chainOf(kind, 8);
    const { store } = database;
    const kept = (await store.auditChain.head("north")) ?? { seq: 0, hash: "" };
    expect((await verifyChain(store, "north", kept)).fault).toBeNull();
    expect((await verifyChain(store, "north", { ...kept, hash: "0".repeat(64) })).fault).toMatchObject({
      seq: 8,
      kind: "changed",
    });
    const [fifth] = (await store.auditChain.sealed("north", null, 9)).slice(4);
    await runDirectly(database, "DELETE FROM audit_event WHERE seq > 5");
    await runDirectly(database, `UPDATE audit_head SET seq = 5, hash = '${fifth?.hash}'`);
    expect((await verifyChain(store, "north", null)).fault, "it is intact without the saved head").toBeNull();
    expect((await verifyChain(store, "north", kept)).fault).toMatchObject({ seq: 6, kind: "missing" });
    await putRows(store, 5, { from: 200 });
    await sealer(store, { now: () => 1_790_000_000_000 })(never);
    expect((await verifyChain(store, "north", kept)).fault, "a continued chain differs").toMatchObject({
      seq: 8,
      kind: "changed",
    });
  });

  test("checks more rows than one read returns, next to a sealer that continues", async () => {
    await using database = await chainOf(kind, 1);
    const { store } = database;
    const seal = sealer(store, { now: () => 1_790_000_000_000 });
    const put = store.change(async (tx) => {
      for (let n = 0; n < 2_300; n += 1) await tx.audit.insert(sampleAudit({ at: 10 + n }));
    });
    await put;
    const [, report] = await Promise.all([seal(never), verifyChain(store, "north", null)]);
    expect(report.fault).toBeNull();
    expect(await checkChain(store)).toEqual({ fault: null, sealed: 2_301, unsealed: 0 });
  });
});
