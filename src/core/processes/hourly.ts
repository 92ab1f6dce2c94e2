import { Failure } from "../failure.ts";
import type { RateCounters } from "./shared.ts";

/**
 * Counts one event of this hour, over all nodes.
 *
 * @param key at most `max` events of it are allowed in an hour of the clock.
 * @param refusal what there were too many of, for the caller.
 * @returns the minute under which it is counted: the last one of the hour.
 * @throws Failure `rate_limited`
 */
export async function countThisHour(
  counters: RateCounters,
  now: number,
  { key, max, refusal }: { key: string; max: number; refusal: string },
): Promise<number> {
  const minute = Math.floor(now / 3_600_000) * 60 + 59;
  const { granted } = await counters.take(key, minute, 1, max);
  const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
  if (granted === 0) throw new Failure("rate_limited", refusal, { retryAfter });
  return minute;
}
