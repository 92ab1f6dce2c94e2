import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { Ago, formatNumber, fromSeconds } from "../ui/time.tsx";
import { QuickAnswer } from "./quick-answer.tsx";
import { StateBadge } from "./state.tsx";
import styles from "./tasks.module.css";
import { text } from "./words.ts";

/** What the task asks, or where it is; then its labels. */
function aboutOf({ status, statusDetail, planProgress, brief, metadata }: Task): string {
  const labels = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`);
  if (status === TaskStatus.WAITING && statusDetail) return [statusDetail.waitingDescription, ...labels].join(" · ");
  const isRunning = status === TaskStatus.RUNNING;
  const step = isRunning && planProgress ? [text.step(Math.min(planProgress.done + 1, planProgress.total), planProgress.total)] : [];
  return [...step, ...(isRunning && brief ? [brief] : []), ...labels].join(" · ");
}

/** One task of the list; the whole row leads to it. */
export const TaskRow = memo(({ task }: { task: Task }) => (
  <li data-row className={`${styles.row} ${task.status === TaskStatus.WAITING ? styles.waiting : ""}`}>
    <StateBadge status={task.status} outcome={task.outcome} />
    <span className={styles.name}>
      <Link to="/app/$taskId" params={{ taskId: task.id }}>
        {task.title}
      </Link>
      <small>{aboutOf(task)}</small>
    </span>
    {task.status === TaskStatus.WAITING ? (
      <QuickAnswer key={task.statusDetail?.waitingForEventId} task={task} />
    ) : (
      <>
        <span className={styles.cost}>{task.creditUsage ? text.credits(formatNumber(task.creditUsage)) : ""}</span>
        <span className={styles.time}>
          <Ago at={fromSeconds(task.updatedAt)} />
        </span>
      </>
    )}
  </li>
));
