import { expect, test } from "vitest";
import { Failure } from "../../src/core/failure.ts";
import { causeText, rootCause } from "../../src/core/root-cause.ts";

const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
const said = { kind: "postgres", originalCode: "53100", originalMessage: "could not extend file" };

test.each<readonly [string, unknown, string | null, string]>([
  [
    "the innermost of several",
    new Failure("unavailable", "try again", { cause: new Error("failed", { cause: full }) }),
    "SQLITE_FULL",
    full.message,
  ],
  ["what a driver adapter says", Object.assign(new Error("x"), { name: "DriverAdapterError", cause: said }), "53100", said.originalMessage],
  [
    "what Prisma has of it",
    Object.assign(new Error("x"), { code: "P2010", meta: { driverAdapterError: { cause: said } } }),
    "53100",
    said.originalMessage,
  ],
  ["a database that is not reached", { kind: "DatabaseNotReachable", host: "db", port: 5432 }, "DatabaseNotReachable", "db:5432"],
  ["the first of several that came together", new AggregateError([full, new Error("other")]), "SQLITE_FULL", full.message],
  ["an error without a code", new Error("two\n  lines"), null, "two lines"],
  ["a text", "gone", null, "gone"],
  ["nothing", undefined, null, "undefined"],
])("is found: %s", (_, thrown, code, text) => {
  expect(rootCause(thrown)).toEqual({ code, text });
});

test("ends somewhere, also where an error is its own cause, and is short", () => {
  const thrown = new Error("x".repeat(1000));
  thrown.cause = thrown;
  expect(rootCause(thrown).text).toBe("x".repeat(300));
});

test("is told with its code, unless its text has that already", () => {
  expect(causeText(full)).toBe("SQLITE_FULL: database or disk is full");
  expect(causeText(Object.assign(new Error("connect ECONNREFUSED ::1:5432"), { code: "ECONNREFUSED" }))).toBe(
    "connect ECONNREFUSED ::1:5432",
  );
  expect(causeText({ kind: "ConnectionClosed" })).toBe("ConnectionClosed");
});
