import type { StructuredResult } from "../structured-output/result.ts";
import type { EventPayloads, NewEvent } from "../tasks/event.ts";
import type { Task } from "../tasks/task.ts";

/** What has happened to a task that webhooks may be told of; `seq` is the number of the task event behind it. */
export type Telling = { readonly seq: number } & (
  | { readonly type: "task_created" }
  /** The agent has begun a step of its plan. */
  | { readonly type: "task_progress"; readonly message: string }
  | { readonly type: "task_stopped"; readonly message: string; readonly stopReason: "finish"; readonly output?: StructuredResult }
  | { readonly type: "task_stopped"; readonly message: string; readonly stopReason: "ask" }
  | { readonly type: "task_failed" | "task_cancelled"; readonly message: string }
);

/** Only tasks made through the API are told of, and no subtasks (contract/webhooks.md 11). */
export const isTold = ({ apiKeyId, clientId, type }: Pick<Task, "apiKeyId" | "clientId" | "type">): boolean =>
  (apiKeyId !== null || clientId !== null) && type !== "agent_subtask";

/**
 * What a step of a task tells, oldest first (contract/webhooks.md 2, contract/decisions.md 40). It goes by the events
 * alone: a task that rests says so by a `status_update`, once, and one that goes on at once does not.
 *
 * @param firstSeq the number of the first of the events, which were written together.
 */
export const tellingsOf = (events: readonly NewEvent[], firstSeq: number): readonly Telling[] =>
  events.flatMap((event, index): readonly Telling[] => {
    const seq = firstSeq + index;
    if (event.type === "new_plan_step") return [{ type: "task_progress", seq, message: event.payload.title }];
    return event.type === "status_update" ? atRest(event.payload, events, seq) : [];
  });

function atRest({ agentStatus, brief, statusDetail }: EventPayloads["status_update"], events: readonly NewEvent[], seq: number): Telling[] {
  switch (agentStatus) {
    case "running":
      return [];
    case "waiting":
      return [{ type: "task_stopped", seq, message: statusDetail?.waitingDescription ?? brief, stopReason: "ask" }];
    case "error":
      return [{ type: "task_failed", seq, message: lastOf(events, "error_message")?.content ?? brief }];
    case "stopped":
      return [lastOf(events, "user_stop") ? { type: "task_cancelled", seq, message: brief } : finished(events, seq)];
  }
}

/** What an armed schema asked for stands behind the status. */
function finished(events: readonly NewEvent[], seq: number): Telling {
  const output = lastOf(events, "structured_output_result");
  const message = lastOf(events, "assistant_message")?.content ?? "";
  return { type: "task_stopped", seq, message, stopReason: "finish", ...(output ? { output } : {}) };
}

/** The payload of the last event of a type; undefined when there is none. */
function lastOf<T extends NewEvent["type"]>(events: readonly NewEvent[], type: T): EventPayloads[T] | undefined {
  const last = events.findLast((event) => event.type === type);
  // The type of an event says what its payload is.
  return last?.payload as EventPayloads[T] | undefined;
}
