import { describe, expect, test } from "vitest";
import { stepUlid } from "../../src/runtime/exports/steps.ts";

const place = { taskId: "Vn8Qd2LkTz5hXw3BsRmYpC", seq: 7, timestamp: 1_932_969_600_120, part: 0 };

describe("the ULID of a step", () => {
  test("has the standard form: 26 symbols of Crockford's alphabet, with the time in the first ten", () => {
    // The specification's example of a time.
    expect(stepUlid({ ...place, timestamp: 1_469_918_176_385 })).toMatch(
      /^01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}$/,
    );
    expect(stepUlid({ ...place, timestamp: 2 ** 48 - 1 })).toMatch(/^7ZZZZZZZZZ/);
    expect(stepUlid({ ...place, timestamp: 0 })).toMatch(/^0000000000/);
  });

  test("never changes for the same step", () => {
    expect(stepUlid(place)).toBe(stepUlid({ ...place }));
    expect(stepUlid(place)).toBe("01R86ZES3R000001R0183QFZZX");
  });

  test.each([
    ["task", { taskId: "Vn8Qd2LkTz5hXw3BsRmYpD" }],
    ["event", { seq: 8 }],
    ["part of the event", { part: 1 }],
    ["time", { timestamp: place.timestamp + 1 }],
  ])("differs for another %s", (_, other) => {
    expect(stepUlid({ ...place, ...other })).not.toBe(stepUlid(place));
  });

  test("follows the order of a task's steps, also within a millisecond", () => {
    const places = [1, 2, 255, 256, 2 ** 31 - 1].flatMap((seq) =>
      [0, 1].map((part) => ({ ...place, seq, part })),
    );
    const ids = places.map(stepUlid);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
