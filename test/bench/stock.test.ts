import { expect, test } from "vitest";
import { stock } from "../../bench/figures/stock.ts";

test("a stock is filled by what is missing, no more than two thousand at a time, and gives the oldest first", async () => {
  const asked: number[] = [];
  let made = 0;
  const { take, put, fill } = stock(5_000, async (count) => {
    asked.push(count);
    return Array.from({ length: count }, () => made++);
  });
  await fill();
  expect(asked).toEqual([2_000, 2_000, 1_000]);
  expect([take(), take()]).toEqual([0, 1]);
  put(0);
  await fill();
  expect(asked).toEqual([2_000, 2_000, 1_000, 1]);
});

test("a stock that is used up ends the measurement", async () => {
  const { take, fill } = stock(1, async () => ["a code"]);
  await fill();
  take();
  expect(take).toThrow("not enough");
});
