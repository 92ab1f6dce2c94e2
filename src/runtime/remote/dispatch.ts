import { coalesce } from "../../async/coalesce.ts";
import { mutex, type Run } from "../../async/limit.ts";
import { poll } from "../../async/poll.ts";
import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { type Observe, unobserved } from "../../core/observe.ts";
import type { Store } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { ClaimableTask, QueueFilter } from "../../core/tasks/task-rows.ts";
import type { PollLimits } from "../../core/workers/remote-run.ts";
import { type ClaimedTurn, releaseWorkerRun, workerNeeded } from "../../core/workers/worker-run.ts";
import type { Claimant } from "../claims.ts";
import { claimSeats } from "./claim-seats.ts";

/** Assigns tasks to the remote workers that poll for them. */
export interface Dispatch {
  /**
   * Claims the next matching tasks for the worker, within the limits. Returns none when none arrives in time,
   * when the worker has closed the call, and when the process drains.
   */
  next(
    worker: { id: string; filter: QueueFilter },
    limits: PollLimits,
    gone: AbortSignal,
  ): Promise<readonly ClaimedTurn[]>;
  /** Ends all waits. Resolves when all current claims have ended. */
  drain(): Promise<void>;
}

interface DispatchParts extends Pick<Claimant, "publishTask"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: Observe;
}

interface Waiter {
  readonly workerId: string;
  /** The most tasks that it takes. */
  readonly max: number;
  /** Ends the wait. Returns false when the wait has already ended. */
  take(turns: readonly ClaimedTurn[]): boolean;
}

/** Polls with the same filter: they share each look at the queue. */
interface Queue {
  readonly filter: QueueFilter;
  readonly waiters: Set<Waiter>;
  /** Resolves when a round that began after the call has ended. */
  readonly look: () => Promise<void>;
  /** Runs between rounds: a poll that ended in one would have its new claim released, which counts. */
  readonly alone: Run;
}

/**
 * Kinds of jobs after which a task may wait for a worker: `run` when a task was released, or was left to
 * other processes.
 */
const wakes: ReadonlySet<string> = new Set([workerNeeded, "run"]);
const lookMs = 1_000;
/** The most tasks claimed in one change. */
const batchMax = 32;

/**
 * One notification of a task starts one look for all polls with the same filter, and as many tasks are
 * claimed as there are polls: a task does not wake every poll. It also looks every second.
 */
export function startDispatch({
  store,
  clock,
  log,
  publishTask,
  observe = unobserved,
}: DispatchParts): Dispatch {
  const queues = new Map<string, Queue>();
  const stopping = new AbortController();

  async function round(key: string, queue: Queue): Promise<void> {
    await serve(queue).catch((cause: unknown) => log("error", "claiming for workers failed", { cause }));
    if (queue.waiters.size === 0 && queues.get(key) === queue) queues.delete(key);
  }

  async function serve({ filter, waiters }: Queue): Promise<void> {
    while (waiters.size > 0 && !stopping.signal.aborted) {
      const seats = seatsOf([...waiters]);
      const candidates = await store.tasks.listUnowned(seats.length, filter);
      if (candidates.length === 0) return;
      const claimed = await claim(seats, candidates);
      observe.claimed("claimed", claimed.length);
      for (const [waiter, turns] of Map.groupBy(claimed, (each) => each.waiter)) {
        if (!waiter.take(turns)) for (const { task } of turns) await release(task, waiter.workerId);
      }
      // No task is left, or no poll.
      if (claimed.length === 0 || candidates.length < seats.length) return;
    }
  }

  /** Assigns one task per seat. Skips waiters whose credential was revoked. */
  const claim = (seats: readonly Waiter[], candidates: readonly ClaimableTask[]) =>
    store.change((tx) => claimSeats(tx, seats, candidates, { now: clock.now(), publishTask }));

  /** Releases a task whose poll ended while the task was claimed. */
  async function release({ id: taskId, fence }: Task, workerId: string): Promise<void> {
    await store.change(async (tx) => {
      const run = { taskId, fence, workerId };
      if (await tx.workerRuns.remove(run)) await releaseWorkerRun(tx, run, clock.now());
    });
  }

  function queueFor(filter: QueueFilter): Queue {
    const key = JSON.stringify(filter);
    const alone = mutex();
    const created: Queue = {
      filter,
      waiters: new Set(),
      look: coalesce(() => round(key, created), alone),
      alone,
    };
    const queue = queues.get(key) ?? created;
    queues.set(key, queue);
    return queue;
  }

  function lookAtAll(): void {
    for (const { look } of queues.values()) void look();
  }

  const unsubscribes = [
    store.feed.onJob((kind) => wakes.has(kind) && lookAtAll()),
    store.feed.onLost(lookAtAll),
  ];
  const timedLooks = poll(clock, lookMs, stopping.signal, log, async function lookForWorkers() {
    lookAtAll();
  });

  return {
    async next({ id: workerId, filter }, { max, waitMs }, gone) {
      if (stopping.signal.aborted || gone.aborted) return [];
      const queue = queueFor(filter);
      const { promise, resolve } = Promise.withResolvers<readonly ClaimedTurn[]>();
      const stop = new AbortController();
      const waiter: Waiter = {
        workerId,
        max,
        take(turns) {
          if (!queue.waiters.delete(waiter)) return false;
          stop.abort();
          resolve(turns);
          return true;
        },
      };
      const leave = () => void waiter.take([]);
      queue.waiters.add(waiter);
      for (const signal of [gone, stopping.signal])
        signal.addEventListener("abort", leave, { signal: stop.signal });
      // The first look is completed, however short the wait is.
      const first = queue.look();
      void (async () => {
        await first;
        if (waitMs > 0) await clock.sleep(waitMs, stop.signal);
        await queue.alone(async () => leave());
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

/**
 * One entry for each task that these polls can take: the first task of each poll before the second of any.
 */
function seatsOf(waiters: readonly Waiter[]): readonly Waiter[] {
  const seats: Waiter[] = [];
  for (let n = 0, more = waiters; more.length > 0 && seats.length < batchMax; n += 1) {
    more = more.filter(({ max }) => max > n);
    seats.push(...more.slice(0, batchMax - seats.length));
  }
  return seats;
}
