import { expect, test } from "vitest";
import type { Sample } from "../../bench/load.ts";
import { lineOf, textOf } from "../../bench/report.ts";

const at = (perSecond: number, p50 = 1, p99 = 2, cpu = 0.5): Sample => ({ perSecond, p50, p99, cpu });

const results = {
  names: ["ours", "bare", "peer"],
  samples: [
    [at(100, 4, 8, 0.4), at(300, 5, 9, 0.5), at(50, 6, 10, 0.6)],
    [at(200), at(100), at(100)],
    [at(10), at(10), at(10)],
  ],
};

test("a line has the members that readers of --json go by, and only numbers in them", () => {
  const { figure, ours, floor, ratio, spread, p50_ms, p99_ms, cpu_ms } = lineOf("task.create", results);
  expect({ figure, ours, floor, ratio, spread, p50_ms, p99_ms, cpu_ms }).toEqual({
    figure: "task.create",
    ours: 100,
    floor: 100,
    ratio: 0.5,
    spread: [0.5, 3],
    p50_ms: 5,
    p99_ms: 9,
    cpu_ms: 0.5,
  });
});

test("the ratio is the median of those of each round, not the ratio of the medians", () => {
  // By round 0.5, 3 and 0.5; the medians are equal.
  expect(lineOf("x", results).ratio).toBe(0.5);
});

test("others than the floor are compared with ours in the same rounds", () => {
  const [peer] = lineOf("x", results)["others"] as readonly unknown[];
  expect(peer).toEqual({ name: "peer", per_second: 10, ratio: 10, spread: [5, 30], p50_ms: 1, cpu_ms: 0.5 });
});

test("further members stand behind the named ones, and people read the same", () => {
  const line = lineOf("task.run", results, { alone_p50_ms: 12 });
  expect(line["alone_p50_ms"]).toBe(12);
  expect(textOf(line)).toContain("ratio 0.5  spread [0.5 – 3]");
  expect(textOf(line)).toContain("peer:  per_second 10");
});
