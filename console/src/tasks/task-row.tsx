import { Link } from "@tanstack/react-router";
import { memo, type ReactNode, useState } from "react";
import { type SubtaskCounts, type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { shownText } from "../task/act-view.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatDuration, formatExact, formatNumber, fromSeconds, useNow } from "../ui/time.tsx";
import { catalogued } from "../words.ts";
import { canDecideHere, QuickAnswer } from "./quick-answer.tsx";
import { StateBadge } from "./state.tsx";
import styles from "./tasks.module.css";
import { text } from "./words.ts";

/**
 * What the task asks, or where it is; then whose subtask it is, and its labels.
 *
 * @param parentTitle undefined: the list does not know its parent; null: its place shows it.
 */
function aboutOf(
  { status, statusDetail, planProgress, brief, metadata, parentTaskId }: Task,
  parentTitle: string | undefined | null,
): string {
  const isMarked = parentTaskId !== undefined && parentTitle !== null;
  const marks = isMarked
    ? [parentTitle === undefined ? text.subtask : text.subtaskOf(shownText(parentTitle))]
    : [];
  const labels = [...marks, ...Object.entries(metadata).map(([key, value]) => `${key}: ${value}`)];
  if (status === TaskStatus.WAITING && statusDetail)
    return [shownText(catalogued(statusDetail.waitingDescription)), ...labels].join(" · ");
  const isRunning = status === TaskStatus.RUNNING;
  const step =
    isRunning && planProgress
      ? [text.step(Math.min(planProgress.done + 1, planProgress.total), planProgress.total)]
      : [];
  return [...step, ...(isRunning && brief ? [shownText(catalogued(brief))] : []), ...labels].join(" · ");
}

interface RowProps {
  readonly task: Task;
  /** Subtasks to fold below it. */
  readonly below: readonly Task[];
  /** The title of the task that started it, if the list knows it. */
  readonly parentTitle: string | undefined;
}

/** One task of the list; the whole row leads to it. Its subtasks open below it. */
export const TaskRow = memo(({ task, below, parentTitle }: RowProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Row task={task} parentTitle={parentTitle}>
        {task.subtasks && below.length > 0 && (
          <button
            type="button"
            className={styles.fold}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="next" />
            {endedOf(task.subtasks)}
          </button>
        )}
      </Row>
      {isOpen && below.map((subtask) => <Row key={subtask.id} task={subtask} isBelow />)}
    </>
  );
});

const endedOf = ({ running, waiting, stopped, error }: SubtaskCounts): string =>
  text.subtasks(stopped + error, running + waiting + stopped + error);

/** How long a task has waited, as `waits 3 h`. */
function Waits({ since }: { since: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(since).toISOString()} title={formatExact(since)}>
      {text.waits(formatDuration(now - since))}
    </time>
  );
}

interface OneProps {
  readonly task: Task;
  readonly parentTitle?: string | undefined;
  /** Whether it stands below its root. */
  readonly isBelow?: boolean;
  readonly children?: ReactNode;
}

const Row = ({ task, parentTitle, isBelow = false, children }: OneProps) => (
  <li
    data-row
    className={`${styles.row} ${task.status === TaskStatus.WAITING ? styles.waiting : ""} ${isBelow ? styles.below : ""}`}
  >
    <span className={styles.state}>
      <StateBadge status={task.status} outcome={task.outcome} runState={task.runState} />
      {task.waitingSince !== undefined && <Waits since={fromSeconds(task.waitingSince)} />}
    </span>
    <span className={styles.name}>
      <Link to="/app/$taskId" params={{ taskId: task.id }} dir="auto">
        {shownText(task.title)}
      </Link>
      <small dir="auto" className={canDecideHere(task) ? styles.whole : ""}>
        {aboutOf(task, isBelow ? null : parentTitle)}
      </small>
      {children}
    </span>
    {task.status === TaskStatus.WAITING ? (
      <QuickAnswer key={task.statusDetail?.waitingForEventId} task={task} />
    ) : (
      <>
        <span className={styles.cost}>
          {task.creditUsage ? text.credits(formatNumber(task.creditUsage)) : ""}
        </span>
        <span className={styles.time}>
          <Ago at={fromSeconds(task.updatedAt)} />
        </span>
      </>
    )}
  </li>
);
