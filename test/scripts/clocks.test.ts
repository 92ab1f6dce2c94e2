import { expect, test } from "vitest";
import { isOwnTime, ownClocks } from "../../scripts/check/clocks.ts";
import { root } from "../support/server-process.ts";

test("all of src reads the time from one clock, apart from the files with a reason", () => {
  expect(ownClocks(root)).toEqual([]);
});

test.each([
  "const at = Date.now();",
  "const at = new Date();",
  "setTimeout(work, 5);",
  "const timer = setInterval(sweep, 5).unref();",
  'import { setTimeout as sleep } from "node:timers/promises";',
  "fetch(url, { signal: AbortSignal.timeout(5) })",
  "const start = performance.now();",
  "sql`UPDATE task SET updated_at = now() WHERE id = 1`",
  "sql`SELECT unixepoch('subsec')`",
  "created_at DATETIME DEFAULT CURRENT_TIMESTAMP",
])("%s makes its own time", (line) => {
  expect(isOwnTime(line)).toBe(true);
});

test.each([
  "const at = clock.now();",
  "const day = new Date(at);",
  "session.setTimeout(pingMs);",
  'import { setImmediate as turn } from "node:timers/promises";',
  "await tx.idempotency.claim(key, hash, now());",
  "  /** As Date.now() of the machine. */",
])("%s has not", (line) => {
  expect(isOwnTime(line)).toBe(false);
});
