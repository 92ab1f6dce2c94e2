import { describe, expect, test } from "vitest";
import { requestReader } from "../../src/http/request.ts";
import { growthOf, linearGrowth } from "../support/growth.ts";

const read = requestReader(() => "req_1", null);
const isStrict = (prefer: string): boolean =>
  read({ headers: { prefer }, socket: { remoteAddress: "192.0.2.1" } }).isStrict;

describe("the Prefer header", () => {
  test.each([
    ["handling=strict", true],
    [' HANDLING = "Strict" ; note="a;b", handling=lenient', true],
    ["respond-async, handling=strict", true],
    ["handling, handling=strict", true],
    ["handling=lenient, handling=strict", false],
    ['note="a, handling=strict"', false],
    ['note="a\\", handling=strict"', false],
    ['note="without an end, handling=strict', false],
    ["handling=strict=strict", true],
    ["handling=stricter", false],
    ["", false],
  ])("%j requests strict handling: %s", (prefer, strict) => {
    expect(isStrict(prefer)).toBe(strict);
  });

  // A head over HTTP/2 may have 64 KiB, and is read before the credential is checked.
  test.each([
    ["escaped quotes without an end", (size: number) => `"${'\\"'.repeat(size)}`],
    ["quotes and backslashes", (size: number) => '"\\'.repeat(size)],
    ["blanks after a value", (size: number) => `handling=${" ".repeat(size)}!`],
    ["commas", (size: number) => ",".repeat(size)],
  ])("is read in time proportional to its length: %s", async (_what, of) => {
    expect(await growthOf((size) => isStrict(of(size)), 500)).toBeLessThan(linearGrowth);
  });
});
