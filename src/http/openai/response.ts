import { defined } from "../../core/defined.ts";
import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { type Task, TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import { type Conversation, TaskService, type TokenUsage } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Invoke } from "../v1/route.ts";
import { shareUrlOf, waitOf, wasStopped } from "../v1/task-object.ts";
import { hostedMembers, hostedOutput } from "./hosted-form.ts";
import type { Form, Output, ResponseState, ResponseStatus } from "./items.ts";
import { openaiMembers, openaiMetadata, openaiOutput } from "./openai-form.ts";

/** Collects the output of a task from its events in a form. */
export const outputIn = (form: Form, taskId: string): Output =>
  form === "openai" ? openaiOutput(taskId) : hostedOutput();

/** The SDK's names for the status (spec/v1.md 7.3). */
const sdkStatuses = {
  running: "in_progress",
  pending: "incomplete",
  completed: "completed",
  error: "failed",
} as const;

const statusIn = (form: Form, { status, isStopped }: ResponseState): string => {
  if (form === "platform") return status;
  return isStopped ? "cancelled" : sdkStatuses[status];
};

export type Described = { readonly task: Task } & Partial<
  Pick<Conversation, "maxOutputTokens" | "usage" | "turn">
>;

/** The Response object: a task in a state (spec/v1.md 7.3). */
export function responseObject(
  { task, maxOutputTokens, usage, turn }: Described,
  state: ResponseState,
  form: Form,
) {
  const isOpenai = form === "openai";
  return {
    id: task.id,
    object: "response" as const,
    created_at: Number(task.createdAt),
    createdAt: String(task.createdAt),
    status: statusIn(form, state),
    error: state.error && isOpenai ? { ...state.error, type: "server_error", param: null } : state.error,
    incomplete_details: state.incomplete_details,
    model: `${task.agentProfile}-agent`,
    metadata: { ...metadataOf(task), ...(isOpenai ? openaiMetadata(turn, state) : {}) },
    output: state.output,
    max_output_tokens: maxOutputTokens ?? null,
    usage: usage || (isOpenai && state.status !== "running") ? usageObject(usage) : null,
    ...(isOpenai ? openaiMembers(turn, state) : hostedMembers),
  };
}

/** The tokens of a task in the SDK's form. Those of thoughts are not counted separately. */
function usageObject(usage: TokenUsage | undefined) {
  const [input_tokens, output_tokens] = [Number(usage?.inputTokens ?? 0), Number(usage?.outputTokens ?? 0)];
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: Number(usage?.cachedInputTokens ?? 0) },
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
    ...defined({ share_url: shareUrl }),
  };
}

const statuses: ReadonlyMap<TaskStatus, ResponseStatus> = new Map([
  [TaskStatus.STOPPED, "completed"],
  [TaskStatus.WAITING, "pending"],
  [TaskStatus.ERROR, "error"],
]);

/** The Response object of a conversation as it is now. */
export function responseOf({ task, messages, ...more }: KnownConversation, form: Form) {
  const status = statuses.get(task.status) ?? "running";
  const last = messages.at(-1);
  const isStopped = wasStopped(task, last?.payload);
  const output = outputIn(form, task.id);
  for (const event of messages) output.add(event);
  const state: ResponseState = {
    status,
    ...(isStopped ? { isStopped } : {}),
    error: status === "error" ? errorOf(last?.payload) : null,
    incomplete_details: status === "pending" ? { reason: waitOf(last?.payload) } : null,
    output:
      status === "completed" && last?.payload.case === "structuredOutputResult"
        ? output.withResult()
        : output.items(),
    ...(last && status === "completed" && !isStopped ? { completedAt: secondsOf(last) } : {}),
  };
  return responseObject({ task, ...more }, state, form);
}

export const secondsOf = ({ timestamp }: TaskEvent): number => Math.floor(Number(timestamp) / 1000);

/** Reads a task with its messages. @throws Failure `not_found` */
export async function readConversation(ask: Invoke, taskId: string): Promise<KnownConversation> {
  const { conversation } = await ask(TaskService.method.getConversation, { taskId });
  if (!conversation?.task) throw new Error("the answer has no conversation");
  return { ...conversation, task: conversation.task };
}

type KnownConversation = Conversation & { readonly task: Task };

/** The error of a failed turn: its last message has the reason. */
export const errorOf = (last: TaskEvent["payload"] | undefined): NonNullable<ResponseState["error"]> =>
  last?.case === "errorMessage"
    ? { code: last.value.errorType, message: last.value.content }
    : { code: "internal", message: "The task failed" };
