import { Failure, invalidArgument } from "../core/failure.ts";
import type { Json } from "../doors/operations.ts";
import { isQuestion, waitingOf } from "../doors/turn.ts";
import type { Message, SendMessageRequest } from "../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { contentOf, decisionIn } from "./message.ts";
import { A2aFailure } from "./problem.ts";
import { isOver, stateOf } from "./task.ts";
import { readTask, type Use } from "./use.ts";

/** What a message began or continued: the task, and its last event before. */
interface Sent {
  readonly taskId: string;
  readonly seq: number;
}

/** Sends the message of a request: to its task, to the task of its context, or as a new task. @throws Failure, Refusal */
export async function send({ tenant, message, configuration }: SendMessageRequest, use: Use): Promise<Sent> {
  const profile = use.agents.profileOf(tenant);
  if (!message) throw invalidArgument("message", "is required");
  if (configuration?.taskPushNotificationConfig) throw noPush();
  const { taskId, contextId } = message;
  if (taskId !== "" && contextId !== "" && taskId !== contextId)
    throw invalidArgument("message.context_id", "is not the context of the task");
  if (taskId === "" && contextId === "") return begin(message, profile, use);
  const task = await readTask(use, taskId || contextId);
  if (taskId !== "" && isOver(stateOf(task)))
    throw new A2aFailure("UNSUPPORTED_OPERATION", "the task is over: a message with its context_id alone continues the conversation");
  return proceed(message, task, use);
}

/** The refusal of configurations of push notifications. */
export const noPush = (): Failure =>
  new A2aFailure("PUSH_NOTIFICATION_NOT_SUPPORTED", "push notifications are not supported: subscribe to the task, or create a webhook");

async function begin(message: Message, profile: string | undefined, { operations, signal }: Use): Promise<Sent> {
  const request = { interactive_mode: true, message: { content: contentOf(message) }, ...(profile && { agent_profile: profile }) };
  const { task_id } = await operations.call("task.create", request, signal);
  return { taskId: String(task_id), seq: 0 };
}

async function proceed(message: Message, task: Json, use: Use): Promise<Sent> {
  const { operations, signal } = use;
  const sent = { taskId: String(task["id"]), seq: Number(task["last_seq"]) };
  const waiting = waitingOf(task);
  if (waiting && !isQuestion(waiting)) {
    await checkApprover(use, task);
    await operations.call("task.confirmAction", { task_id: sent.taskId, ...decisionIn(message) }, signal);
  } else await operations.call("task.sendMessage", { task_id: sent.taskId, message: { content: contentOf(message) } }, signal);
  return sent;
}

/** The caller is a program that may be led by a model: it decides approvals only if its user has granted that (spec/decisions.md 130). */
async function checkApprover({ operations, signal }: Use, task: Json): Promise<void> {
  const { kind, scopes } = await operations.caller(signal);
  if (kind !== "token" || !scopes?.includes("approve:task"))
    throw new Failure(
      "permission_denied",
      `the task waits for an approval, which a person gives at ${String(task["task_url"])}, or a token with the scope approve:task`,
    );
}
