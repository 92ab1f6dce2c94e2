import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Task } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { queryClient } from "../api/client.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import styles from "./tasks.module.css";
import { text } from "./words.ts";

/** Longer descriptions are cut in a row, so they are decided on the page of the task. */
const descriptionMax = 90;

/** Whether a row shows all that is decided: the input is only `accept`, and the description fits. */
export function canDecideHere({ statusDetail }: Task): boolean {
  const schema = statusDetail?.confirmInputSchema as { required?: string[] } | undefined;
  return schema?.required?.join() === "accept" && (statusDetail?.waitingDescription.length ?? 0) <= descriptionMax;
}

/** The buttons of a task that waits: a plain approval is given in the list, everything else is answered on the task's page. */
export function QuickAnswer({ task }: { task: Task }) {
  const confirm = useMutation(TaskService.method.confirmAction, { onSettled: () => void queryClient.invalidateQueries() });
  const eventId = task.statusDetail?.waitingForEventId ?? "";
  return (
    <span className={styles.answer}>
      <ErrorNote error={confirm.error} />
      {canDecideHere(task) && (
        <button
          type="button"
          className="button primary"
          disabled={confirm.isPending || confirm.isSuccess}
          onClick={() => confirm.mutate({ taskId: task.id, eventId, input: { accept: true } })}
        >
          {text.allow}
        </button>
      )}
      <Link to="/app/$taskId" params={{ taskId: task.id }} className="button">
        {text.review}
      </Link>
    </span>
  );
}
