import { expect, test } from "vitest";
import { repeats } from "../src/core/repeats.ts";
import { movableClock } from "./support/clock.ts";

function counted() {
  const clock = movableClock();
  const lines: string[] = [];
  const counts = repeats((level, text) => void lines.push(`${level} ${text}`), clock.monotonic);
  return { clock, lines, counts };
}

const full = { level: "warn", text: "the disk is full" } as const;

test("a condition is logged at once, then at most once a minute with its count, and once when it is over", () => {
  const { clock, lines, counts } = counted();
  for (let look = 0; look < 13; look += 1) {
    counts.again("disk", full);
    clock.pass(10_000);
  }
  counts.over("disk");
  counts.over("disk");
  expect(lines).toEqual([
    "warn the disk is full",
    "warn the disk is full (repeated 6 times in the last 60 s)",
    "warn the disk is full (repeated 6 times in the last 60 s)",
    "info over: the disk is full (13 times in 130 s)",
  ]);
});

test("conditions with different keys are counted apart, and the count has the latest text", () => {
  const { clock, lines, counts } = counted();
  counts.again("a", full);
  counts.again("b", full);
  clock.pass(60_000);
  counts.again("a", { ...full, text: "the disk is still full" });
  expect(lines.slice(2)).toEqual(["warn the disk is still full (repeated once in the last 60 s)"]);
});

test("a line without repetitions in a minute ends by itself, with a line only if it was repeated", () => {
  const { clock, lines, counts } = counted();
  counts.again("once", full);
  counts.again("twice", full);
  counts.again("twice", full);
  for (let minute = 0; minute < 3; minute += 1) {
    clock.pass(60_000);
    counts.sweep();
  }
  expect(lines.slice(2)).toEqual([
    "warn the disk is full (repeated once in the last 60 s)",
    "info over: the disk is full (2 times in 120 s)",
  ]);
  expect(counts.size()).toBe(0);
});

test("at most 200 lines are counted", () => {
  const { counts } = counted();
  for (let key = 0; key < 1_000; key += 1) counts.again(String(key), full);
  expect(counts.size()).toBe(200);
});
