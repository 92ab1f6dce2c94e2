import { defined } from "../../core/defined.ts";
import type { TaskAttachment } from "../../gen/proto/task/v2/task_attachment_pb.ts";
import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { ShareVisibility, type Task, TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import type { Conversation } from "../../gen/proto/task/v2/task_service_pb.ts";

/**
 * The share URL of a task, in the form of the operations that change it: absent while the task is private.
 */
export const shareUrlOf = ({ taskUrl, shareVisibility }: Task): string | undefined =>
  shareVisibility === ShareVisibility.PRIVATE ? undefined : taskUrl.replace(/\/app\/([^/]+)$/, "/share/$1");

/** A part of a message: a text, or a file behind a link (spec/v1.md 4.3). */
export type OutputContent =
  | { readonly type: "output_text"; readonly text: string }
  | {
      readonly type: "output_file";
      readonly fileUrl: string;
      readonly fileName: string;
      readonly mimeType?: string;
    };

/** A message of user or assistant in a conversation. */
export interface OutputItem {
  readonly id: string;
  readonly status: "completed";
  readonly role: "user" | "assistant";
  readonly type: "message";
  readonly content: readonly OutputContent[];
}

/** The messages in the form of v1 and the Responses API; other events are skipped. */
export const outputOf = (messages: readonly TaskEvent[]): readonly OutputItem[] =>
  messages.flatMap((event) => outputItem(event) ?? []);

/** The message of an event; undefined for an event without one. A failure is a message of the assistant. */
export function outputItem({ id, payload }: TaskEvent): OutputItem | undefined {
  switch (payload.case) {
    case "userMessage":
      return item(id, "user", payload.value.content, payload.value.attachments);
    case "assistantMessage":
      return item(id, "assistant", payload.value.content, payload.value.attachments);
    case "errorMessage":
      return item(id, "assistant", payload.value.content, []);
    default:
      return undefined;
  }
}

const item = (
  id: string,
  role: OutputItem["role"],
  text: string,
  files: readonly TaskAttachment[],
): OutputItem => ({
  id,
  status: "completed",
  role,
  type: "message",
  content: [...(text === "" ? [] : [{ type: "output_text" as const, text }]), ...files.map(outputFile)],
});

const outputFile = ({ url, filename, contentType }: TaskAttachment): OutputContent => ({
  type: "output_file",
  fileUrl: url,
  fileName: filename,
  ...defined({ mimeType: contentType }),
});

/** v1's names for the status of a task (spec/v1.md 4.4). */
const statusNames: ReadonlyMap<TaskStatus, string> = new Map([
  [TaskStatus.RUNNING, "running"],
  [TaskStatus.WAITING, "pending"],
  [TaskStatus.STOPPED, "completed"],
  [TaskStatus.ERROR, "failed"],
]);

/** The status names that a list accepts: the SDK guide's `error` also means `failed`. */
export const taskStatuses: Readonly<Record<string, TaskStatus>> = {
  ...Object.fromEntries([...statusNames].map(([status, name]) => [name, status])),
  error: TaskStatus.ERROR,
};

/** A task in v1 with its messages (spec/v1.md 4.3). */
export const taskObject = ({ task, messages, locale, maxOutputTokens }: Conversation) =>
  task
    ? {
        ...stateOf(task),
        locale,
        ...defined({ max_output_tokens: maxOutputTokens }),
        ...conversationOf(task, messages),
      }
    : {};

const stateOf = ({
  id,
  createdAt,
  updatedAt,
  status,
  agentProfile,
  title,
  taskUrl,
  creditUsage,
  metadata,
}: Task) => ({
  id,
  object: "task",
  created_at: Number(createdAt),
  updated_at: Number(updatedAt),
  status: statusNames.get(status),
  model: `${agentProfile}-agent`,
  metadata: { ...metadata, task_title: title, task_url: taskUrl },
  ...defined({ credit_usage: creditUsage }),
});

/** What a waiting task needs from its user. The question is the last message; an approval has none. */
export const waitOf = (last: TaskEvent["payload"] | undefined): "question" | "confirmation" =>
  last?.case === "assistantMessage" && last.value.deliveryKind === "question" ? "question" : "confirmation";

/** Whether the user's stop ended the turn of an idle task. */
export const wasStopped = ({ status }: Task, last: TaskEvent["payload"] | undefined): boolean =>
  status === TaskStatus.STOPPED && last?.case === "userStop";

/** Why a task stopped before it was finished; absent for one that runs, finished or failed. */
function incompleteDetails(task: Task, last: TaskEvent["payload"] | undefined) {
  if (task.status === TaskStatus.WAITING) return { incomplete_details: waitOf(last) };
  return wasStopped(task, last) ? { incomplete_details: "stop" } : {};
}

/**
 * `instructions` is the first message, when the messages include it; `error` is the last message of a failed
 * turn.
 */
function conversationOf(task: Task, messages: Conversation["messages"]) {
  const first = messages.find(({ seq }) => seq === 1)?.payload;
  const last = messages.at(-1)?.payload;
  return {
    ...(first?.case === "userMessage" ? { instructions: first.value.content } : {}),
    ...incompleteDetails(task, last),
    ...(task.status === TaskStatus.ERROR && last?.case === "errorMessage"
      ? { error: last.value.content }
      : {}),
    output: outputOf(messages),
  };
}
