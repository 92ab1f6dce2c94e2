import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Feed } from "../core/store.ts";
import type { Lease } from "./lease.ts";
import type { Runs } from "./runs.ts";

/** A process that is not in turn looks this much later, if the one in turn has no room or has ended. */
const lookMs = 250;

export interface WakeParts {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly log: Log;
  readonly runs: Pick<Runs, "wake" | "look" | "hasCapacity">;
  readonly lease: Pick<Lease, "isInTurn">;
}

/**
 * Wakes the runs of this process after a change that a task waits for a run: at once if the process is in
 * turn, and otherwise a little later. A process without capacity looks as soon as a run ends. Returns a
 * function that stops it.
 */
export function startWakes({ feed, clock, log, runs, lease }: WakeParts): () => Promise<void> {
  const stopping = new AbortController();
  const failed = (cause: unknown) => log("error", "claiming failed", { cause });
  let waking: Promise<unknown> = Promise.resolve();
  let looking: Promise<void> | null = null;

  async function lookLater(): Promise<void> {
    await clock.sleep(lookMs, stopping.signal).catch(() => undefined);
    looking = null;
    if (!stopping.signal.aborted && runs.hasCapacity()) await runs.look().catch(failed);
  }

  const unsubscribe = feed.onJob((kind, turns) => {
    if (kind !== "run" || !runs.hasCapacity()) return;
    if (lease.isInTurn(turns)) waking = runs.wake().catch(failed);
    else looking ??= lookLater();
  });

  return async () => {
    unsubscribe();
    stopping.abort();
    await Promise.all([waking, looking]);
  };
}
