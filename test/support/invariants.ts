import { expect } from "vitest";
import type { Store } from "../../src/core/store.ts";
import { type CheckedEvent, type CheckedTask, violationsOfTask } from "./task-invariants.ts";

export type { CheckedEvent, CheckedTask };

/** Checks the rules that hold for every task at every moment. */
export function checkTask(task: CheckedTask): void {
  expect(violationsOfTask(task), task.id).toEqual([]);
}

/**
 * Like `checkTask`, for an idle task: every message was answered, unless a stop or a failure came after it.
 */
export function checkAnswered(task: CheckedTask): void {
  checkTask(task);
  expect(task.status, `${task.id} has ended`).not.toBe("running");
  const lastMessage = task.events.findLast(({ type }) => type === "user_message");
  const answer = task.events.findLast(({ type }) =>
    ["assistant_message", "error_message", "user_stop"].includes(type),
  );
  expect(answer?.seq, `${task.id}: something follows the last message`).toBeGreaterThan(
    lastMessage?.seq ?? 0,
  );
}

/** A task in the store. */
export async function taskInStore(store: Store, id: string): Promise<CheckedTask> {
  const task = await store.tasks.byId(id);
  const events = await store.events.list(id, { order: "asc", limit: 10_000, verbose: true });
  return {
    id,
    status: task?.status ?? "absent",
    events: events.map(({ seq, type, timestamp, payload }) => ({
      seq,
      type,
      timestamp,
      ...wordsOf(payload),
    })),
  };
}

/** The checked members of a payload, if it has them. */
function wordsOf(payload: object): Pick<CheckedEvent, "status" | "brief" | "text"> {
  const { agentStatus, brief, content } = payload as {
    readonly agentStatus?: string;
    readonly brief?: string;
    readonly content?: string;
  };
  return { status: agentStatus, brief, text: content };
}
