import type { Clock } from "../clock.ts";
import { hourMs, type TimedJob } from "../processes/timed-job.ts";
import type { Store } from "../store.ts";

/** Pages of one step, and its longest time: the next step has half as many after a slower one. */
const pagesMax = 1_000;
const pagesMin = 10;
const stepMs = 200;

/**
 * Gives unused pages of the database's file back to the file system, in steps between which other changes
 * run.
 */
export async function shrink(
  store: Pick<Store, "shrink">,
  clock: Pick<Clock, "monotonic">,
  signal: AbortSignal,
): Promise<void> {
  for (let pages = pagesMax / 4, left = 1; left > 0 && !signal.aborted; ) {
    const startedAt = clock.monotonic();
    left = await store.shrink(pages);
    const took = clock.monotonic() - startedAt;
    pages = took > stepMs ? Math.max(pagesMin, Math.floor(pages / 2)) : Math.min(pagesMax, pages * 2);
  }
}

export const shrinkDatabase: TimedJob = {
  name: "shrink-database",
  every: hourMs,
  run: ({ store, clock }, signal) => shrink(store, clock, signal),
};
