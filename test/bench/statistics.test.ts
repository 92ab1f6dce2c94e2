import { expect, test } from "vitest";
import { median, percentile, roundSignificant, spread } from "../../bench/statistics.ts";

const toHundred = Array.from({ length: 100 }, (_, index) => index + 1);

test("the median is the middle value, or the mean of the two in the middle, in any order", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([10, 1, 9, 2])).toBe(5.5);
  expect(median([])).toBe(0);
});

test("a percentile is a measured value with at most that share of the values below it", () => {
  expect(percentile(toHundred, 0.5)).toBe(51);
  expect(percentile(toHundred, 0.99)).toBe(100);
  expect(percentile([7], 0.99)).toBe(7);
});

test("the spread is the least and the greatest value", () => {
  expect(spread([0.9, 1.4, 0.7])).toEqual([0.7, 1.4]);
});

test("figures are rounded to three digits, small ones too", () => {
  expect([roundSignificant(12_345), roundSignificant(0.012345), roundSignificant(0)]).toEqual([
    12_300, 0.0123, 0,
  ]);
});
