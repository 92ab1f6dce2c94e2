import type { Sample } from "./load.ts";
import { median, rounded, spread } from "./statistics.ts";

/** A figure as `--json` prints it; members beyond these compare with others than the floor. */
export interface Line {
  readonly figure: string;
  /** Calls per second, or the unit that the figure's name says. */
  readonly ours: number;
  readonly floor: number;
  /** The median of ours / floor, round by round. */
  readonly ratio: number;
  /** The least and the greatest of these. */
  readonly spread: readonly [least: number, greatest: number];
  /** Null where the figure is no time. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  /** Of our process, a call; a second in watch.sse.cpu. */
  readonly cpu_ms: number | null;
  readonly [more: string]: unknown;
}

/** Contenders' samples by round, in one order. */
export interface Results {
  readonly names: readonly string[];
  readonly samples: readonly (readonly Sample[])[];
}

/** A line of ours, the first contender, the floor, which is the second, and what others there are. */
export function lineOf(figure: string, { names, samples }: Results, more: Readonly<Record<string, unknown>> = {}): Line {
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
    p99_ratio: rounded(median(quotients(ours, floor, ({ p99 }) => p99))),
    cpu_ratio: rounded(median(quotients(ours, floor, ({ cpu }) => cpu))),
    floor_p50_ms: middle(floor, ({ p50 }) => p50),
    floor_p99_ms: middle(floor, ({ p99 }) => p99),
    floor_cpu_ms: middle(floor, ({ cpu }) => cpu),
    ...(others.length === 0 ? {} : { others: others.map((other, index) => against(names[index + 2] ?? "", ours, other)) }),
    ...more,
  };
}

/** The ratio and spread of a line, from those of its rounds. */
export const ratioOf = (ratios: readonly number[]): Pick<Line, "ratio" | "spread"> => {
  const [least, greatest] = spread(ratios);
  return { ratio: rounded(median(ratios)), spread: [rounded(least), rounded(greatest)] };
};

const against = (name: string, ours: readonly Sample[], other: readonly Sample[]) => ({
  name,
  per_second: middle(other, ({ perSecond }) => perSecond),
  ...ratioOf(quotients(ours, other, ({ perSecond }) => perSecond)),
  p50_ms: middle(other, ({ p50 }) => p50),
  cpu_ms: middle(other, ({ cpu }) => cpu),
});

const middle = (samples: readonly Sample[], pick: (sample: Sample) => number): number => rounded(median(samples.map(pick)));

/** Round by round, because the machine is not the same in each. */
const quotients = (above: readonly Sample[], below: readonly Sample[], pick: (sample: Sample) => number): number[] =>
  above.flatMap((sample, round) => {
    const other = below[round];
    return other ? [pick(sample) / pick(other)] : [];
  });

/** A line for people: a member after the other, the others below. */
export function textOf({ figure, others, ...members }: Pick<Line, "figure"> & Readonly<Record<string, unknown>>): string {
  const words = Object.entries(members).map(([name, value]) => `${name} ${wordOf(value)}`);
  const below = Array.isArray(others) ? others.map((other: object) => `\n    ${wordOf(other)}`) : [];
  return `${figure}\n    ${words.join("  ")}${below.join("")}`;
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(" – ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => (name === "name" ? `${member}:` : `${name} ${wordOf(member)}`))
    .join("  ");
}
