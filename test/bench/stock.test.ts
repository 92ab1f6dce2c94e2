import { expect, test } from "vitest";
import { stock } from "../../bench/figures/stock.ts";

test("a stock is filled up to its size, at most two thousand at a time, and returns the oldest first", async () => {
  const requestedCounts: number[] = [];
  let made = 0;
  const { take, put, fill } = stock(5_000, async (count) => {
    requestedCounts.push(count);
    return Array.from({ length: count }, () => made++);
  });
  await fill();
  expect(requestedCounts).toEqual([2_000, 2_000, 1_000]);
  expect([take(), take()]).toEqual([0, 1]);
  put(0);
  await fill();
  expect(requestedCounts).toEqual([2_000, 2_000, 1_000, 1]);
});

test("an empty stock ends the measurement", async () => {
  const { take, fill } = stock(1, async () => ["a code"]);
  await fill();
  take();
  expect(take).toThrow("not enough");
});
