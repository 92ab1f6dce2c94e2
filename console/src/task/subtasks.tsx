import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { SortOrder, type SubtaskCounts, type Task } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { StateBadge } from "../tasks/state.tsx";
import { shownText } from "./act-view.tsx";
import styles from "./task.module.css";
import { text } from "./words.ts";

/** Subtasks that are shown: the first ones. */
const shownMax = 50;
/** While a subtask runs, the states are read again after this many milliseconds. */
export const subtasksEveryMs = 2000;

const allOf = ({ running, waiting, stopped, error }: SubtaskCounts): number =>
  running + waiting + stopped + error;

/** The task that started this one, and the subtasks of this one with their states. */
export function Subtasks({ task }: { task: Task }) {
  const { parentTaskId, subtasks } = task;
  return (
    <>
      {parentTaskId !== undefined && <Parent taskId={parentTaskId} />}
      {subtasks && <List task={task} subtasks={subtasks} />}
    </>
  );
}

function Parent({ taskId }: { taskId: string }) {
  // The parent may have been deleted.
  const parent = useQuery(TaskService.method.getTask, { taskId }, { retry: false });
  const task = parent.data?.task;
  if (!task) return null;
  return (
    <section>
      <h2>{text.partOf}</h2>
      <ul className={styles.subtasks}>
        <Row task={task} />
      </ul>
    </section>
  );
}

function List({ task, subtasks }: { task: Task; subtasks: SubtaskCounts }) {
  const all = allOf(subtasks);
  const list = useQuery(
    TaskService.method.listTasks,
    { parentTaskId: task.id, order: SortOrder.ASC, limit: shownMax },
    { refetchInterval: task.hasRunningBackgroundJobs ? subtasksEveryMs : false },
  );
  const shown = list.data?.data ?? [];
  return (
    <section aria-labelledby="subtasks">
      <h2 id="subtasks">
        {text.subtasks} <small>{text.endedOf(subtasks.stopped + subtasks.error, all)}</small>
      </h2>
      <ul className={styles.subtasks}>
        {shown.map((subtask) => (
          <Row key={subtask.id} task={subtask} />
        ))}
      </ul>
      {all > shown.length && shown.length > 0 && (
        <p className="small">{text.moreSubtasks(all - shown.length)}</p>
      )}
    </section>
  );
}

const Row = ({ task: { id, title, status, outcome, runState } }: { task: Task }) => (
  <li>
    <Link to="/app/$taskId" params={{ taskId: id }}>
      {shownText(title)}
    </Link>
    <StateBadge status={status} outcome={outcome} runState={runState} />
  </li>
);
