import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { fromSeconds } from "../ui/time.tsx";
import { text } from "./words.ts";

/** Tasks of one heading. */
export interface Group {
  readonly id: "waiting" | "running" | "today" | "earlier";
  readonly title: string;
  readonly tasks: readonly Task[];
}

const titles = { waiting: text.needsYou, running: text.running, today: text.today, earlier: text.earlier } as const;

/** The tasks by what they need: an answer, time, or nothing. Within a group the order stays. */
export function groupTasks(tasks: readonly Task[], now: number): readonly Group[] {
  const today = new Date(now).toDateString();
  const groupOf = ({ status, updatedAt }: Task): Group["id"] => {
    if (status === TaskStatus.WAITING) return "waiting";
    if (status === TaskStatus.RUNNING) return "running";
    return new Date(fromSeconds(updatedAt)).toDateString() === today ? "today" : "earlier";
  };
  const found = Map.groupBy(tasks, groupOf);
  const ids: readonly Group["id"][] = ["waiting", "running", "today", "earlier"];
  return ids.flatMap((id) => {
    const members = found.get(id);
    return members ? [{ id, title: titles[id], tasks: members }] : [];
  });
}

/** The tasks of a list with their own rows, and the subtasks that are folded below their root. */
export interface Nested {
  readonly own: readonly Task[];
  readonly below: ReadonlyMap<string, readonly Task[]>;
}

/** Folds subtasks below their root, where the list has it. A subtask that waits for the person keeps its own row. */
export function nestSubtasks(tasks: readonly Task[]): Nested {
  const known = new Set(tasks.map(({ id }) => id));
  const rootOf = ({ rootTaskId, status }: Task): string =>
    rootTaskId !== undefined && known.has(rootTaskId) && status !== TaskStatus.WAITING ? rootTaskId : "";
  const below = Map.groupBy(tasks, rootOf);
  const own = below.get("") ?? [];
  below.delete("");
  return { own, below };
}
