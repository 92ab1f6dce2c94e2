import type { Clock } from "../../core/clock.ts";
import type { Store } from "../../core/store.ts";
import { giveBackRun } from "../../core/workers/give-back.ts";

/** Runs that are given back in one change. */
const batchMax = 100;

/** Gives back the runs of workers of which nothing was heard for too long. Any process may do it, and all do. */
export async function sweepWorkerRuns({ store, clock }: { readonly store: Store; readonly clock: Pick<Clock, "now"> }): Promise<void> {
  for (;;) {
    const now = clock.now();
    const lapsed = await store.workerRuns.lapsed(now, batchMax);
    if (lapsed.length === 0) return;
    await store.change(async (tx) => {
      for (const run of lapsed) if (await tx.workerRuns.remove(run, now)) await giveBackRun(tx, run, now);
    });
    if (lapsed.length < batchMax) return;
  }
}
