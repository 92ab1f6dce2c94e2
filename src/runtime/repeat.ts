import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";

/**
 * Does `work` now and again `ms` after each time it ended, until the signal is
 * aborted. What it throws is logged: the next round is the retry.
 */
export async function repeat(clock: Clock, ms: number, signal: AbortSignal, log: Log, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work().catch((cause: unknown) => log("error", `${work.name} failed`, { cause }));
    await clock.sleep(ms, signal).catch(() => undefined);
  }
}
