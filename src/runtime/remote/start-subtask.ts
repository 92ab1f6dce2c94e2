import { Failure } from "../../core/failure.ts";
import type { Tx } from "../../core/store.ts";
import type { NewEvent } from "../../core/tasks/event.ts";
import { messageText, titleOf } from "../../core/tasks/message.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { BegunSubtask, SentEvent, WantedSubtask } from "../../core/workers/remote-run.ts";
import { isMainTask } from "../subtasks.ts";
import { appendSent } from "./append.ts";
import type { UploadParts } from "./uploads.ts";

/**
 * Begins a subtask with an event of the worker's key, so that one that is asked for again is there once.
 *
 * @throws Lost, Failure as `RemoteRuns.startSubtask` has them.
 */
export async function startSubtask(parts: UploadParts, task: Task, workerId: string, wanted: WantedSubtask): Promise<BegunSubtask> {
  if (!isMainTask(task)) throw new Failure("precondition", "task_id: only an agent's main task begins subtasks", { path: "task_id" });
  const { key, digest, message } = wanted;
  messageText({ texts: [message] }, "message");
  const subtask = { id: parts.ids.short(), message };
  const sent: SentEvent = { key, digest, event: toldOf(subtask), uploadIds: [], subtask };
  const { numbers } = await appendSent(parts, task, workerId, [sent], { credits: 0, usage: null });
  const seq = numbers[0] ?? 0;
  return { seq, id: await subtaskIn(parts.store, task.id, seq) };
}

/** As the model agent's own tool tells it. */
const toldOf = ({ id, message }: { readonly id: string; readonly message: string }): NewEvent => ({
  type: "tool_used",
  payload: {
    ...{ tool: "start_subtask", actionId: id, status: "success", brief: `Begin a subtask: ${titleOf(message)}` },
    ...{ params: { message }, result: { task_id: id, status: "running" } },
  },
});

/** Which subtask an event has begun: that of the call which was first with its key. */
async function subtaskIn(store: Tx, taskId: string, seq: number): Promise<string> {
  const [event] = await store.events.list(taskId, { afterSeq: seq - 1, beforeSeq: seq + 1, order: "asc", limit: 1, verbose: true });
  if (event?.type !== "tool_used") throw new Error("the event of a subtask is gone");
  return event.payload.actionId;
}
