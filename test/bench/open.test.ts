import { expect, test } from "vitest";
import { plannedTimes } from "../../bench/open.ts";
import { openLoop } from "../../bench/open-loop.ts";

test("planned times are the same for a rate, in order, and as many as the rate says", () => {
  const times = plannedTimes({ rate: 200, seconds: 20 });
  expect(plannedTimes({ rate: 200, seconds: 20 })).toEqual(times);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.length / 20).toBeGreaterThan(180);
  expect(times.length / 20).toBeLessThan(220);
});

test("the time of a call counts from its planned time, also when the caller was late", async () => {
  const elapsed: number[] = [];
  const { unanswered, latestMs } = await openLoop([0, 1, 2], async (index, elapsedMs) => {
    // The first call keeps the caller busy, so the others begin late.
    const startedAt = performance.now();
    while (index === 0 && performance.now() - startedAt < 50);
    elapsed.push(elapsedMs());
  });
  expect(unanswered).toBe(0);
  expect(elapsed.every((ms) => ms >= 40)).toBe(true);
  expect(latestMs).toBeGreaterThanOrEqual(40);
});
