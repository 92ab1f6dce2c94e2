import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { ShareVisibility, type Task } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { queryClient } from "../api/client.ts";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { text } from "./words.ts";

const choices = [ShareVisibility.PRIVATE, ShareVisibility.TEAM, ShareVisibility.PUBLIC] as const;

/** Who can read a task, and its address for them. A choice takes effect at once. */
export function ShareDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const [visibility, setVisibility] = useState(task.shareVisibility);
  const update = useMutation(TaskService.method.updateTask, {
    onSuccess: ({ shareVisibility }) => {
      setVisibility(shareVisibility);
      void queryClient.invalidateQueries();
    },
  });
  const address = task.taskUrl.replace(/\/app\/([^/]+)$/, "/share/$1");
  return (
    <Dialog title={text.shareTitle} onClose={onClose}>
      <fieldset className="stack tight" style={{ border: 0, padding: 0, margin: 0 }}>
        <legend className="hidden">{text.visible}</legend>
        {choices.map((choice) => (
          <label key={choice} className="check">
            <input
              type="radio"
              name="visibility"
              checked={visibility === choice}
              disabled={update.isPending}
              onChange={() => update.mutate({ taskId: task.id, shareVisibility: choice })}
            />
            <span>
              {text.visibility[choice]}
              <small style={{ display: "block" }}>{text.visibilityText[choice]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <ErrorNote error={update.error} />
      {visibility > ShareVisibility.PRIVATE && (
        <>
          <p className="small">{text.shareHidden}</p>
          <div className="actions">
            <input className="input" readOnly value={address} aria-label={text.share} style={{ flex: 1 }} />
            <Copy value={address} />
          </div>
        </>
      )}
    </Dialog>
  );
}
