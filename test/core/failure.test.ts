import { expect, test } from "vitest";
import { causeText, Failure, rootCause } from "../../src/core/failure.ts";

const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
const databaseError = { kind: "postgres", originalCode: "53100", originalMessage: "could not extend file" };

test.each<readonly [string, unknown, string | null, string]>([
  [
    "the innermost of several",
    new Failure("unavailable", "try again", { cause: new Error("failed", { cause: full }) }),
    "SQLITE_FULL",
    full.message,
  ],
  [
    "the cause of a driver adapter",
    Object.assign(new Error("x"), { name: "DriverAdapterError", cause: databaseError }),
    "53100",
    databaseError.originalMessage,
  ],
  [
    "the cause in Prisma's metadata",
    Object.assign(new Error("x"), { code: "P2010", meta: { driverAdapterError: { cause: databaseError } } }),
    "53100",
    databaseError.originalMessage,
  ],
  [
    "an unreachable database",
    { kind: "DatabaseNotReachable", host: "db", port: 5432 },
    "DatabaseNotReachable",
    "db:5432",
  ],
  [
    "the first of several errors in an aggregate",
    new AggregateError([full, new Error("other")]),
    "SQLITE_FULL",
    full.message,
  ],
  ["an error without a code", new Error("two\n  lines"), null, "two lines"],
  ["a text", "gone", null, "gone"],
  ["nothing", undefined, null, "undefined"],
])("root cause: %s", (_, thrown, code, text) => {
  expect(rootCause(thrown)).toEqual({ code, text });
});

test("the search for a root cause ends, also in a cycle, and its text is short", () => {
  const thrown = new Error("x".repeat(1000));
  thrown.cause = thrown;
  expect(rootCause(thrown).text).toBe("x".repeat(300));
});

test("the cause text contains the code, unless the message contains it already", () => {
  expect(causeText(full)).toBe("SQLITE_FULL: database or disk is full");
  expect(causeText(Object.assign(new Error("connect ECONNREFUSED ::1:5432"), { code: "ECONNREFUSED" }))).toBe(
    "connect ECONNREFUSED ::1:5432",
  );
  expect(causeText({ kind: "ConnectionClosed" })).toBe("ConnectionClosed");
});
