import { coalesce } from "../../async/coalesce.ts";
import { poll } from "../../async/poll.ts";
import type { OpenCall } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { Log } from "../../core/log.ts";
import { type Observe, unobserved } from "../../core/observe.ts";
import type { Store } from "../../core/store.ts";
import type { ClaimableTask, QueueFilter, Task } from "../../core/tasks/task.ts";
import { releaseWorkerRun, type WorkerRun, workerLeaseMs, workerNeeded, workerNode } from "../../core/workers/worker-run.ts";
import { claimTasks, withinLimits } from "../claims.ts";

/** Assigns tasks to the remote workers that poll for them. */
export interface Dispatch {
  /**
   * Claims the next matching task for the worker. Returns null when none arrives in time, when the worker has closed the
   * call, and when the process drains.
   */
  next(worker: { readonly id: string; readonly filter: QueueFilter }, waitMs: number, gone: AbortSignal): Promise<Task | null>;
  /** Ends all waits. Resolves when all current claims have ended. */
  drain(): Promise<void>;
}

interface DispatchParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: Observe;
}

/** A poll that waits for a task. */
interface Waiter {
  readonly workerId: string;
  /** Ends the wait. Returns false when the wait has already ended. */
  take(task: Task | null): boolean;
}

/** Polls with the same filter: they share each look at the queue. */
interface Queue {
  readonly filter: QueueFilter;
  readonly waiters: Set<Waiter>;
  /** Resolves when a round that began after the call has ended. */
  readonly look: () => Promise<void>;
}

/** Kinds of jobs after which a task may wait for a worker: `run` when a task was released, or was left to other processes. */
const wakes: ReadonlySet<string> = new Set([workerNeeded, "run"]);
const lookMs = 1_000;
/** The most tasks claimed in one change. */
const batchMax = 32;

/**
 * One notification of a task starts one look for all polls with the same filter, and as many tasks are claimed as there
 * are polls: a task does not wake every poll. It also looks every second.
 */
export function startDispatch({ store, clock, log, observe = unobserved }: DispatchParts): Dispatch {
  const queues = new Map<string, Queue>();
  const stopping = new AbortController();

  async function round(key: string, queue: Queue): Promise<void> {
    await serve(queue).catch((cause: unknown) => log("error", "claiming for workers failed", { cause }));
    if (queue.waiters.size === 0 && queues.get(key) === queue) queues.delete(key);
  }

  async function serve({ filter, waiters }: Queue): Promise<void> {
    while (waiters.size > 0 && !stopping.signal.aborted) {
      const batch = [...waiters].slice(0, batchMax);
      const candidates = await store.tasks.listUnowned(batch.length, filter);
      if (candidates.length === 0) return;
      const claimed = await claim(batch, candidates);
      observe.claimed("claimed", claimed.length);
      for (const { waiter, task } of claimed) if (!waiter.take(task)) await release(task, waiter.workerId);
      // No task is left, or no poll.
      if (claimed.length === 0 || candidates.length < batch.length) return;
    }
  }

  /** Assigns one task per waiter. Skips waiters whose credential was revoked. */
  async function claim(waiters: readonly Waiter[], candidates: readonly ClaimableTask[]) {
    return store.change(async (tx) => {
      const liveIds = await tx.workers.lockActive([...new Set(waiters.map(({ workerId }) => workerId))]);
      const eligible = waiters.filter(({ workerId }) => liveIds.has(workerId));
      const claimed: { readonly waiter: Waiter; readonly task: Task }[] = [];
      const now = clock.now();
      // Lock order: by task id, in every process.
      const byId = (await withinLimits(tx, candidates)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
      for (const candidate of byId) {
        const waiter = eligible[claimed.length];
        if (waiter === undefined) break;
        const [task] = await claimTasks(tx, [candidate], workerNode(waiter.workerId), now);
        if (task) claimed.push({ waiter, task });
      }
      await tx.workerRuns.put(claimed.map(({ waiter, task }) => runOf(task, waiter.workerId, now)));
      return claimed;
    });
  }

  /** Releases a task whose poll ended while the task was claimed. */
  async function release({ id: taskId, fence }: Task, workerId: string): Promise<void> {
    await store.change(async (tx) => {
      const run = { taskId, fence, workerId };
      if (await tx.workerRuns.remove(run)) await releaseWorkerRun(tx, run, clock.now());
    });
  }

  function queueFor(filter: QueueFilter): Queue {
    const key = JSON.stringify(filter);
    const created: Queue = { filter, waiters: new Set(), look: coalesce(() => round(key, created)) };
    const queue = queues.get(key) ?? created;
    queues.set(key, queue);
    return queue;
  }

  function lookAtAll(): void {
    for (const { look } of queues.values()) void look();
  }

  const unsubscribes = [store.feed.onJob((kind) => wakes.has(kind) && lookAtAll()), store.feed.onLost(lookAtAll)];
  const timedLooks = poll(clock, lookMs, stopping.signal, log, async function lookForWorkers() {
    lookAtAll();
  });

  return {
    async next({ id: workerId, filter }, waitMs, gone) {
      if (stopping.signal.aborted || gone.aborted) return null;
      const queue = queueFor(filter);
      const { promise, resolve } = Promise.withResolvers<Task | null>();
      const stop = new AbortController();
      const waiter: Waiter = {
        workerId,
        take(task) {
          if (!queue.waiters.delete(waiter)) return false;
          stop.abort();
          resolve(task);
          return true;
        },
      };
      const leave = () => void waiter.take(null);
      queue.waiters.add(waiter);
      for (const signal of [gone, stopping.signal]) signal.addEventListener("abort", leave, { signal: stop.signal });
      // The first look is completed, however short the wait is.
      const first = queue.look();
      void (async () => {
        await first;
        if (waitMs > 0) await clock.sleep(waitMs, stop.signal);
        leave();
      })().catch(() => undefined);
      return promise;
    },
    async drain() {
      stopping.abort();
      for (const each of unsubscribes) each();
      await timedLooks;
      for (const { look } of queues.values()) await look();
    },
  };
}

/** The row of a new run. */
const runOf = ({ id: taskId, spaceId, fence }: Task, workerId: string, now: number): WorkerRun => ({
  ...{ taskId, spaceId, workerId, fence },
  startedAt: now,
  leaseUntil: now + workerLeaseMs,
});

interface PollsParts {
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  readonly pollsMax: number;
  /** The longest time that a poll is held, in milliseconds. */
  readonly pollMs: number;
}

/** The interval at which the caller of a held call is authenticated again (spec/decisions.md 17). */
const recheckMs = 5_000;

/**
 * Holds a poll until there is a task for it.
 *
 * @throws Failure `resource_exhausted` when the credential holds too many polls, and any failure that a new call would get.
 */
export type HoldPoll = (
  call: OpenCall,
  worker: { readonly id: string; readonly filter: QueueFilter },
  waitMs: number,
) => Promise<Task | null>;

export function createHoldPoll({ dispatch, clock, pollsMax, pollMs }: PollsParts): HoldPoll {
  const open = new Map<string, number>();

  /** Resolves with the failure that a new call would get; rejects when the poll is over. */
  async function refusal(call: OpenCall, stop: AbortSignal): Promise<unknown> {
    for (;;) {
      await clock.sleep(recheckMs, stop);
      try {
        await call.reauthenticate();
      } catch (thrown) {
        return thrown;
      }
    }
  }

  return async (call, worker, waitMs) => {
    const count = open.get(worker.id) ?? 0;
    if (count >= pollsMax) throw new Failure("resource_exhausted", `${pollsMax} polls are held already`);
    open.set(worker.id, count + 1);
    const stop = new AbortController();
    let failure: unknown;
    const checking = refusal(call, stop.signal).then(
      (thrown) => {
        failure = thrown;
        stop.abort();
      },
      () => undefined,
    );
    try {
      const task = await dispatch.next(worker, Math.min(waitMs, pollMs), AbortSignal.any([call.gone, stop.signal]));
      if (task === null && failure !== undefined) throw failure;
      return task;
    } finally {
      stop.abort();
      await checking;
      const remaining = (open.get(worker.id) ?? 1) - 1;
      if (remaining === 0) open.delete(worker.id);
      else open.set(worker.id, remaining);
    }
  };
}
