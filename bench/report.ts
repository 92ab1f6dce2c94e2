import type { Sample } from "./load.ts";
import { median, quartiles, roundSignificant, spread } from "./statistics.ts";

/** A figure as `--json` prints it; more members compare with other contenders than the floor. */
export interface Line {
  readonly figure: string;
  /** Calls per second, or the figure's unit. */
  readonly ours: number;
  readonly floor: number;
  /** The median of ours / floor, round by round. */
  readonly ratio: number;
  /** The minimum and the maximum of these ratios. */
  readonly spread: readonly [least: number, greatest: number];
  /** Null if the figure has no times. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  /** The CPU time of the platform's process per call; per second in watch.sse.cpu. */
  readonly cpu_ms: number | null;
  readonly [more: string]: unknown;
}

/** The contenders' names and samples by round, in the same order. */
export interface Results {
  readonly names: readonly string[];
  readonly samples: readonly (readonly Sample[])[];
}

/** The line of a figure: ours is the first contender, the floor the second, the rest are others. */
export function createLine(
  figure: string,
  { names, samples }: Results,
  more: Readonly<Record<string, unknown>> = {},
): Line {
  const [ours = [], floor = [], ...others] = samples;
  const ratios = quotients(ours, floor, ({ perSecond }) => perSecond);
  return {
    figure,
    ours: middle(ours, ({ perSecond }) => perSecond),
    floor: middle(floor, ({ perSecond }) => perSecond),
    ...ratioOf(ratios),
    p50_ms: middle(ours, ({ p50 }) => p50),
    p99_ms: middle(ours, ({ p99 }) => p99),
    cpu_ms: middle(ours, ({ cpu }) => cpu),
    floor_name: names[1],
    p99_ratio: roundSignificant(median(quotients(ours, floor, ({ p99 }) => p99))),
    cpu_ratio: roundSignificant(median(quotients(ours, floor, ({ cpu }) => cpu))),
    cpu_quartiles: quartiles(quotients(ours, floor, ({ cpu }) => cpu)).map(roundSignificant),
    floor_p50_ms: middle(floor, ({ p50 }) => p50),
    floor_p99_ms: middle(floor, ({ p99 }) => p99),
    floor_cpu_ms: middle(floor, ({ cpu }) => cpu),
    ...(others.length === 0
      ? {}
      : { others: others.map((other, index) => comparison(names[index + 2] ?? "", ours, other)) }),
    ...more,
  };
}

/** The ratio and spread of a line, from the ratios of its rounds. */
export const ratioOf = (ratios: readonly number[]): Pick<Line, "ratio" | "spread"> => {
  const [least, greatest] = spread(ratios);
  return {
    ratio: roundSignificant(median(ratios)),
    spread: [roundSignificant(least), roundSignificant(greatest)],
  };
};

const comparison = (name: string, ours: readonly Sample[], other: readonly Sample[]) => ({
  name,
  per_second: middle(other, ({ perSecond }) => perSecond),
  ...ratioOf(quotients(ours, other, ({ perSecond }) => perSecond)),
  p50_ms: middle(other, ({ p50 }) => p50),
  cpu_ms: middle(other, ({ cpu }) => cpu),
});

const middle = (samples: readonly Sample[], pick: (sample: Sample) => number): number =>
  roundSignificant(median(samples.map(pick)));

/** The quotients by round, because the machine's load differs between rounds. */
const quotients = (
  above: readonly Sample[],
  below: readonly Sample[],
  pick: (sample: Sample) => number,
): number[] =>
  above.flatMap((sample, round) => {
    const other = below[round];
    return other ? [pick(sample) / pick(other)] : [];
  });

/** A line as text for people: its members, and below them the other contenders. */
export function formatLine({
  figure,
  others,
  ...members
}: Pick<Line, "figure"> & Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(members).map(([name, value]) => `${name} ${valueText(value)}`);
  const below = Array.isArray(others) ? others.map((other: object) => `\n    ${valueText(other)}`) : [];
  return `${figure}\n    ${texts.join("  ")}${below.join("")}`;
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(" – ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => (name === "name" ? `${member}:` : `${name} ${valueText(member)}`))
    .join("  ");
}
