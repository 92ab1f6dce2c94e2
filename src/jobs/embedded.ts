import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Observe } from "../core/observe.ts";
import type { Job } from "../core/processes/shared.ts";
import type { Store } from "../core/store.ts";

/**
 * Runs jobs that changes have put. Each job runs at least once: it is done when `work` resolves, and due
 * again when its process dies or `work` throws.
 */
export interface Queue {
  /**
   * @param hasCapacity returns false while this process starts no jobs. Notifications then wake other nodes
   * only; this one polls.
   */
  subscribe(
    kind: Job["kind"],
    work: (jobs: readonly Job[]) => Promise<void>,
    hasCapacity?: () => boolean,
  ): Promise<void>;
  /** Takes no more jobs. Resolves when the jobs taken so far are done. */
  drain(): Promise<void>;
}

/** A job whose process died is due again after this time. */
const leaseMs = 30_000;
/** A job without a notification is found within this time. */
const pollMs = 1_000;
const batchMax = 100;

/**
 * A queue on the store's own table. A change of any process wakes it at once; after a lost notification it
 * looks within a second.
 */
export function embeddedQueue(store: Store, clock: Clock, log: Log): Queue {
  const stopping = new AbortController();
  const loops: Promise<void>[] = [];

  /** Takes jobs until none is left. One change marks the last batch as done and takes the next. */
  async function takeAll(kind: Job["kind"], work: (jobs: readonly Job[]) => Promise<void>): Promise<void> {
    let jobs: readonly Job[] = [];
    do {
      const done = jobs;
      jobs = await store.change(async (tx) => {
        if (done.length > 0) await tx.jobs.done(kind, done);
        return stopping.signal.aborted
          ? []
          : tx.jobs.take(kind, clock.now(), clock.now() + leaseMs, batchMax);
      });
      if (jobs.length > 0) await work(jobs);
    } while (jobs.length > 0);
  }

  async function serve(
    kind: Job["kind"],
    work: (jobs: readonly Job[]) => Promise<void>,
    hasCapacity: () => boolean,
  ): Promise<void> {
    let wake = Promise.withResolvers<void>();
    const unsubscribes = [
      store.feed.onJob((put) => {
        if (put === kind && hasCapacity()) wake.resolve();
      }),
      store.feed.onLost(() => wake.resolve()),
    ];
    stopping.signal.addEventListener("abort", () => wake.resolve());
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers<void>();
      await takeAll(kind, work).catch((cause: unknown) =>
        log("error", "taking jobs failed", { kind, cause }),
      );
      if (stopping.signal.aborted) break;
      const timeout = new AbortController();
      await Promise.race([wake.promise, clock.sleep(pollMs, timeout.signal).catch(() => undefined)]);
      timeout.abort();
    }
    for (const unsubscribe of unsubscribes) unsubscribe();
  }

  return {
    async subscribe(kind, work, hasCapacity = () => true) {
      loops.push(serve(kind, work, hasCapacity));
    },
    async drain() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

/** A queue whose jobs are counted, and logged at `debug`. */
export function observedQueue(
  queue: Queue,
  { observe, log }: { observe: Pick<Observe, "jobsRun">; log: Log },
): Queue {
  return {
    drain: queue.drain,
    subscribe(kind, work, hasCapacity) {
      const observed = async (jobs: readonly Job[]): Promise<void> => {
        log("debug", "jobs were taken", { kind, count: jobs.length });
        const outcome = await work(jobs).then(
          () => null,
          (thrown: unknown) => ({ thrown }),
        );
        observe.jobsRun(kind, outcome === null ? "done" : "failed", jobs.length);
        if (outcome !== null) throw outcome.thrown;
      };
      return queue.subscribe(kind, observed, hasCapacity);
    },
  };
}
