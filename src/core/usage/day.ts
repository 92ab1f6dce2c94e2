import { invalid } from "../failure.ts";

const dayMs = 86_400_000;
const daysDefault = 30;
const daysMax = 366;

/** Days since 1970-01-01 in UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** When a day begins, Unix milliseconds. */
export const dayStart = (day: number): number => day * dayMs;

/** Days in UTC, both included. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** A range as it is asked for, Unix milliseconds. */
export interface WantedRange {
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/**
 * The days of a range; the last 30 where nothing is asked for (contract/v2.md 14.5).
 *
 * @throws Failure `invalid` for one that ends before it starts, or has more than 366 days.
 */
export function dayRange({ start, end }: WantedRange, now: number): DayRange {
  const to = dayOf(end ?? now);
  const from = start === undefined ? to - daysDefault + 1 : dayOf(start);
  if (start !== undefined && (end ?? now) < start) throw invalid("end_date", "must not be before start_date");
  if (to - from + 1 > daysMax) throw invalid("end_date", `must be within ${daysMax} days of start_date`);
  return { from, to };
}
