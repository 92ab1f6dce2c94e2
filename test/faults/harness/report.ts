import type { Outcome } from "./run.ts";

const titles: Readonly<Record<Outcome["setUp"], string>> = {
  sqlite: "SQLite, one process",
  postgresql: "PostgreSQL, three processes",
  failover: "PostgreSQL with a standby, three processes",
};

/** The report of a run as Markdown: the actions, their outcomes, and all violations. */
export function reportOf({
  setUp,
  seed,
  seconds,
  timeline,
  tally,
  starts,
  logged,
  skipped,
  violations,
}: Outcome): string {
  const sorted = starts.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return [
    `### ${titles[setUp]}: ${violations.length} violations`,
    "",
    `Seed \`${seed}\`, ${Math.round(seconds)} s. A process was ready ${at(0.5)} ms after its start (median of ${starts.length}; 95 %: ${at(0.95)} ms).`,
    "",
    ...table("Faults and their like", timeline.counts(), ["calm", "proof"]),
    ...table("Calls and what was acknowledged", tally),
    ...table("Logged by the servers", logged),
    ...skipped.map((what) => `**SKIPPED: ${what}.**\n`),
    ...violations.map(({ what }) => `- VIOLATION: ${what}`),
  ].join("\n");
}

function table(
  title: string,
  counts: ReadonlyMap<string, number>,
  without: readonly string[] = [],
): string[] {
  const rows = [...counts].filter(([what]) => !without.includes(what)).toSorted(([, a], [, b]) => b - a);
  if (rows.length === 0) return [];
  return [`| ${title} | |`, "| --- | ---: |", ...rows.map(([what, n]) => `| ${what} | ${n} |`), ""];
}

/** All details of violations, for the search for their cause. */
export function evidenceOf({ timeline, violations, seed }: Outcome): string {
  if (violations.length === 0) return "";
  const shown = violations.slice(0, 20).map(({ what, task }) => `${what}\n${JSON.stringify(task, null, 1)}`);
  return [`seed ${seed}`, ...shown, "What was done:", ...timeline.lines].join("\n");
}
