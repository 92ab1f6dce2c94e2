import assert from "node:assert/strict";
import { parse } from "csv-parse/sync";
import { defineTask } from "../support/task.ts";
import { clean, open, regions } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ files }) {
    const rows = parse(files.get("clean.csv") ?? "");
    assert.deepEqual(rows, [["order", "date", "region", "amount"], ...clean]);
    const chart = files.get("chart.svg")?.toString() ?? "";
    assert.match(chart, /<svg[\s\S]*<\/svg>/, "the chart is not an SVG");
    for (const region of regions) assert.ok(chart.includes(region), `the chart has no label ${region}`);
    const bars = chart.match(/<(rect|path|polygon)\b/g) ?? [];
    assert.ok(bars.length >= regions.length, "the chart has no bars");
  },
});
