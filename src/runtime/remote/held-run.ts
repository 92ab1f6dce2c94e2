import type { Clock } from "../../core/clock.ts";
import { Failure, notFound } from "../../core/failure.ts";
import type { Observe } from "../../core/observe.ts";
import type { JobNeeds, TimedJob } from "../../core/processes/timed-job.ts";
import type { Store, Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { RemoteWorker, RunRef } from "../../core/workers/remote-run.ts";
import { type RunKey, releaseWorkerRun, workerLeaseMs, workerNode } from "../../core/workers/worker-run.ts";
import { type RunGuard, RunLost } from "../steps.ts";

/** The most runs released in one change. */
const batchMax = 100;

interface SweepParts {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly observe?: Pick<Observe, "lost">;
}

/** Releases the runs of workers whose lease has lapsed. Every process does this. */
export async function sweepWorkerRuns({ store, clock, observe }: SweepParts): Promise<void> {
  for (;;) {
    const now = clock.now();
    const lapsed = await store.workerRuns.listExpired(now, batchMax);
    if (lapsed.length === 0) return;
    const count = await store.change(async (tx) => {
      let removed = 0;
      for (const run of lapsed) {
        if (!(await tx.workerRuns.remove(run, now))) continue;
        removed += 1;
        await releaseWorkerRun(tx, run, now);
        await tx.workers.recordFailure(
          { workerId: run.workerId, taskId: run.taskId, kind: "lease", at: now },
          run.fence,
        );
      }
      return removed;
    });
    observe?.lost("worker_lease", count);
    if (lapsed.length < batchMax) return;
  }
}

/** The failure of calls for a run that the worker has lost: another worker has it, or none. */
export const lostRun = (): Failure =>
  new Failure("failed_precondition", "fence: the run is no longer yours", { path: "fence" });

/** The task of a run that a worker names, and whether the worker holds the run. */
export type RunValidity =
  | { readonly task: Task; readonly held: boolean }
  | { readonly task: null; readonly held: false };

/**
 * @throws Failure `not_found` for a task of another space, and for a deleted task of which the worker had no
 * run.
 */
export async function checkRun(
  store: Tx,
  { spaceId, credential }: RemoteWorker,
  { taskId, fence }: RunRef,
): Promise<RunValidity> {
  const task = await store.tasks.byId(taskId);
  if (task === null) {
    const run = await store.workerRuns.find(taskId);
    if (run?.workerId === credential.id) return { task, held: false };
    throw notFound("task");
  }
  if (task.spaceId !== spaceId) throw notFound("task");
  return {
    task,
    held: task.fence === fence && task.status === "running" && task.nodeId === workerNode(credential.id),
  };
}

/**
 * Returns the task of a held run. @throws Failure `failed_precondition` naming `fence`, `not_found` as for
 * `checkRun`.
 */
export async function requireHeldTask(store: Tx, worker: RemoteWorker, run: RunRef): Promise<Task> {
  const { task, held } = await checkRun(store, worker, run);
  if (!held) throw lostRun();
  return task;
}

/** Locks a worker's run. Returns false when the worker has lost it. */
type LockRun = RunGuard<unknown>["lock"];

/** Locks the run by renewing its lease: the worker keeps it. */
export const renewLease =
  (clock: Pick<Clock, "now">, run: RunKey): LockRun =>
  (tx) =>
    tx.workerRuns.renew(run, clock.now() + workerLeaseMs);

/** Locks the run by deleting its row: the run ends with the change. */
export const releaseRun =
  (run: RunKey): LockRun =>
  (tx) =>
    tx.workerRuns.remove(run);

/** Returns the result of `work`. @throws Failure `failed_precondition` naming `fence` instead of `Lost`. */
export async function mapLostRun<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    throw thrown instanceof RunLost ? lostRun() : thrown;
  }
}

/** A silent worker loses its run at most a second after its lease ends. */
export const releaseLapsedRuns: TimedJob<JobNeeds & Pick<SweepParts, "observe">> = {
  name: "release-lapsed-runs",
  every: 1_000,
  run: sweepWorkerRuns,
};
