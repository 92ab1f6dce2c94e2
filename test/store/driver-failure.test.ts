import { expect, test } from "vitest";
import { Failure } from "../../src/core/failure.ts";
import { driverFailure, isBusy, maxRetries } from "../../src/store/driver-failure.ts";
import { ProgrammingError } from "../../src/store/statements.ts";

/** An error as Prisma throws it: its own code, and the adapter's cause. */
const prisma = (code: string | undefined, cause?: { kind: string; originalCode?: string }) =>
  Object.assign(new Error(`statement and rows`), {
    name: "PrismaClientKnownRequestError",
    code,
    meta: cause && { driverAdapterError: { cause } },
  });

const adapter = (kind: string, originalCode?: string) =>
  Object.assign(new Error("statement and rows"), {
    name: "DriverAdapterError",
    cause: { kind, originalCode },
  });

test.each([
  { why: "a write conflict of a model's method", thrown: prisma("P2034"), again: 10, reason: "unavailable" },
  {
    why: "a deadlock of a raw statement",
    thrown: prisma("P2010", { kind: "TransactionWriteConflict", originalCode: "40P01" }),
    again: 10,
    reason: "unavailable",
  },
  {
    why: "a serialization failure",
    thrown: prisma("P2010", { kind: "postgres", originalCode: "40001" }),
    again: 10,
    reason: "unavailable",
  },
  {
    why: "a unique race",
    thrown: prisma("P2002", { kind: "UniqueConstraintViolation" }),
    again: 2,
    reason: "internal",
  },
  {
    why: "a unique race of a raw statement",
    thrown: prisma("P2010", { kind: "UniqueConstraintViolation" }),
    again: 2,
    reason: "internal",
  },
  {
    why: "SQLite's lock held by another process",
    thrown: prisma("P1008", { kind: "SocketTimeout", originalCode: "SQLITE_BUSY" }),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "the same of a raw statement",
    thrown: adapter("SocketTimeout", "SQLITE_BUSY"),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "an unreachable database",
    thrown: prisma("P1001", { kind: "DatabaseNotReachable" }),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "a database that shuts down",
    thrown: prisma("P2010", { kind: "postgres", originalCode: "57P01" }),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "PostgreSQL cannot read or write its files",
    thrown: prisma("P2010", { kind: "postgres", originalCode: "58030" }),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "no connection left",
    thrown: prisma("P2037", { kind: "TooManyConnections", originalCode: "53300" }),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "PostgreSQL's full disk",
    thrown: prisma("P2010", { kind: "postgres", originalCode: "53100" }),
    again: 0,
    reason: "unavailable",
  },
  {
    why: "SQLite's full disk",
    thrown: prisma("P2010", { kind: "sqlite", originalCode: "SQLITE_FULL" }),
    again: 0,
    reason: "unavailable",
  },
  { why: "no transaction in time", thrown: prisma("P2028"), again: 0, reason: "unavailable" },
  {
    why: "a mistake in SQL",
    thrown: prisma("P2010", { kind: "postgres", originalCode: "42601" }),
    again: 0,
    reason: "internal",
  },
  {
    why: "a pool's own error",
    thrown: new Error("timeout exceeded when trying to connect"),
    again: 0,
    reason: "unavailable",
  },
])("$why is tried again $again times, then $reason, without its text", ({ thrown, again, reason }) => {
  expect(maxRetries(thrown)).toBe(again);
  const failure = driverFailure(thrown);
  expect(failure).toMatchObject({ name: "Failure", reason, cause: thrown });
  expect((failure as Failure).message).not.toContain(thrown.message);
});

test.each<readonly [string, unknown, unknown?]>([
  ["a refusal", new Failure("not_found", "task not found")],
  ["a mistake in our own calls", new ProgrammingError("outside a change")],
  ...[new TypeError("mine"), "a string", undefined, null].map(
    (thrownByCaller): [string, unknown, unknown] => [
      `what the caller threw (${String(thrownByCaller)})`,
      thrownByCaller,
      thrownByCaller,
    ],
  ),
])("%s stays as it is", (_, thrown, ofCaller) => {
  expect(driverFailure(thrown, ofCaller)).toBe(thrown);
  expect(maxRetries(thrown)).toBe(0);
});

test("a driver's error that passed through the caller is not the caller's", () => {
  const broken = Object.assign(new Error("Client has encountered a connection error"), {
    clientVersion: "7",
  });
  expect(driverFailure(broken, broken)).toMatchObject({ reason: "unavailable" });
  const failed = prisma("P2002");
  expect(driverFailure(failed, failed)).toMatchObject({ reason: "internal" });
});

test("only SQLite's lock error counts as busy", () => {
  expect(isBusy(adapter("SocketTimeout"))).toBe(true);
  expect([adapter("sqlite"), new Error("database is locked"), undefined].map(isBusy)).toEqual([
    false,
    false,
    false,
  ]);
});
