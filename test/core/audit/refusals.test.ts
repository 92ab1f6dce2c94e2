import { expect, test } from "vitest";
import type { AuditRefusal } from "../../../src/core/audit/audit.ts";
import { refusals, settledBefore } from "../../../src/core/audit/refusals.ts";
import { sealer } from "../../../src/core/audit/seal.ts";
import type { Reason } from "../../../src/core/failure.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Tx } from "../../../src/core/store.ts";
import { checked } from "../../audit/chain-rig.ts";
import { movableClock } from "../../support/clock.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { directly } from "../../support/direct.ts";

/** The beginning of a minute. */
const noon = 1_790_000_040_000;
const known = { accountId: "ann", spaceId: "north", credential: "key:k" };
const call = (n = 1, operation = "task.v2.TaskService/DeleteTask") => ({ operation, requestId: `req_${n}`, address: "127.0.0.1" });
const forbidden = { reason: "forbidden" } as const;

/** Refusals that end in a list instead of a store. */
function listed() {
  const clock = movableClock(noon);
  const written: AuditRefusal[] = [];
  const lines: string[] = [];
  let broken = false;
  async function refuse(rows: readonly AuditRefusal[]): Promise<readonly string[]> {
    written.push(...rows);
    return [];
  }
  const change = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    if (broken) throw new Error("the database is gone");
    // Of a transaction nothing else is used.
    const tx = { audit: { refuse } } as unknown as Tx;
    return work(tx);
  };
  const log: Log = (level, text, fields) => void lines.push(`${level} ${text} ${fields?.["count"]}`);
  const of = refusals({ change }, clock, log);
  return { clock, written, lines, of, breakIt: (now: boolean) => (broken = now) };
}

test("a minute's refusals of a credential and an operation are one row with their count, the first one's reason, and its request", async () => {
  const { clock, written, of } = listed();
  of.note(call(1), known, forbidden);
  clock.pass(20_000);
  of.note(call(2), known, { reason: "limited" });
  of.note(call(3, "task.v2.TaskService/GetTask"), known, forbidden);
  of.note(call(4), { ...known, credential: "key:other" }, forbidden);
  await of.write();
  expect(written, "the minute is not over").toEqual([]);
  clock.set(noon + 60_000);
  of.note(call(5), known, forbidden);
  await of.write();
  expect(written.map(({ count, requestId, reason, at }) => [count, requestId, reason, at])).toEqual(
    expect.arrayContaining([
      [2, "req_1", "forbidden", noon],
      [1, "req_3", "forbidden", noon + 20_000],
      [1, "req_4", "forbidden", noon + 20_000],
    ]),
  );
  expect(written).toHaveLength(3);
  await of.write(true);
  expect(written.slice(3).map(({ requestId, count }) => [requestId, count])).toEqual([["req_5", 1]]);
});

test.each<{ reason: Reason; rows: number }>([
  ...(["unauthenticated", "forbidden", "insufficient_scope", "limited"] as const).map((reason) => ({ reason, rows: 1 })),
  ...(["invalid", "absent", "exists", "precondition", "exhausted", "unavailable", "internal", "unimplemented"] as const).map((reason) => ({
    reason,
    rows: 0,
  })),
])("$reason leaves $rows rows", async ({ reason, rows }) => {
  const { written, of } = listed();
  of.note(call(), known, { reason });
  await of.write(true);
  expect(written).toHaveLength(rows);
});

test("refusals of nobody who is known are a line a minute of the process log, with their count", async () => {
  const { clock, written, lines, of } = listed();
  for (let n = 0; n < 1_000; n += 1) of.note(call(n), null, { reason: "unauthenticated" });
  await of.write();
  expect(lines, "the minute is not over").toEqual([]);
  clock.pass(60_000);
  await of.write();
  await of.write();
  expect(lines).toEqual(["info calls without a known credential were refused 1000"]);
  expect(written).toEqual([]);
});

test("a flood costs a bounded number of rows; what is beyond is told by its count", async () => {
  const { clock, written, lines, of } = listed();
  for (let n = 0; n < 10_500; n += 1) of.note(call(n), { ...known, credential: `key:${n}` }, forbidden);
  for (let n = 0; n < 50_000; n += 1) of.note(call(n), known, forbidden);
  clock.pass(60_000);
  await of.write();
  expect(written).toHaveLength(10_000);
  expect(lines).toEqual(["warn more refused calls than are counted for the audit log 50500"]);
});

test("what cannot be written is written later, together with what came meanwhile", async () => {
  const { clock, written, of, breakIt } = listed();
  of.note(call(1), known, forbidden);
  breakIt(true);
  await expect(of.write(true)).rejects.toThrow("gone");
  of.note(call(2), known, forbidden);
  breakIt(false);
  clock.pass(60_000);
  await of.write();
  expect(written.map(({ requestId, count }) => [requestId, count])).toEqual([["req_1", 2]]);
});

describeOnEach("refusals of several processes", (kind) => {
  test("are one row with the sum of their counts, sealed when nobody adds to it any more", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = movableClock(noon);
    const lines: string[] = [];
    const processes = Array.from({ length: 3 }, () => refusals(store, clock, (_, text) => void lines.push(text)));
    const seal = () => sealer(store, clock)(new AbortController().signal);
    for (const [i, of] of processes.entries()) for (let n = 0; n <= i; n += 1) of.note(call(10 * i + n), known, forbidden);
    // One drains within the minute, the others write when it is over.
    await processes[0]?.write(true);
    expect(await seal(), "it is still counted").toBe(0);
    clock.set(noon + 60_000);
    await Promise.all(processes.map((of) => of.write()));
    expect(await directly(database, "SELECT outcome, reason, request_id, subject FROM audit_event")).toEqual([
      { outcome: "refused", reason: "forbidden", request_id: "req_0", subject: null },
    ]);
    expect((await store.auditLog.list("north", {}, { order: "asc", limit: 9 })).map(({ count }) => count)).toEqual([6]);
    expect(await seal(), "it may still grow").toBe(0);
    clock.set(noon + 70_000);
    expect(await seal()).toBe(1);
    expect(await checked(store)).toEqual({ fault: null, sealed: 1, unsealed: 0 });
  });

  test("that come after the row was sealed leave it as it is, and are told to the process log", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = movableClock(noon);
    const lines: string[] = [];
    const [one, late] = [1, 2].map(() => refusals(store, clock, (_, text) => void lines.push(text)));
    one?.note(call(1), known, forbidden);
    late?.note(call(2), known, forbidden);
    clock.set(noon + 75_000);
    await one?.write();
    await sealer(store, clock)(new AbortController().signal);
    await late?.write();
    expect(await checked(store)).toEqual({ fault: null, sealed: 1, unsealed: 0 });
    expect(lines).toEqual(["refused calls came too late for their row of the audit log"]);
  });
});

test("a minute is settled ten seconds after its end", () => {
  expect(settledBefore(noon + 69_999)).toBe(noon);
  expect(settledBefore(noon + 70_000)).toBe(noon + 60_000);
});
