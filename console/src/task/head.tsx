import { useMutation } from "@connectrpc/connect-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { PlanStep } from "#proto/task/v2/task_event_pb.ts";
import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { queryClient } from "../api/client.ts";
import type { Connection } from "../api/live.ts";
import { StateBadge } from "../tasks/state.tsx";
import { ConnectionNote } from "../ui/connection-note.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { shownText } from "./act-view.tsx";
import { PlanBar } from "./plan-bar.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import styles from "./task.module.css";
import { doneSteps } from "./timeline.ts";
import { text } from "./words.ts";

interface HeadProps {
  readonly task: Task | undefined;
  readonly status: TaskStatus;
  readonly runState: Task["runState"];
  readonly plan: readonly PlanStep[];
  readonly connection: Connection;
}

/** The title of a task, its state, and what can be done with it. */
export function Head({ task, status, runState, plan, connection }: HeadProps) {
  const [dialog, setDialog] = useState<"share" | "rename" | "remove">();
  const stop = useMutation(TaskService.method.stopTask);
  const isActive = status === TaskStatus.RUNNING || status === TaskStatus.WAITING;
  const close = (): void => setDialog(undefined);
  return (
    <>
      <header className={styles.head}>
        <Link to="/" className={styles.back} aria-label={text.tasks}>
          <Icon name="back" />
        </Link>
        <h1 id="title" dir="auto">
          {task ? shownText(task.title) : " "}
        </h1>
        <span className={styles.state}>
          <StateBadge status={status} outcome={task?.outcome} runState={runState} />
        </span>
        <span className="spacer" />
        <ConnectionNote connection={connection} isActive={isActive} />
        <button
          type="button"
          className="button ghost square"
          aria-label={text.share}
          title={text.share}
          onClick={() => setDialog("share")}
        >
          <Icon name="share" />
        </button>
        {isActive && task && (
          <button
            type="button"
            className="button"
            aria-label={text.stop}
            disabled={stop.isPending}
            onClick={() => stop.mutate({ taskId: task.id })}
          >
            <Icon name="stop" />
            <span className={styles.label}>{text.stop}</span>
          </button>
        )}
        <Menu
          label={text.more}
          entries={[
            { label: text.rename, icon: "file", run: () => setDialog("rename") },
            { label: text.remove, icon: "bin", danger: true, run: () => setDialog("remove") },
          ]}
        />
      </header>
      <ErrorNote error={stop.error} />
      {plan.length > 0 && (
        <div className={styles.miniPlan}>
          <PlanBar plan={plan} />
          <span>{text.doneOf(doneSteps(plan), plan.length)}</span>
          <span className="spacer" />
          <StateBadge status={status} outcome={task?.outcome} runState={runState} />
        </div>
      )}
      {task && dialog === "share" && <ShareDialog task={task} onClose={close} />}
      {task && dialog === "rename" && <RenameDialog task={task} onClose={close} />}
      {task && dialog === "remove" && <RemoveDialog task={task} isActive={isActive} onClose={close} />}
    </>
  );
}

const refresh = (): Promise<void> => queryClient.invalidateQueries();

function RenameDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const [title, setTitle] = useState(task.title);
  const update = useMutation(TaskService.method.updateTask, {
    onSuccess: () => {
      void refresh();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.rename}
      submit={text.save}
      draft={`task ${task.id}`}
      {...{ onClose, error: update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ taskId: task.id, title })}
    >
      <TextField label={text.title} maxLength={255} required value={title} onValue={setTitle} />
    </FormDialog>
  );
}

function RemoveDialog({ task, isActive, onClose }: { task: Task; isActive: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useMutation(TaskService.method.deleteTask, {
    onSuccess: async () => {
      await navigate({ to: "/" });
      void refresh();
    },
  });
  return (
    <FormDialog
      title={text.removeTitle}
      submit={text.remove}
      danger
      {...{ onClose, error: remove.error, isPending: remove.isPending }}
      onSubmit={() => remove.mutate({ taskId: task.id, stop: isActive })}
    >
      <p>{text.removeText}</p>
    </FormDialog>
  );
}
