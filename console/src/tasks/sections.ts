import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import type { Changes } from "./merge.ts";

/** The changes of a list that has only tasks in some states: it loses a task that is in another one now. */
export const changesIn = (states: readonly TaskStatus[], { tasks, removedIds }: Changes): Changes => ({
  tasks: tasks.filter(({ status }) => states.includes(status)),
  removedIds: [...removedIds, ...tasks.filter(({ status }) => !states.includes(status)).map(({ id }) => id)],
});

/** Tasks with separate rows, and the subtasks that are folded below their root. */
export interface Nested {
  readonly own: ReadonlySet<string>;
  readonly below: ReadonlyMap<string, readonly Task[]>;
}

/**
 * Folds subtasks below their root, where a list has it. A subtask that waits for the person keeps its own
 * row.
 */
export function nestSubtasks(tasks: readonly Task[]): Nested {
  const known = new Set(tasks.map(({ id }) => id));
  const rootOf = ({ rootTaskId, status }: Task): string =>
    rootTaskId !== undefined && known.has(rootTaskId) && status !== TaskStatus.WAITING ? rootTaskId : "";
  const below = Map.groupBy(tasks, rootOf);
  const own = new Set(below.get("")?.map(({ id }) => id));
  below.delete("");
  return { own, below };
}

/** The most tasks that a heading counts. */
const countMax = 1_000;

/** A number of tasks, as `40` or `1,000+`. */
export const countText = (count: number, format: (count: number) => string): string =>
  count > countMax ? `${format(countMax)}+` : format(count);
