import type { Tx } from "../store.ts";
import type { TaskStatus } from "../tasks/task.ts";

/** How many days data is kept; 0: for ever. */
export interface Retention {
  readonly taskDays: number;
  readonly eventDays: number;
  readonly verboseEventDays: number;
  /** After these days events move to files; 0: never. */
  readonly archiveEventDays: number;
  readonly auditDays: number;
  readonly usageDays: number;
}

export interface AgedTask {
  readonly id: string;
  readonly spaceId: string;
  readonly accountId: string;
  readonly status: TaskStatus;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  readonly isDeleted: boolean;
  /** The main task of an agent, which never ends. */
  readonly isOfAgent: boolean;
  /** Some of its subtasks run or wait. */
  readonly hasLivingSubtasks: boolean;
  /** Its space or its account is under legal hold. */
  readonly isHeld: boolean;
  readonly isPersonal: boolean;
}

export interface RetentionRows {
  /**
   * The next tasks after an id, in the order of ids: all, so that the cost of a call does not depend on what
   * is found.
   */
  walkTasks(after: string, max: number): Promise<readonly AgedTask[]>;
  /**
   * The tasks that still are as `walkTasks` found them, at the same `updatedAt`. Their rows stay locked until
   * the change ends.
   */
  lockTasks(seen: readonly AgedTask[]): Promise<readonly AgedTask[]>;
  /**
   * Deletes events of tasks, all with the words of their texts, or those that only `verbose` shows. Returns
   * the number of rows.
   */
  deleteEvents(taskIds: readonly string[], which: "all" | "verbose", max: number): Promise<number>;
  /**
   * Deletes tombstones of tasks that were deleted before this time, have no events left and are not held.
   * Returns their number.
   */
  deleteTombstones(before: number, max: number): Promise<number>;
  /** The next spaces after an id, and whether each is under legal hold. */
  walkSpaces(after: string, max: number): Promise<readonly { id: string; isHeld: boolean }[]>;
  /** Deletes single costs of a space before this time. Returns their number. */
  deleteUsage(spaceId: string, before: number, max: number): Promise<number>;
}

/** Whether retention may come to a task: it has ended. Its subtasks may still run. */
export const hasEnded = ({ status, isOfAgent, isDeleted }: AgedTask): boolean =>
  (status === "stopped" || status === "error") && !isOfAgent && !isDeleted;

const progressName = "retention-events";

/**
 * The times before which all events, and those that only `verbose` shows, are deleted, and events are
 * archived (Unix milliseconds).
 */
export interface EventProgress {
  readonly all: number;
  readonly verbose: number;
  readonly archived: number;
}

/** How far earlier passes have come: they do not visit tasks again that have not changed since. */
export async function eventProgress({ settings }: Pick<Tx, "settings">): Promise<EventProgress> {
  const [all = 0, verbose = 0, archived = 0] = ((await settings.get(progressName)) ?? "")
    .split(" ")
    .map(Number);
  return { all, verbose, archived };
}

export const saveEventProgress = (
  { settings }: Pick<Tx, "settings">,
  { all, verbose, archived }: EventProgress,
): Promise<void> => settings.put(progressName, `${all} ${verbose} ${archived}`);
