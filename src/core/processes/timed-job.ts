import type { Clock } from "../clock.ts";
import type { Store, Tx } from "../store.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** What every timed job gets. */
export interface JobNeeds {
  readonly store: Store;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly config: { deletedTaskDays: number; webhookLogDays: number };
}

/** Work that repeats on a timer. Each noun declares its own, and `jobs/all.ts` collects them. */
export interface TimedJob<Needs extends JobNeeds = JobNeeds> {
  /** Verb and noun. It names the job in the log, and is the label `kind` of its metrics. */
  readonly name: string;
  /** Milliseconds between two runs. */
  readonly every: number;
  /** One process of the installation does it in each interval. Without it every process does. */
  readonly once?: true;
  /** Ends soon after `signal` is aborted. An error is logged, and the job runs again within a second. */
  run(needs: Needs, signal: AbortSignal): Promise<unknown>;
}

/** Deletes each hour, in one change of one process, rows that nothing needs. */
export const purging = (
  name: string,
  purge: (tx: Tx, now: number, config: JobNeeds["config"]) => Promise<unknown>,
): TimedJob => ({
  name,
  every: hourMs,
  once: true,
  run: ({ store, clock, config }) => store.change((tx) => purge(tx, clock.now(), config)),
});

/**
 * The same in changes of at most `max` rows, so that other changes are not blocked. `purge` returns the
 * number of its rows.
 */
export const purgingInBatches = (
  name: string,
  max: number,
  purge: (tx: Tx, now: number, max: number, config: JobNeeds["config"]) => Promise<number>,
): TimedJob => ({
  name,
  every: hourMs,
  once: true,
  run: ({ store, clock, config }, signal) =>
    inBatches(store, signal, max, (tx) => purge(tx, clock.now(), max, config)),
});

/** Runs one change for each batch until a batch has fewer than `max` rows. */
export async function inBatches(
  store: Pick<Store, "change">,
  signal: AbortSignal,
  max: number,
  work: (tx: Tx) => Promise<number>,
): Promise<void> {
  while ((await store.change(work)) === max) if (signal.aborted) return;
}
