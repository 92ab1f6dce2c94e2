import type { Attachment } from "../files/attachment.ts";
import type { JsonObject } from "../json.ts";
import type { StructuredResult } from "../structured-output/result.ts";
import { eventId } from "../tasks/event.ts";
import type { Task } from "../tasks/task.ts";
import type { Telling } from "./events.ts";

/** What bodies are made with. */
export interface BodyParts {
  /** Where people open tasks; no slash at its end. */
  readonly appUrl: string;
  /** The address at which a file may be fetched for 7 days. */
  readonly link: (fileId: string) => string;
}

/** A telling, and what it is about. */
export interface Told {
  /** The event's id. */
  readonly id: string;
  readonly telling: Telling;
  readonly task: Pick<Task, "id" | "title">;
  /** What the agent has attached in the turn; shown where the task has stopped. */
  readonly attachments: readonly Attachment[];
}

/** The bytes of a webhook event, as text (contract/webhooks.md 3): fixed once they are made, links included. */
export const bodyOf = (told: Told, parts: BodyParts): string =>
  JSON.stringify({ event_id: told.id, event_type: told.telling.type, ...detailOf(told, parts) });

function detailOf({ telling, task, attachments }: Told, { appUrl, link }: BodyParts): JsonObject {
  if (telling.type === "task_progress") {
    return { progress_detail: { task_id: task.id, progress_type: "plan_update", message: telling.message } };
  }
  return {
    task_detail: {
      task_id: task.id,
      task_title: task.title,
      task_url: `${appUrl}/app/${task.id}`,
      ...(telling.type === "task_created" ? {} : { message: telling.message }),
      ...(telling.type === "task_stopped" ? stopOf(telling, attachments, link) : {}),
      task_event_id: eventId(task.id, telling.seq),
    },
  };
}

/** `attachments` is `[]` when there is none (contract/webhooks.md 11). */
const stopOf = (
  telling: Extract<Telling, { type: "task_stopped" }>,
  attachments: readonly Attachment[],
  link: BodyParts["link"],
): JsonObject => ({
  stop_reason: telling.stopReason,
  attachments: attachments.map(({ fileId, filename, bytes }) => ({ file_name: filename, url: link(fileId), size_bytes: bytes })),
  ...("output" in telling && telling.output ? { structured_output: outputOf(telling.output) } : {}),
});

const outputOf = ({ success, value, error }: StructuredResult): JsonObject => ({ success, value, error: error ?? null });
