import { createHash } from "node:crypto";
import { isQuestion, type RequestOf, type Task } from "../../../packages/client/src/index.ts";
import { Failure, invalidArgument } from "../../core/failure.ts";
import type { Message, SendMessageRequest } from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { checkShown, mayDecide } from "../shared/ask.ts";
import { readTask, waitingOf } from "../shared/turn.ts";
import { contentOf, decisionIn } from "./message.ts";
import { A2aFailure } from "./problem.ts";
import { contextKey, isOver, placeOf, stateOf } from "./task.ts";
import { findTask, type Use } from "./use.ts";

/** What a message began or continued: the task, and its last event before. */
interface Sent {
  readonly taskId: string;
  readonly seq: number;
}

const contextMax = 128;

/**
 * Sends the message of a request: to its task, to the task whose id is its context, or as a new task in the
 * context of its client. A message that was sent before, with the same id by the same credential, is not sent
 * again.
 *
 * @throws Failure, ApiError
 */
export async function send({ tenant, message, configuration }: SendMessageRequest, use: Use): Promise<Sent> {
  const profile = use.agents.profileOf(tenant);
  if (!message) throw invalidArgument("message", "is required");
  const task = await taskFor(message, use);
  const deliver = (): Promise<Sent> => (task ? proceed(message, task, use) : begin(message, profile, use));
  const { taskPushNotificationConfig } = configuration ?? {};
  if (!taskPushNotificationConfig) return deliver();
  if (taskPushNotificationConfig.taskId !== "" && taskPushNotificationConfig.taskId !== message.taskId)
    throw invalidArgument(
      "configuration.task_push_notification_config.task_id",
      "must be that of the message, or empty",
    );
  // A message that is sent again has one configuration.
  const config = { ...taskPushNotificationConfig, id: taskPushNotificationConfig.id || keyOf(message, use) };
  await use.push.check({ ...config, taskId: task?.id ?? "" });
  const sent = await deliver();
  await use.push.create({ ...config, taskId: sent.taskId }, sent.seq);
  return sent;
}

/**
 * The task that a message continues; undefined when it begins one. A context that is not the id of a task is
 * one that the client has made.
 */
async function taskFor({ messageId, taskId, contextId }: Message, use: Use): Promise<Task | undefined> {
  if (messageId === "") throw invalidArgument("message.message_id", "is required");
  if (contextId.length > contextMax)
    throw invalidArgument("message.context_id", `must have at most ${contextMax} characters`);
  if (taskId === "") return contextId === "" ? undefined : findTask(use, contextId);
  const task = await readTask(use.client, taskId);
  if (!["", taskId, placeOf(task).contextId].includes(contextId))
    throw invalidArgument("message.context_id", "is not the context of the task");
  return task;
}

async function begin(message: Message, profile: string | undefined, use: Use): Promise<Sent> {
  const { contextId } = message;
  const request = {
    interactive_mode: true,
    message: { content: contentOf(message) },
    ...(profile && { agent_profile: profile }),
    ...(contextId !== "" && { metadata: { [contextKey]: contextId } }),
  };
  const { task_id: taskId } = await use.client.call("task.create", request, {
    idempotencyKey: keyOf(message, use),
  });
  return { taskId, seq: 0 };
}

async function proceed(message: Message, task: Task, use: Use): Promise<Sent> {
  const sent = { taskId: task.id, seq: use.lastSeq ?? task.last_seq };
  const calls = callsOf(message, sent.taskId);
  const waiting = waitingOf(task);
  const isApproval = waiting !== null && !isQuestion(waiting);
  const isEnded = message.taskId !== "" && isOver(stateOf(task));
  const fits = isApproval ? calls.confirm !== undefined : !isEnded && calls.confirm === undefined;
  // The task may be as it is because of this very message.
  if (!fits && (await wasSent(calls, message, use))) return sent;
  if (isEnded)
    throw new A2aFailure(
      "UNSUPPORTED_OPERATION",
      "the task is over: a message without task_id and with the task's id as context_id continues the conversation",
    );
  if (isApproval) await checkApprover(use, task);
  if (isApproval && !calls.confirm)
    throw invalidArgument(
      "message.parts",
      "the task waits for an approval: send a data part with event_id and input",
    );
  if (isApproval) checkShown(waiting);
  const options = { idempotencyKey: keyOf(message, use) };
  if (isApproval && calls.confirm) await use.client.tasks.confirmAction(calls.confirm, options);
  else await use.client.tasks.sendMessage(calls.send, options);
  return sent;
}

/** What a message to a task can be: a message, and a decision when it has one. */
interface Calls {
  readonly send: RequestOf<"task.sendMessage">;
  readonly confirm: RequestOf<"task.confirmAction"> | undefined;
}

function callsOf(message: Message, task_id: string): Calls {
  const decision = decisionIn(message);
  return {
    send: { task_id, message: { content: contentOf(message) } },
    confirm: decision && { task_id, ...decision },
  };
}

async function wasSent({ send: sent, confirm }: Calls, message: Message, use: Use): Promise<boolean> {
  const key = keyOf(message, use);
  if (await use.client.wasMade("task.sendMessage", sent, key)) return true;
  return confirm !== undefined && use.client.wasMade("task.confirmAction", confirm, key);
}

/**
 * The idempotency key of a message: its id within its conversation. The records of tokens are those of their
 * app and user.
 */
function keyOf({ messageId, contextId, taskId }: Message, { keyId }: Use): string {
  const place = JSON.stringify([keyId, taskId || contextId, messageId]);
  return `a2a-${createHash("sha256").update(place).digest("base64url")}`;
}

/**
 * The caller is a program that may be led by a model: it decides approvals only if its user has granted that
 * (spec/decisions.md 130).
 */
async function checkApprover({ client }: Use, task: Task): Promise<void> {
  const caller = await client.rights();
  if (caller.credential.kind !== "token" || !mayDecide(caller))
    throw new Failure(
      "permission_denied",
      `the task waits for an approval, which a person gives at ${task.task_url}, or a token with the scope approve:task`,
    );
}
