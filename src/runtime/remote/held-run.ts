import type { Clock } from "../../core/clock.ts";
import { absent, Failure } from "../../core/failure.ts";
import type { Store, Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { RemoteWorker, RunRef } from "../../core/workers/remote-run.ts";
import { type RunKey, workerLeaseMs, workerNode } from "../../core/workers/worker-run.ts";
import { Lost } from "../steps.ts";

/** The run is another's, or nobody's: whatever its worker still does is in vain. */
export const lostRun = (): Failure => new Failure("precondition", "fence: the run is not yours any more", { path: "fence" });

/** How a task stands to a worker that says it has a run of it. */
export type Standing = { readonly task: Task; readonly held: boolean } | { readonly task: null; readonly held: false };

/** @throws Failure `absent` for a task that is not of the worker's space, and for one that is deleted and was not the worker's. */
export async function standingOf(store: Tx, { spaceId, credential }: RemoteWorker, { taskId, fence }: RunRef): Promise<Standing> {
  const task = await store.tasks.byId(taskId);
  if (task === null) {
    const run = await store.workerRuns.find(taskId);
    if (run?.workerId === credential.id) return { task, held: false };
    throw absent("task");
  }
  if (task.spaceId !== spaceId) throw absent("task");
  return { task, held: task.fence === fence && task.status === "running" && task.nodeId === workerNode(credential.id) };
}

/** @throws Failure `precondition` naming `fence`, `absent` as `standingOf`. */
export async function heldTask(store: Tx, worker: RemoteWorker, run: RunRef): Promise<Task> {
  const { task, held } = await standingOf(store, worker, run);
  if (!held) throw lostRun();
  return task;
}

/** Takes the lock of a worker's run; false when the worker has it no more. */
type LockRun = (tx: Tx) => Promise<boolean>;

/** The run stays the worker's: its lease begins anew. */
export const keeping =
  (clock: Pick<Clock, "now">, run: RunKey): LockRun =>
  (tx) =>
    tx.workerRuns.renew(run, clock.now() + workerLeaseMs);

/** The run ends with the change. */
export const leaving =
  (run: RunKey): LockRun =>
  (tx) =>
    tx.workerRuns.remove(run);

/**
 * A store each change of which begins with the lock of the worker's run, and ends with
 * `then`: so that two calls of one run come one after the other.
 */
export function runStore<T>(store: Store, lock: LockRun, then: (tx: Tx, result: T) => Promise<T>): Store {
  return {
    ...store,
    change: <R>(work: (tx: Tx) => Promise<R>) =>
      store.change(async (tx) => {
        if (!(await lock(tx))) throw new Lost();
        // Whoever makes such a store gives it to one piece of work, whose result has this type.
        return (await then(tx, (await work(tx)) as unknown as T)) as unknown as R;
      }),
  };
}

/** What `work` gives. @throws Failure `precondition` naming `fence` where it was lost. */
export async function unlessLost<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    throw thrown instanceof Lost ? lostRun() : thrown;
  }
}
