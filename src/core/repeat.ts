import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";

/** A round that failed is tried again after this at the latest. */
const retryMs = 1_000;

/**
 * Does `work` now and again `ms` after each time it ended, until the signal is
 * aborted. What it throws is logged under the function's name: the next round is
 * the retry, and nothing ends the rounds.
 */
export async function repeat(clock: Clock, ms: number, signal: AbortSignal, log: Log, work: () => Promise<void>): Promise<void> {
  const round = () =>
    work().then(
      () => ms,
      (cause: unknown) => {
        log("error", `${work.name || "a repeated work"} failed`, { cause });
        return Math.min(ms, retryMs);
      },
    );
  while (!signal.aborted) {
    const pause = await round();
    await clock.sleep(pause, signal).catch(() => undefined);
  }
}

/** Runs pieces of work one after the other, whatever becomes of each. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}
