import { expect, test } from "vitest";
import type { AuditReason, AuditRefusal } from "../../../src/core/audit/audit.ts";
import { refusals, sealableBefore } from "../../../src/core/audit/refusals.ts";
import { sealer } from "../../../src/core/audit/seal.ts";
import type { Reason } from "../../../src/core/failure.ts";
import type { Log } from "../../../src/core/log.ts";
import type { Tx } from "../../../src/core/store.ts";
import { checkChain } from "../../audit/chain-rig.ts";
import { movableClock } from "../../support/clock.ts";
import { describeOnOne, openTestStore } from "../../support/database.ts";
import { runDirectly } from "../../support/direct.ts";

/** The start of a minute. */
const noon = 1_790_000_040_000;
const known = { accountId: "ann", spaceId: "north", credential: "key:k" };
const call = (n = 1, operation = "task.v2.TaskService/DeleteTask") => ({
  operation,
  requestId: `req_${n}`,
  address: "127.0.0.1",
});
const denied = { reason: "permission_denied" } as const;

/** Refusals written to a list instead of a store. */
function createList() {
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
    // Only this part of a transaction is used.
    const tx = { audit: { addRefusals: refuse } } as unknown as Tx;
    return work(tx);
  };
  const log: Log = (level, text, fields) => void lines.push(`${level} ${text} ${fields?.["count"]}`);
  const counter = refusals({ change }, clock, log);
  return { clock, written, lines, counter, setBroken: (now: boolean) => (broken = now) };
}

test("a minute's refusals of a credential and an operation are one row with their count, and the reason and request of the first one", async () => {
  const { clock, written, counter } = createList();
  counter.note(call(1), known, denied);
  clock.pass(20_000);
  counter.note(call(2), known, { reason: "rate_limited" });
  counter.note(call(3, "task.v2.TaskService/GetTask"), known, denied);
  counter.note(call(4), { ...known, credential: "key:other" }, denied);
  await counter.write();
  expect(written, "the minute is not over").toEqual([]);
  clock.set(noon + 60_000);
  counter.note(call(5), known, denied);
  await counter.write();
  expect(written.map(({ count, requestId, reason, at }) => [count, requestId, reason, at])).toEqual(
    expect.arrayContaining([
      [2, "req_1", "forbidden", noon],
      [1, "req_3", "forbidden", noon + 20_000],
      [1, "req_4", "forbidden", noon + 20_000],
    ]),
  );
  expect(written).toHaveLength(3);
  await counter.write(true);
  expect(written.slice(3).map(({ requestId, count }) => [requestId, count])).toEqual([["req_5", 1]]);
});

/**
 * The stored value of each reason in the audit log; `null`: no row. Rows and OCSF exports contain these
 * values: they never change.
 */
const storedValues: Readonly<Record<Reason, AuditReason | null>> = {
  invalid_argument: null,
  unauthenticated: "unauthenticated",
  permission_denied: "forbidden",
  insufficient_scope: "insufficient_scope",
  not_found: null,
  already_exists: null,
  idempotency_conflict: null,
  failed_precondition: null,
  rate_limited: "limited",
  resource_exhausted: null,
  too_large: null,
  deadline_exceeded: null,
  unsupported_media_type: null,
  method_not_allowed: null,
  unavailable: null,
  cancelled: null,
  unimplemented: null,
  internal: null,
};

test.each(
  Object.entries(storedValues),
)("a refusal with the reason %s is stored as %s", async (reason, word) => {
  const { written, counter } = createList();
  counter.note(call(), known, { reason: reason as Reason });
  await counter.write(true);
  expect(written.map((row) => row.reason)).toEqual(word === null ? [] : [word]);
});

test("refusals without a known credential are one line per minute in the process log, with their count", async () => {
  const { clock, written, lines, counter } = createList();
  for (let n = 0; n < 1_000; n += 1) counter.note(call(n), null, { reason: "unauthenticated" });
  await counter.write();
  expect(lines, "the minute is not over").toEqual([]);
  clock.pass(60_000);
  await counter.write();
  await counter.write();
  expect(lines).toEqual(["info calls without a known credential were refused 1000"]);
  expect(written).toEqual([]);
});

test("a flood costs a bounded number of rows; the excess is logged as a count", async () => {
  const { clock, written, lines, counter } = createList();
  for (let n = 0; n < 10_500; n += 1) counter.note(call(n), { ...known, credential: `key:${n}` }, denied);
  for (let n = 0; n < 50_000; n += 1) counter.note(call(n), known, denied);
  clock.pass(60_000);
  await counter.write();
  expect(written).toHaveLength(10_000);
  expect(lines).toEqual(["warn more refused calls than the audit log counts 50500"]);
});

test("rows that cannot be written are written later, together with refusals counted in the meantime", async () => {
  const { clock, written, counter, setBroken } = createList();
  counter.note(call(1), known, denied);
  setBroken(true);
  await expect(counter.write(true)).rejects.toThrow("gone");
  counter.note(call(2), known, denied);
  setBroken(false);
  clock.pass(60_000);
  await counter.write();
  expect(written.map(({ requestId, count }) => [requestId, count])).toEqual([["req_1", 2]]);
});

describeOnOne("refusals of several processes", (kind) => {
  test("are one row with the sum of their counts, sealed when processes no longer add to it", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = movableClock(noon);
    const lines: string[] = [];
    const processes = Array.from({ length: 3 }, () =>
      refusals(store, clock, (_, text) => void lines.push(text)),
    );
    const seal = () => sealer(store, clock)(new AbortController().signal);
    for (const [i, counter] of processes.entries())
      for (let n = 0; n <= i; n += 1) counter.note(call(10 * i + n), known, denied);
    // One process drains within the minute, the others write after its end.
    await processes[0]?.write(true);
    expect(await seal(), "the row may still change").toBe(0);
    clock.set(noon + 60_000);
    await Promise.all(processes.map((counter) => counter.write()));
    expect(
      await runDirectly(database, "SELECT outcome, reason, request_id, subject FROM audit_event"),
    ).toEqual([{ outcome: "refused", reason: "forbidden", request_id: "req_0", subject: null }]);
    expect(
      (await store.auditLog.list("north", {}, { order: "asc", limit: 9 })).map(({ count }) => count),
    ).toEqual([6]);
    expect(await seal(), "the row may still change").toBe(0);
    clock.set(noon + 70_000);
    expect(await seal()).toBe(1);
    expect(await checkChain(store)).toEqual({ fault: null, sealed: 1, unsealed: 0 });
  });

  test("that arrive after the row was sealed do not change it, and go to the process log", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = movableClock(noon);
    const lines: string[] = [];
    const [one, late] = [1, 2].map(() => refusals(store, clock, (_, text) => void lines.push(text)));
    one?.note(call(1), known, denied);
    late?.note(call(2), known, denied);
    clock.set(noon + 75_000);
    await one?.write();
    await sealer(store, clock)(new AbortController().signal);
    await late?.write();
    expect(await checkChain(store)).toEqual({ fault: null, sealed: 1, unsealed: 0 });
    expect(lines).toEqual(["refused calls arrived after their row of the audit log was sealed"]);
  });
});

test("a minute is settled ten seconds after its end", () => {
  expect(sealableBefore(noon + 69_999)).toBe(noon);
  expect(sealableBefore(noon + 70_000)).toBe(noon + 60_000);
});
