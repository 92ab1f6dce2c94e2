import type { Message } from "@bufbuild/protobuf";
import { type Json, type RecordedOperations, Refusal, type TaskEvent } from "../shared/operations.ts";
import type { Agents } from "./agents.ts";
import type { ServiceParameters } from "./protocol.ts";
import type { PushUse } from "./push/use.ts";

/** One request of a caller. */
export interface Use extends ServiceParameters {
  readonly operations: RecordedOperations;
  /** The id of the caller's API key; empty for a token, whose records are those of its app and user. */
  readonly keyId: string;
  readonly agents: Agents;
  readonly push: PushUse;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Item<M extends Message = Message> {
  readonly message: M;
  /** `seq` of the event of the item. */
  readonly seq?: number | undefined;
}

/** The newest events from which the history and the artifacts of a task are made. */
const eventsMax = 200;

/** The newest events of a task, oldest first. @throws Refusal */
export async function readEvents({ operations, signal }: Use, taskId: string): Promise<readonly TaskEvent[]> {
  const { messages } = await operations.call("task.listMessages", { task_id: taskId, limit: eventsMax }, signal);
  return (messages as readonly TaskEvent[]).toReversed(); // By the schema of the answer.
}

/** The task with an id, if the caller can see one. @throws Refusal */
export const findTask = (use: Use, id: string): Promise<Json | undefined> => unless("not_found", readTask(use, id));

/** An answer; undefined for a refusal with this code. */
export async function unless<T>(code: string, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === code) return undefined;
    throw thrown;
  }
}

/** The task as `task.detail` returns it. @throws Refusal */
export async function readTask({ operations, signal }: Use, taskId: string): Promise<Json> {
  const { task } = await operations.call("task.detail", { task_id: taskId }, signal);
  return task as Json; // By the schema of the answer.
}
