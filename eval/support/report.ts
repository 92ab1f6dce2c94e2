import { readFile, writeFile } from "node:fs/promises";
import type { Result } from "./run.ts";
import type { EvalTask } from "./task.ts";

/** The runs of one task; none: the task needs what this release does not have. */
export interface Row {
  readonly task: EvalTask;
  readonly results: readonly Result[];
}

const place = new URL("../../docs/internals/agent-quality.md", import.meta.url);
const head =
  "| Task | Passed | Steps | Input tokens | Cached | Output tokens | Credits | Minutes |\n| --- | --- | --- | --- | --- | --- | --- | --- |";

/** A report of Markdown: a row for each task, with means over its runs. */
export function reportOf(model: string, rows: readonly Row[], now = new Date()): string {
  const all = rows.flatMap(({ results }) => results);
  const missing = rows.filter(({ results }) => results.length === 0);
  return [
    `### ${model}, ${now.toISOString().slice(0, 10)}\n`,
    head,
    ...rows.map(({ task, results }) =>
      results.length === 0
        ? `| ${task.name} | not run: needs ${task.needs} | | | | | | |`
        : line(task.name, results),
    ),
    line("all", all),
    ...(missing.length === 0 ? [] : [`\n${missing.length} of ${rows.length} tasks were not run.`]),
    "",
  ].join("\n");
}

function line(name: string, results: readonly Result[]): string {
  const sum = (value: (result: Result) => number) =>
    results.reduce((total, result) => total + value(result), 0);
  const mean = (value: (result: Result) => number, digits = 0) =>
    (sum(value) / Math.max(1, results.length)).toFixed(digits);
  const cached =
    sum(({ cachedTokens }) => cachedTokens) /
    Math.max(
      1,
      sum(({ inputTokens }) => inputTokens),
    );
  const cells = [
    `${results.filter(({ fault }) => fault === null).length} of ${results.length}`,
    mean(({ steps }) => steps),
    mean(({ inputTokens }) => inputTokens),
    `${Math.round(cached * 100)} %`,
    mean(({ outputTokens }) => outputTokens),
    mean(({ credits }) => credits),
    mean(({ minutes }) => minutes, 1),
  ];
  return `| ${name} | ${cells.join(" | ")} |`;
}

/** Writes a report into the page, instead of an earlier one of the same model. */
export async function keepReport(model: string, report: string): Promise<void> {
  const [text = "", ...sections] = (await readFile(place, "utf8")).split(/^(?=### )/m);
  const others = sections.filter((section) => !section.startsWith(`### ${model}, `));
  await writeFile(place, [text, report, ...others].join("\n").replace(/\n{3,}/g, "\n\n"));
}
