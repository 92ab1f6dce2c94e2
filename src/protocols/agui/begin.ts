import { createHash } from "node:crypto";
import { type ContentPartInput, isQuestion, type Task } from "../../../packages/client/src/index.ts";
import { dangerousScope } from "../../core/accounts/caller.ts";
import { Failure, invalidArgument } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import { ownIds } from "../../narration/narrate.ts";
import { answerIn, checkShown, mayDecide, readEvent } from "../shared/ask.ts";
import type { CallerClient } from "../shared/caller-client.ts";
import { readTask, type Turn, waitingOf } from "../shared/turn.ts";
import {
  contentOf,
  decisionIn,
  type InputMessage,
  type Resume,
  type RunInput,
  taskMembersIn,
} from "./input.ts";

/** The part of a task that a run shows. */
export interface Begun extends Turn {
  /** The message that this run sent; null when it sent none. */
  readonly sent: string | readonly ContentPartInput[] | null;
  /** The id of the message or interrupt that the client's state names as done. */
  readonly done: string | null;
  /** The run does not continue where the client's last one ended, so it begins with all messages. */
  readonly isReopened: boolean;
}

/**
 * Does what a run asks for: answers an interrupt, stops the task, sends the last message, or creates the
 * task. A run without any of these only watches. A repeated run does not repeat the change: the state of the
 * client names the last message or interrupt, and before the client has this state the idempotency key is
 * made of the thread and the message or interrupt.
 *
 * @throws ApiError, Failure
 */
export async function begin(client: CallerClient, input: RunInput): Promise<Begun> {
  const message = newMessage(input);
  const taskId = taskOf(input);
  if (taskId === null) return create(client, input, message);
  const task = await readTask(client, taskId);
  const { state, forwardedProps, resume: [answer] = [] } = input;
  const seq = Math.min(state?.last_seq ?? 0, task.last_seq);
  const place = {
    taskId: task.id,
    seq,
    sent: null,
    done: state?.done ?? null,
    isReopened: state?.last_seq === undefined,
  };
  if (forwardedProps?.stop === true) {
    await client.tasks.stop({ task_id: task.id });
    return place;
  }
  if (answer?.interruptId === place.done || message?.id === place.done) return place;
  if (answer)
    return {
      ...place,
      done: answer.interruptId,
      sent: await resume(client, task, answer, keyOf(input, answer.interruptId)),
    };
  if (message === null) return { ...place, isReopened: true };
  const content = contentOf(message);
  await client.tasks.sendMessage({ task_id: task.id, message: { content } }, keyOf(input, message.id));
  return { ...place, done: message.id, sent: content };
}

async function create(client: CallerClient, input: RunInput, message: InputMessage | null): Promise<Begun> {
  if (message === null || input.forwardedProps?.stop || input.resume?.length)
    throw invalidArgument(
      "state.task_id",
      "this run needs a task; the first run of a thread needs a user's message",
    );
  const content = contentOf(message);
  const members = { interactive_mode: true, ...taskMembersIn(input), message: { content } };
  const { task_id: taskId } = await client.call("task.create", members, keyOf(input, message.id));
  return { taskId, seq: 0, sent: content, done: message.id, isReopened: false };
}

/** The form of the ids of tasks (spec/api.md 7.2). A thread with such an id is that task. */
const taskIdForm = /^[A-Za-z0-9]{22}$/;

const taskOf = ({ threadId, state }: RunInput): string | null =>
  state?.task_id ?? (taskIdForm.test(threadId) ? threadId : null);

/** The last message, when the user wrote it in this client; null for others. */
function newMessage({ messages }: RunInput): InputMessage | null {
  const last = messages.at(-1);
  return last?.role === "user" && !last.id.startsWith(ownIds) ? last : null;
}

const keyOf = ({ threadId }: RunInput, id: string) => ({
  idempotencyKey: `ag-ui-${createHash("sha256")
    .update(JSON.stringify([threadId, id]))
    .digest("base64url")}`,
});

/**
 * Answers what the task waits for, and returns the message that was sent. An abandoned interrupt stays open.
 */
async function resume(
  client: CallerClient,
  task: Task,
  answer: Resume,
  key: ReturnType<typeof keyOf>,
): Promise<string | null> {
  const { interruptId, status, payload } = answer;
  if (status === "cancelled") return null;
  const waiting = waitingOf(task);
  const isWaiting = waiting?.waiting_for_event_id === interruptId;
  if (isWaiting ? isQuestion(waiting) : await wasQuestion(client, task, interruptId)) {
    const content = answerIn(
      typeof payload === "string" ? { answer: payload } : isObject(payload) ? payload : {},
    );
    if (content === "") throw invalidArgument("resume.0.payload", "must be a text, or have choice or answer");
    await client.tasks.sendMessage({ task_id: task.id, message: { content } }, key);
    return content;
  }
  if (!mayDecide(await client.rights()))
    throw new Failure(
      "permission_denied",
      `resume: a token needs the scope ${dangerousScope} to decide an approval`,
      { path: "resume" },
    );
  if (isWaiting) checkShown(waiting);
  await client.tasks.confirmAction({ task_id: task.id, event_id: interruptId, ...decisionIn(answer) }, key);
  return null;
}

/** Whether an interrupt was a question. A repeated run finds the wait over. */
const wasQuestion = async (client: CallerClient, { id }: Task, eventId: string): Promise<boolean> =>
  (await readEvent(client, id, eventId))?.type === "assistant_message";
