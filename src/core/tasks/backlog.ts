import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";

/** The tasks that wait for a runner, counted so that too many are refused and none is held in memory. */
export interface Backlog {
  /** Counts one more. @throws Failure `exhausted` when `max` wait already. */
  enter(): void;
  /** Counts anew; between two counts every task that entered here is taken to wait still. */
  count(): Promise<void>;
}

/** Counting costs a scan, so it is done every second and not with every call. */
export const countEveryMs = 1_000;

export function backlog(store: Tx, max: number): Backlog {
  let waiting = 0;
  return {
    enter() {
      if (waiting >= max) throw new Failure("exhausted", `${max} tasks wait for a runner already`, { retryAfter: countEveryMs / 1_000 });
      waiting += 1;
    },
    async count() {
      waiting = await store.tasks.countUnowned(max);
    },
  };
}
