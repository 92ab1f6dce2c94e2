import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { type Task, TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import type { Conversation } from "../../gen/proto/task/v2/task_service_pb.ts";
import { type OutputContent, type OutputItem, outputItem, shareUrlOf } from "../v1/task-object.ts";

/** A text with the list that SDK helpers read, or a file behind a link. */
export type Part = Exclude<OutputContent, { type: "output_text" }> | (OutputText & { readonly annotations: readonly never[] });
type OutputText = Extract<OutputContent, { type: "output_text" }>;

/** A message of user or assistant in the Responses API (spec/v1.md 7.3). */
export type Message = Omit<OutputItem, "content"> & { readonly content: readonly Part[] };

/** The status values of the facade, which differ from those of the SDK (spec/v1.md 7.3). */
export type ResponseStatus = "running" | "pending" | "completed" | "error";

/** Why a turn ended without being finished. */
export type Unfinished = "question" | "confirmation" | "stop";

/** The state of a conversation. */
export interface ResponseState {
  readonly status: ResponseStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: Unfinished } | null;
  /** The complete conversation. */
  readonly output: readonly Message[];
}

/** The message of an event; undefined for an event without one. */
export function messageOf(event: TaskEvent): Message | undefined {
  const item = outputItem(event);
  return item && { ...item, content: item.content.map((part) => (part.type === "output_text" ? { ...part, annotations: [] } : part)) };
}

/** Members that the SDK's types require and a task does not have. */
const unused = { instructions: null, parallel_tool_calls: false, temperature: null, tool_choice: "auto", tools: [], top_p: null } as const;

/** The Response object: a task in a state (spec/v1.md 7.3). */
export const responseObject = (task: Task, { status, error, incomplete_details, output }: ResponseState) => ({
  id: task.id,
  object: "response" as const,
  created_at: Number(task.createdAt),
  createdAt: String(task.createdAt),
  status,
  error,
  incomplete_details,
  model: `${task.agentProfile}-agent`,
  metadata: metadataOf(task),
  output,
  ...unused,
});

function metadataOf(task: Task): Readonly<Record<string, string>> {
  const { title, taskUrl, creditUsage } = task;
  const shareUrl = shareUrlOf(task);
  return {
    task_title: title,
    task_url: taskUrl,
    ...(creditUsage === undefined ? {} : { credit_usage: String(creditUsage) }),
    ...(shareUrl === undefined ? {} : { share_url: shareUrl }),
  };
}

const statuses: ReadonlyMap<TaskStatus, ResponseStatus> = new Map([
  [TaskStatus.STOPPED, "completed"],
  [TaskStatus.WAITING, "pending"],
  [TaskStatus.ERROR, "error"],
]);

/** The Response object of a conversation as it is now. */
export function responseOf({ task, messages }: Conversation) {
  if (!task) throw new Error("a conversation has a task");
  const status = statuses.get(task.status) ?? "running";
  const last = messages.at(-1)?.payload;
  return responseObject(task, {
    status,
    error: status === "error" ? errorOf(last) : null,
    incomplete_details: status === "pending" ? { reason: isQuestion(last) ? "question" : "confirmation" } : null,
    output: messages.flatMap((event) => messageOf(event) ?? []),
  });
}

/** The error of a failed turn: its last message has the reason. */
export const errorOf = (last: TaskEvent["payload"] | undefined): NonNullable<ResponseState["error"]> =>
  last?.case === "errorMessage"
    ? { code: last.value.errorType, message: last.value.content }
    : { code: "internal", message: "The task failed" };

const isQuestion = (last: TaskEvent["payload"] | undefined): boolean =>
  last?.case === "assistantMessage" && last.value.deliveryKind === "question";
