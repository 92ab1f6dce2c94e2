import { expect, test } from "vitest";
import { idsFrom, isShortId, pooled } from "../../src/core/ids.ts";

/** A source of the bytes 1, 2, 3 and so on, which records how many were requested. */
function counting() {
  const asked: number[] = [];
  let next = 0;
  const random = (bytes: number) => {
    asked.push(bytes);
    return Uint8Array.from({ length: bytes }, () => ++next);
  };
  return { asked, random };
}

test("a pool gives each byte of its source at most once, and asks for many at a time", () => {
  const { asked, random } = counting();
  const take = pooled(random, 10);
  expect([take(4), take(4), take(4), take(6)].map((bytes) => [...bytes])).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    // The two bytes that were left are too few.
    [11, 12, 13, 14],
    [15, 16, 17, 18, 19, 20],
  ]);
  expect(asked).toEqual([10, 10]);
});

test("a pool asks its source for more bytes than it holds", () => {
  const { asked, random } = counting();
  expect([...pooled(random, 4)(6)]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(asked).toEqual([6]);
});

test("bytes that were taken from a pool stay as they are", () => {
  const take = pooled(counting().random, 8);
  const first = take(4);
  take(4);
  take(8);
  expect([...first]).toEqual([1, 2, 3, 4]);
});

test("ids from a pool are different short ids", () => {
  const ids = idsFrom(pooled((bytes) => crypto.getRandomValues(new Uint8Array(bytes)), 64));
  const made = Array.from({ length: 1_000 }, () => ids.short());
  expect(new Set(made).size).toBe(made.length);
  expect(made.every(isShortId)).toBe(true);
});
