import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { repeat } from "../../core/repeat.ts";
import type { Store } from "../../core/store.ts";
import type { Claimable, QueueFilter, Task } from "../../core/tasks/task.ts";
import { giveBackRun } from "../../core/workers/give-back.ts";
import { type WorkerRun, workerLeaseMs, workerNode, workerWanted } from "../../core/workers/worker-run.ts";
import { claimTasks } from "../claims.ts";

/** Gives tasks to the remote workers that poll for them. */
export interface Dispatch {
  /**
   * The next task that fits, claimed for the worker; null when none came in time, when
   * the worker is gone, and when the process drains.
   */
  next(worker: { readonly id: string; readonly filter: QueueFilter }, waitMs: number, gone: AbortSignal): Promise<Task | null>;
  /** Lets everybody go, and resolves when what is under way has ended. */
  drain(): Promise<void>;
}

interface DispatchParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** A poll that waits. */
interface Waiter {
  readonly workerId: string;
  /** False when it waits no more. */
  take(task: Task | null): boolean;
}

/** Polls that wait for the same: a look at the queue is one for all of them. */
interface Queue {
  readonly filter: QueueFilter;
  readonly waiters: Set<Waiter>;
  /** The round that is under way, and whether another is to follow. */
  round: Promise<void> | null;
  again: boolean;
}

/** What there is news of when a task may wait for a worker: `run` when it was given back, or left to others before. */
const wakes: ReadonlySet<string> = new Set([workerWanted, "run"]);
const lookMs = 1_000;
/** Tasks claimed in one change. */
const batchMax = 32;

/**
 * One news of a task makes one look for all who wait for the same, and as many tasks are
 * claimed as there are pollers: never does everybody run for one. Besides it looks every
 * second.
 */
export function startDispatch({ store, clock, log }: DispatchParts): Dispatch {
  const queues = new Map<string, Queue>();
  const stopping = new AbortController();

  /** At most one round at a time; what comes meanwhile is seen by the one after it. */
  function look(queue: Queue): void {
    if (queue.round !== null) {
      queue.again = true;
      return;
    }
    queue.again = false;
    queue.round = serve(queue)
      .catch((cause: unknown) => log("error", "claiming for workers failed", { cause }))
      .finally(() => {
        queue.round = null;
        if (queue.again) look(queue);
      });
  }

  async function serve({ filter, waiters }: Queue): Promise<void> {
    while (waiters.size > 0 && !stopping.signal.aborted) {
      const takers = [...waiters].slice(0, batchMax);
      const candidates = await store.tasks.unowned(takers.length, filter);
      if (candidates.length === 0) return;
      const claimed = await claim(takers, candidates);
      for (const { taker, task } of claimed) if (!taker.take(task)) await putBack(task, taker.workerId);
      // Either nobody waits any more, or nothing.
      if (claimed.length === 0 || candidates.length < takers.length) return;
    }
  }

  /** To each the next; whose credential was revoked meanwhile gets nothing. */
  async function claim(takers: readonly Waiter[], candidates: readonly Claimable[]) {
    // Every process locks rows in the same order.
    const inOrder = candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return store.change(async (tx) => {
      const living = await tx.workers.living([...new Set(takers.map(({ workerId }) => workerId))]);
      const able = takers.filter(({ workerId }) => living.has(workerId));
      const claimed: { readonly taker: Waiter; readonly task: Task }[] = [];
      const now = clock.now();
      for (const candidate of inOrder) {
        const taker = able[claimed.length];
        if (taker === undefined) break;
        const [task] = await claimTasks(tx, [candidate], workerNode(taker.workerId), now);
        if (task) claimed.push({ taker, task });
      }
      await tx.workerRuns.put(claimed.map(({ taker, task }) => runOf(task, taker.workerId, now)));
      return claimed;
    });
  }

  /** Its poll ended while it was claimed. */
  async function putBack({ id: taskId, fence }: Task, workerId: string): Promise<void> {
    await store.change(async (tx) => {
      const run = { taskId, fence, workerId };
      if (await tx.workerRuns.remove(run)) await giveBackRun(tx, run, clock.now());
    });
  }

  function queueFor(filter: QueueFilter): Queue {
    const key = JSON.stringify(filter);
    const queue = queues.get(key) ?? { filter, waiters: new Set(), round: null, again: false };
    queues.set(key, queue);
    return queue;
  }

  function lookEverywhere(): void {
    for (const [key, queue] of queues) {
      if (queue.waiters.size > 0) look(queue);
      else if (queue.round === null) queues.delete(key);
    }
  }

  const forget = [store.feed.onJob((kind) => wakes.has(kind) && lookEverywhere()), store.feed.onLost(lookEverywhere)];
  const looking = repeat(clock, lookMs, stopping.signal, log, async function lookForWorkers() {
    lookEverywhere();
  });

  return {
    async next({ id: workerId, filter }, waitMs, gone) {
      if (stopping.signal.aborted || gone.aborted) return null;
      const queue = queueFor(filter);
      const { promise, resolve } = Promise.withResolvers<Task | null>();
      const over = new AbortController();
      const waiter: Waiter = {
        workerId,
        take(task) {
          if (!queue.waiters.delete(waiter)) return false;
          over.abort();
          resolve(task);
          return true;
        },
      };
      const leave = () => void waiter.take(null);
      queue.waiters.add(waiter);
      for (const signal of [gone, stopping.signal]) signal.addEventListener("abort", leave, { signal: over.signal });
      look(queue);
      // The first look counts, however short the wait is.
      const first = queue.round;
      void (async () => {
        await first;
        if (waitMs > 0) await clock.sleep(waitMs, over.signal);
        leave();
      })().catch(() => undefined);
      return promise;
    },
    async drain() {
      stopping.abort();
      for (const each of forget) each();
      await looking;
      for (const { round } of queues.values()) await round;
    },
  };
}

/** A run as it begins. */
const runOf = ({ id: taskId, spaceId, fence }: Task, workerId: string, now: number): WorkerRun => ({
  ...{ taskId, spaceId, workerId, fence },
  startedAt: now,
  leaseUntil: now + workerLeaseMs,
});
