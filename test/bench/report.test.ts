import { expect, test } from "vitest";
import type { Sample } from "../../bench/load.ts";
import { createLine, formatLine } from "../../bench/report.ts";

const at = (perSecond: number, p50 = 1, p99 = 2, cpu = 0.5): Sample => ({ perSecond, p50, p99, cpu });

const results = {
  names: ["ours", "bare", "peer"],
  samples: [
    [at(100, 4, 8, 0.4), at(300, 5, 9, 0.5), at(50, 6, 10, 0.6)],
    [at(200), at(100), at(100)],
    [at(10), at(10), at(10)],
  ],
};

test("a line has the members that readers of --json use, with only numbers in them", () => {
  const { figure, ours, floor, ratio, spread, p50_ms, p99_ms, cpu_ms, cpu_quartiles } = createLine(
    "task.create",
    results,
  );
  expect({ figure, ours, floor, ratio, spread, p50_ms, p99_ms, cpu_ms, cpu_quartiles }).toEqual({
    figure: "task.create",
    ours: 100,
    floor: 100,
    ratio: 0.5,
    spread: [0.5, 3],
    p50_ms: 5,
    p99_ms: 9,
    cpu_ms: 0.5,
    cpu_quartiles: [0.8, 1.2],
  });
});

test("the ratio is the median of the ratios of each round, not the ratio of the medians", () => {
  // By round 0.5, 3 and 0.5; the medians are equal.
  expect(createLine("x", results).ratio).toBe(0.5);
});

test("contenders other than the floor are compared with this service in the same rounds", () => {
  const [peer] = createLine("x", results)["others"] as readonly unknown[];
  expect(peer).toEqual({ name: "peer", per_second: 10, ratio: 10, spread: [5, 30], p50_ms: 1, cpu_ms: 0.5 });
});

test("further members follow the named ones, and the text output is unchanged", () => {
  const line = createLine("task.run", results, { alone_p50_ms: 12 });
  expect(line["alone_p50_ms"]).toBe(12);
  expect(formatLine(line)).toContain("ratio 0.5  spread [0.5 – 3]");
  expect(formatLine(line)).toContain("peer:  per_second 10");
});
