import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";

/** Changes of a list, as WatchTasks sends them. */
export interface Changes {
  readonly tasks: readonly Task[];
  readonly removedIds: readonly string[];
}

/** One page of a list, as far as changes need it. */
interface TaskPage {
  readonly data: readonly Task[];
  /** Empty on the last page. */
  readonly nextCursor?: string | undefined;
}

/**
 * Applies changes to the pages of a list. A task keeps its place while its state stays. New tasks and tasks
 * in a new state come to one end of the list: to the last one only if all of its pages are loaded, because
 * otherwise a later page brings them.
 */
export function mergePages<P extends TaskPage>(
  pages: readonly P[],
  { tasks, removedIds }: Changes,
  end: "first" | "last",
): P[] {
  const known = new Map(pages.flatMap(({ data }) => data).map((task) => [task.id, task]));
  const stays = ({ id, status }: Task): boolean => known.get(id)?.status === status;
  const inPlace = new Map(
    tasks.filter(stays).map((task) => [task.id, withWait(task, known.get(task.id)?.waitingSince)]),
  );
  const begun = ({ status, updatedAt }: Task) => (status === TaskStatus.WAITING ? updatedAt : undefined);
  const moved = tasks.filter((task) => !stays(task)).map((task) => withWait(task, begun(task)));
  const gone = new Set([...removedIds, ...moved.map(({ id }) => id)]);
  return pages.map((page, index) => {
    const kept = page.data.filter(({ id }) => !gone.has(id)).map((task) => inPlace.get(task.id) ?? task);
    const before = end === "first" && index === 0 ? moved : [];
    const after = end === "last" && index === pages.length - 1 && !page.nextCursor ? moved : [];
    return { ...page, data: [...before, ...kept, ...after] };
  });
}

/**
 * Only lists say since when a task waits: a change keeps that time, or has its own when the task begins to
 * wait.
 */
const withWait = (task: Task, waitingSince: bigint | undefined): Task =>
  waitingSince === undefined ? task : { ...task, waitingSince };

/** Tasks below one heading. */
export interface Group {
  readonly id: string;
  readonly tasks: readonly Task[];
}

/**
 * Keeps every shown row in its place while a person is about to press one. A row has the newest texts only
 * while its state stays: another state has other buttons.
 *
 * @returns the rows to show, and how many tasks have another place in the newest groups.
 */
export function holdPlaces<G extends Group>(
  shown: readonly G[],
  newest: readonly G[],
): { groups: readonly G[]; changed: number } {
  const latest = new Map(newest.flatMap(({ tasks }) => tasks).map((task) => [task.id, task]));
  const groupIds = new Map(shown.flatMap(({ id, tasks }) => tasks.map((task) => [task.id, id])));
  const newestOf = (task: Task): Task => {
    const found = latest.get(task.id);
    return found?.status === task.status ? found : task;
  };
  const moved = newest.flatMap(({ id, tasks }) =>
    tasks.filter((task) => groupIds.get(task.id) !== id),
  ).length;
  const gone = [...groupIds.keys()].filter((id) => !latest.has(id)).length;
  return {
    groups: shown.map((group) => ({ ...group, tasks: group.tasks.map(newestOf) })),
    changed: moved + gone,
  };
}
