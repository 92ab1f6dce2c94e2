import type { StructuredOutputResult, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { type Task, TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import { type Conversation, TaskService, type TokenUsage } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Invoke } from "../v1/route.ts";
import { type OutputContent, type OutputItem, outputItem, shareUrlOf, waitOf, wasStopped } from "../v1/task-object.ts";

/** The answer's text with the list that SDK helpers read, another text, a value that could not be extracted, or a file behind a link. */
export type Part =
  | (Extract<OutputContent, { type: "output_text" }> & { readonly annotations: readonly never[] })
  | { readonly type: "input_text" | "text"; readonly text: string }
  | { readonly type: "refusal"; readonly refusal: string }
  | Exclude<OutputContent, { type: "output_text" }>;

/** A message of user or assistant in the Responses API (spec/v1.md 7.3). */
export type Message = Omit<OutputItem, "content"> & { readonly content: readonly Part[] };

/** The status values of the platform, which differ from those of the SDK (spec/v1.md 7.3). */
export type ResponseStatus = "running" | "pending" | "completed" | "error";

/** Whose status values a response has. */
export const forms = ["platform", "openai"] as const;
export type Form = (typeof forms)[number];

/** Why a turn ended without being finished. */
export type Unfinished = "question" | "confirmation" | "stop";

/** The state of a conversation. */
export interface ResponseState {
  readonly status: ResponseStatus;
  /** The user's stop ended the turn. */
  readonly isStopped?: true;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: Unfinished } | null;
  /** The complete conversation. */
  readonly output: readonly Message[];
}

/** The message of an event; undefined for an event without one. The value of a structured output is a message of the assistant. */
export function messageOf(event: TaskEvent): Message | undefined {
  if (event.payload.case === "structuredOutputResult") return resultMessage(event.id, event.payload.value);
  const item = outputItem(event);
  return item && { ...item, content: item.content.map((part) => partOf(item.role, part)) };
}

/** The user's own text is input, so that the SDK's `output_text` has only texts of the assistant. */
function partOf(role: OutputItem["role"], part: OutputContent): Part {
  if (part.type !== "output_text") return part;
  return role === "user" ? { type: "input_text", text: part.text } : { ...part, annotations: [] };
}

const resultMessage = (id: string, { success, value, error }: StructuredOutputResult): Message => ({
  ...{ id, status: "completed", role: "assistant", type: "message" },
  content: [
    success ? { type: "output_text", text: JSON.stringify(value ?? {}), annotations: [] } : { type: "refusal", refusal: error ?? "" },
  ],
});

/**
 * The output of a conversation that ended with a structured output: only the value is an `output_text`, so that SDKs can
 * parse the texts of all such parts.
 */
export const onlyResult = (output: readonly Message[]): readonly Message[] =>
  output.map((message, index) =>
    index === output.length - 1
      ? message
      : { ...message, content: message.content.map((part) => (part.type === "output_text" ? { type: "text", text: part.text } : part)) },
  );

/** Members that the SDK's types require and a task does not have. */
const unused = { instructions: null, parallel_tool_calls: false, temperature: null, tool_choice: "auto", tools: [], top_p: null } as const;

/** The SDK's names for the status (spec/v1.md 7.3). */
const sdkStatuses = { running: "in_progress", pending: "incomplete", completed: "completed", error: "failed" } as const;

const statusIn = (form: Form, { status, isStopped }: ResponseState): string => {
  if (form === "platform") return status;
  return isStopped ? "cancelled" : sdkStatuses[status];
};

/** A task with what else a response shows of it. */
export type Described = { readonly task: Task } & Partial<Pick<Conversation, "maxOutputTokens" | "usage">>;

/** The Response object: a task in a state (spec/v1.md 7.3). */
export const responseObject = ({ task, maxOutputTokens, usage }: Described, state: ResponseState, form: Form) => ({
  id: task.id,
  object: "response" as const,
  created_at: Number(task.createdAt),
  createdAt: String(task.createdAt),
  status: statusIn(form, state),
  error: state.error,
  incomplete_details: state.incomplete_details,
  model: `${task.agentProfile}-agent`,
  metadata: { ...metadataOf(task), ...(form === "openai" ? { status: state.status } : {}) },
  output: state.output,
  max_output_tokens: maxOutputTokens ?? null,
  usage: usage === undefined ? null : usageObject(usage),
  ...unused,
});

/** The tokens of a task in the SDK's form. Which of them were cached or reasoning is not counted. */
function usageObject({ inputTokens, outputTokens }: TokenUsage) {
  const [input_tokens, output_tokens] = [Number(inputTokens), Number(outputTokens)];
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  };
}

/** The task's own pairs, and facts about it, whose names take precedence. */
function metadataOf(task: Task): Readonly<Record<string, string>> {
  const { title, taskUrl, creditUsage } = task;
  const shareUrl = shareUrlOf(task);
  return {
    ...task.metadata,
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
export function responseOf({ task, messages, ...more }: Conversation, form: Form) {
  if (!task) throw new Error("a conversation has a task");
  const status = statuses.get(task.status) ?? "running";
  const last = messages.at(-1)?.payload;
  const output = messages.flatMap((event) => messageOf(event) ?? []);
  const state: ResponseState = {
    status,
    ...(wasStopped(task, last) ? { isStopped: true } : {}),
    error: status === "error" ? errorOf(last) : null,
    incomplete_details: status === "pending" ? { reason: waitOf(last) } : null,
    output: status === "completed" && last?.case === "structuredOutputResult" ? onlyResult(output) : output,
  };
  return responseObject({ task, ...more }, state, form);
}

/** Reads a task with its messages. @throws Failure `not_found` */
export async function readConversation(ask: Invoke, taskId: string): Promise<Conversation> {
  const { conversation } = await ask(TaskService.method.getConversation, { taskId });
  if (!conversation) throw new Error("the answer has no conversation");
  return conversation;
}

/** The error of a failed turn: its last message has the reason. */
export const errorOf = (last: TaskEvent["payload"] | undefined): NonNullable<ResponseState["error"]> =>
  last?.case === "errorMessage"
    ? { code: last.value.errorType, message: last.value.content }
    : { code: "internal", message: "The task failed" };
