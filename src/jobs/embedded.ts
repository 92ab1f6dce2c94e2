import type { Clock } from "../core/clock.ts";
import type { Job } from "../core/jobs/job.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../core/store.ts";
import type { Queue } from "./queue.ts";

/** A job whose process died is due again after this. */
const leaseMs = 30_000;
/** What nobody has told of is found within this. */
const pollMs = 1_000;
const batchMax = 100;

/** Jobs in the store's own table: woken at once by changes of whatever process, and by news that are lost within a second. */
export function embeddedQueue(store: Store, clock: Clock, log: Log): Queue {
  const stopping = new AbortController();
  const loops: Promise<void>[] = [];

  /** Until there is none: what was done and what comes next are one change. */
  async function takeAll(kind: Job["kind"], work: (jobs: readonly Job[]) => Promise<void>): Promise<void> {
    let jobs: readonly Job[] = [];
    do {
      const done = jobs;
      jobs = await store.change(async (tx) => {
        if (done.length > 0) await tx.jobs.done(kind, done);
        return stopping.signal.aborted ? [] : tx.jobs.take(kind, clock.now(), clock.now() + leaseMs, batchMax);
      });
      if (jobs.length > 0) await work(jobs);
    } while (jobs.length > 0);
  }

  async function serve(kind: Job["kind"], work: (jobs: readonly Job[]) => Promise<void>, wanted: () => boolean): Promise<void> {
    let wake = Promise.withResolvers<void>();
    const forgets = [
      store.feed.onJob((put) => {
        if (put === kind && wanted()) wake.resolve();
      }),
      store.feed.onLost(() => wake.resolve()),
    ];
    stopping.signal.addEventListener("abort", () => wake.resolve());
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers<void>();
      await takeAll(kind, work).catch((cause: unknown) => log("error", "taking jobs failed", { kind, cause }));
      if (stopping.signal.aborted) break;
      const waited = new AbortController();
      await Promise.race([wake.promise, clock.sleep(pollMs, waited.signal).catch(() => undefined)]);
      waited.abort();
    }
    for (const forget of forgets) forget();
  }

  return {
    subscribe: async (kind, work, wanted = () => true) => void loops.push(serve(kind, work, wanted)),
    async drain() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
