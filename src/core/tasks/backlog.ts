import { Failure } from "../failure.ts";
import type { JobNeeds, TimedJob } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";

/** The number of tasks that wait for a runner. It limits them without holding a task in memory. */
export interface Backlog {
  /** Counts one more task. @throws Failure `unavailable` when `max` tasks wait already. */
  add(): void;
  /**
   * Counts the waiting tasks in the database. Until the next count, every task that entered here is assumed
   * to wait.
   */
  count(): Promise<void>;
}

/** A count costs a scan, so it runs every second instead of with every call. */
export const countEveryMs = 1_000;

export function backlog(store: Tx, max: number): Backlog {
  let waiting = 0;
  return {
    add() {
      if (waiting >= max)
        throw new Failure("unavailable", `the server is busy: ${max} tasks already wait for a runner`, {
          retryAfter: countEveryMs / 1_000,
        });
      waiting += 1;
    },
    async count() {
      waiting = await store.tasks.countUnowned(max);
    },
  };
}

/** Counts the waiting tasks, in every process. */
export const countWaiting: TimedJob<JobNeeds & { backlog: Pick<Backlog, "count"> }> = {
  name: "count-waiting-tasks",
  every: countEveryMs,
  run: ({ backlog }) => backlog.count(),
};
