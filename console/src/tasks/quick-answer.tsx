import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { canRefuse } from "#core/actions/kind.ts";
import type { Task } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { queryClient } from "../api/client.ts";
import { messageHash } from "../task/message-hash.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import styles from "./tasks.module.css";
import { text } from "./words.ts";

/** Whether the server says that a row shows all that is decided. */
export const canDecideHere = ({ statusDetail }: Task): boolean => statusDetail?.isWhole === true;

/**
 * The buttons of a task that waits: an act that the row shows whole is decided in the list, everything else
 * on the task's page.
 */
export function QuickAnswer({ task }: { task: Task }) {
  const confirm = useMutation(TaskService.method.confirmAction, {
    onSettled: () => void queryClient.invalidateQueries(),
  });
  const { waitingForEventId = "", waitingForEventType = "" } = task.statusDetail ?? {};
  const isDone = confirm.isPending || confirm.isSuccess;
  const decide = (input: JsonObject): void =>
    confirm.mutate({ taskId: task.id, eventId: waitingForEventId, input });
  const refuse = canRefuse(waitingForEventType) ? (
    <button type="button" className="button" disabled={isDone} onClick={() => decide({ accept: false })}>
      {text.refuse}
    </button>
  ) : (
    <Link to="/app/$taskId" params={{ taskId: task.id }} hash={messageHash} className="button">
      {text.instead}
    </Link>
  );
  return (
    <span className={styles.answer}>
      <ErrorNote error={confirm.error} />
      {canDecideHere(task) && (
        <>
          <button
            type="button"
            className="button primary"
            disabled={isDone}
            onClick={() => decide({ accept: true })}
          >
            {text.allow}
          </button>
          {refuse}
        </>
      )}
      <Link to="/app/$taskId" params={{ taskId: task.id }} className="button">
        {text.review}
      </Link>
    </span>
  );
}
