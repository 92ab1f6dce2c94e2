import { createHash } from "node:crypto";
import { dangerousScope } from "../../core/accounts/caller.ts";
import { ownIds } from "../../narration/narrate.ts";
import { checkShown, mayDecide, readEvent } from "../shared/ask.ts";
import { type Json, type Operations, Refusal } from "../shared/operations.ts";
import { isQuestion, readTask, type Turn, waitingOf } from "../shared/turn.ts";
import { contentOf, type InputMessage, type Resume, type RunInput } from "./input.ts";

/** The part of a task that a run shows. */
export interface Begun extends Turn {
  /** The message that this run sent; null when it sent none. */
  readonly sent: string | readonly Json[] | null;
  /** The id of the message or interrupt that the client's state names as done. */
  readonly done: string | null;
  /** The run does not continue where the client's last one ended, so it begins with all messages. */
  readonly isReopened: boolean;
}

/**
 * Does what a run asks for: answers an interrupt, stops the task, sends the last message, or creates the task. A run without any of
 * these only watches. A repeated run does not repeat the change: the state of the client names the last message or interrupt, and before
 * the client has this state the idempotency key is made of the thread and the message or interrupt.
 *
 * @throws Refusal
 */
export async function begin(operations: Operations, input: RunInput, signal: AbortSignal): Promise<Begun> {
  const message = newMessage(input);
  const taskId = taskOf(input);
  if (taskId === null) return create(operations, input, message, signal);
  const task = await readTask(operations, taskId, signal);
  const { state, forwardedProps, resume: [answer] = [] } = input;
  const seq = Math.min(state?.last_seq ?? 0, Number(task["last_seq"]));
  const place = { taskId: String(task["id"]), seq, sent: null, done: state?.done ?? null, isReopened: state?.last_seq === undefined };
  if (forwardedProps?.stop === true) {
    await operations.call("task.stop", { task_id: place.taskId }, signal);
    return place;
  }
  if (answer?.interruptId === place.done || message?.id === place.done) return place;
  if (answer)
    return { ...place, done: answer.interruptId, sent: await resume(operations, task, answer, keyOf(input, answer.interruptId), signal) };
  if (message === null) return { ...place, isReopened: true };
  const content = contentOf(message);
  await operations.call("task.sendMessage", { task_id: place.taskId, message: { content } }, signal, keyOf(input, message.id));
  return { ...place, done: message.id, sent: content };
}

async function create(operations: Operations, input: RunInput, message: InputMessage | null, signal: AbortSignal): Promise<Begun> {
  if (message === null || input.forwardedProps?.stop || input.resume?.length)
    throw new Refusal("invalid_argument", "state.task_id: this run needs a task; the first run of a thread needs a user's message", {
      field: "state.task_id",
    });
  const content = contentOf(message);
  const members = { interactive_mode: true, ...input.forwardedProps?.task, message: { content } };
  const { task_id } = await operations.call("task.create", members, signal, keyOf(input, message.id));
  return { taskId: String(task_id), seq: 0, sent: content, done: message.id, isReopened: false };
}

/** The form of the ids of tasks (spec/api.md 7.2). A thread with such an id is that task. */
const taskIdForm = /^[A-Za-z0-9]{22}$/;

const taskOf = ({ threadId, state }: RunInput): string | null => state?.task_id ?? (taskIdForm.test(threadId) ? threadId : null);

/** The last message, when the user wrote it in this client; null for others. */
function newMessage({ messages }: RunInput): InputMessage | null {
  const last = messages.at(-1);
  return last?.role === "user" && !last.id.startsWith(ownIds) ? last : null;
}

const keyOf = ({ threadId }: RunInput, id: string): string =>
  `ag-ui-${createHash("sha256")
    .update(JSON.stringify([threadId, id]))
    .digest("base64url")}`;

/** Answers what the task waits for, and returns the message that was sent. An abandoned interrupt stays open. */
async function resume(
  operations: Operations,
  task: Json,
  { interruptId, status, payload }: Resume,
  key: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (status === "cancelled") return null;
  if (await asks(operations, task, interruptId, signal)) return answerQuestion(operations, task, payload, key, signal);
  if (!mayDecide(await operations.caller(signal)))
    throw new Refusal("permission_denied", `resume: a token needs the scope ${dangerousScope} to decide an approval`, { field: "resume" });
  const waiting = waitingOf(task);
  if (waiting?.eventId === interruptId) checkShown(waiting);
  await operations.call("task.confirmAction", { task_id: task["id"], event_id: interruptId, input: payload ?? null }, signal, key);
  return null;
}

/** Whether the interrupt is a question. A repeated run finds the wait over. */
async function asks(operations: Operations, task: Json, interruptId: string, signal: AbortSignal): Promise<boolean> {
  const waiting = waitingOf(task);
  if (waiting?.eventId === interruptId) return isQuestion(waiting);
  return (await readEvent(operations, String(task["id"]), interruptId, signal))?.type === "assistant_message";
}

async function answerQuestion(operations: Operations, task: Json, payload: unknown, key: string, signal: AbortSignal): Promise<string> {
  const { choice, answer } = (typeof payload === "string" ? { answer: payload } : (payload ?? {})) as Json;
  const texts = [choice, answer].flat().filter((text): text is string => typeof text === "string" && text.trim() !== "");
  if (texts.length === 0)
    throw new Refusal("invalid_argument", "resume.0.payload: must be a text, or have choice or answer", { field: "resume.0.payload" });
  const content = texts.join(", ");
  await operations.call("task.sendMessage", { task_id: task["id"], message: { content } }, signal, key);
  return content;
}
