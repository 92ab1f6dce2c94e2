/** A run that a remote worker has. The task's row says whose it is; this one, until when. Times are Unix milliseconds. */
export interface WorkerRun {
  readonly taskId: string;
  readonly spaceId: string;
  readonly workerId: string;
  readonly fence: number;
  readonly startedAt: number;
  /** It is given to another after that, unless the worker says something. */
  readonly leaseUntil: number;
}

/** How long a worker may say nothing. */
export const workerLeaseMs = 15_000;

/** The `node_id` of a task that a worker runs. */
export const workerNode = (workerId: string): string => `worker:${workerId}`;

/** Which run is meant. */
export type RunKey = Pick<WorkerRun, "taskId" | "workerId" | "fence">;

/** What the feed calls it that a task waits for a worker: news without a job, for whoever holds polls looks every second anyway. */
export const workerWanted = "worker";

/** A worker's own key of an event of a turn, or, with a blank before it, of an ending. */
export interface KeyedEvent {
  readonly taskId: string;
  /** The turn: the task's `consumedSeq`. */
  readonly turn: number;
  readonly key: string;
  readonly seq: number;
  /** Of what was sent under the key. */
  readonly digest: string;
}

export interface WorkerRunRows {
  /** Tells whoever holds polls to look, once the change is committed. */
  want(): void;
  /** In place of earlier runs of their tasks. */
  put(runs: readonly WorkerRun[]): Promise<void>;
  find(taskId: string): Promise<WorkerRun | null>;
  /** Locks the row, and begins its lease anew; false when the worker has this run no more. */
  renew(run: RunKey, leaseUntil: number): Promise<boolean>;
  /** False when it is there no more, or, with a time, when its lease is not over by then. */
  remove(run: Pick<RunKey, "taskId" | "fence">, leaseBefore?: number): Promise<boolean>;
  /** Whose lease is over, in the order of their tasks. */
  lapsed(now: number, max: number): Promise<readonly WorkerRun[]>;
  /** All that a worker has, in the order of their tasks. */
  of(workerId: string): Promise<readonly WorkerRun[]>;
}

export interface WorkerEventRows {
  /** What a turn has under these keys; under all, when none are given. */
  find(taskId: string, turn: number, keys?: readonly string[]): Promise<readonly KeyedEvent[]>;
  /** Under a key in whatever turn. */
  anywhere(taskId: string, key: string): Promise<KeyedEvent | null>;
  /** Answers how many: a key that is there already stays as it is. */
  insert(events: readonly KeyedEvent[]): Promise<number>;
  erase(taskId: string): Promise<void>;
}
