import type { Tx } from "../store.ts";
import type { TaskEvent } from "../tasks/event.ts";
import type { Task } from "../tasks/task.ts";
import type { ClaimableTask } from "../tasks/task-rows.ts";

/**
 * A remote worker's run. The task's row has the owner of the run; this row has the end of its lease. Times
 * are Unix milliseconds.
 */
export interface WorkerRun {
  readonly taskId: string;
  readonly spaceId: string;
  readonly workerId: string;
  readonly fence: number;
  readonly startedAt: number;
  /** After this time the run goes to another worker, unless a call of this worker renews it. */
  readonly leaseUntil: number;
}

/** Lease of a worker's run: 15 s without a call of the worker. */
export const workerLeaseMs = 15_000;

const workerPrefix = "worker:";

/** The `node_id` of a task that a worker runs. */
export const workerNode = (workerId: string): string => `${workerPrefix}${workerId}`;

/** The id of the worker that a task's `nodeId` names; null for a process. */
export const workerOfNode = (nodeId: string): string | null =>
  nodeId.startsWith(workerPrefix) ? nodeId.slice(workerPrefix.length) : null;

export type RunKey = Pick<WorkerRun, "taskId" | "workerId" | "fence">;

/** A waiting task for a worker. */
export interface WorkerClaim {
  readonly task: Pick<ClaimableTask, "id" | "fence">;
  readonly workerId: string;
}

/** What a claim has read for the turn along with the task. */
export interface KnownInput {
  /** The events that the turn answers; null when they have to be read. */
  readonly events: readonly TaskEvent[] | null;
  /** False when the task has no row of selected skills, connectors and browsers. */
  readonly mayHaveResources: boolean;
  /** False when no skill can be the task's. */
  readonly mayHaveSkills: boolean;
  /** False when the space has no budget. */
  readonly mayHaveBudgets: boolean;
}

export interface ClaimedTurn {
  readonly task: Task;
  readonly workerId: string;
  readonly known?: KnownInput;
}

export const newRun = (
  { task, workerId }: { task: Pick<Task, "id" | "spaceId" | "fence">; workerId: string },
  now: number,
): WorkerRun => ({
  taskId: task.id,
  spaceId: task.spaceId,
  workerId,
  fence: task.fence,
  startedAt: now,
  leaseUntil: now + workerLeaseMs,
});

/**
 * The feed's topic when a task waits for a worker. It is news without a job, because processes with held
 * polls look every second anyway.
 */
export const workerNeeded = "worker";

/** A worker's own key of an event of a turn; a leading space marks the key of an ending. */
export interface KeyedEvent {
  readonly taskId: string;
  /** The turn: the task's `consumedSeq`. */
  readonly turn: number;
  readonly key: string;
  readonly seq: number;
  /** SHA-256 of the content sent under the key. */
  readonly digest: string;
}

export interface WorkerRunRows {
  /** Notifies processes with held polls to look for runs, after the commit. */
  notifyPollers(): void;
  /**
   * Begins the turns of the tasks that still wait, each for its worker, unless it is revoked. The workers
   * stay locked until the change ends, so that a revocation finds the runs. Order: any.
   */
  claim(claims: readonly WorkerClaim[], now: number): Promise<readonly ClaimedTurn[]>;
  /** Inserts runs and replaces earlier ones of their tasks. */
  put(runs: readonly WorkerRun[]): Promise<void>;
  find(taskId: string): Promise<WorkerRun | null>;
  /** Locks the row and renews its lease; false when the run is no longer the worker's. */
  renew(run: RunKey, leaseUntil: number): Promise<boolean>;
  /** False when the run no longer exists, or, with a time, when its lease ends after that. */
  remove(run: Pick<RunKey, "taskId" | "fence">, leaseBefore?: number): Promise<boolean>;
  /** Runs whose lease is over, ordered by task. */
  listExpired(now: number, max: number): Promise<readonly WorkerRun[]>;
  /** All runs of a worker, ordered by task. */
  listOfWorker(workerId: string): Promise<readonly WorkerRun[]>;
}

export interface WorkerEventRows {
  /** The keyed events of a turn: under these keys, or all when no keys are given. */
  find(taskId: string, turn: number, keys?: readonly string[]): Promise<readonly KeyedEvent[]>;
  /** The event under a key in any turn. */
  findInAnyTurn(taskId: string, key: string): Promise<KeyedEvent | null>;
  /** Inserts events and returns how many; an existing key stays as it is. */
  insert(events: readonly KeyedEvent[]): Promise<number>;
  /** Inserts an event, unless its key exists. */
  record(event: KeyedEvent): Promise<void>;
  deleteOfTask(taskId: string): Promise<void>;
}

/**
 * Releases a worker's run to the next claim, and wakes the runners. From then on the fence refuses
 * the worker's writes. Claims that added no event stay counted.
 */
export async function releaseWorkerRun(
  tx: Tx,
  { taskId, workerId, fence }: Pick<WorkerRun, "taskId" | "workerId" | "fence">,
  now: number,
): Promise<void> {
  const when = { fence, nodeId: workerNode(workerId), status: "running" } as const;
  const released = await tx.tasks.advance(taskId, { now, when, set: { nodeId: null, raiseFence: true } });
  if (released) await tx.jobs.put({ kind: "run", key: taskId, runAt: now });
}
