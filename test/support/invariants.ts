import { expect } from "vitest";
import type { Store } from "../../src/core/store.ts";
import { type SeenEvent, type SeenTask, taskFlaws } from "./task-flaws.ts";

export type { SeenEvent, SeenTask };

/** What holds of every task at every moment, whatever happened to it. */
export function checkTask(task: SeenTask): void {
  expect(taskFlaws(task), task.id).toEqual([]);
}

/** As `checkTask`, of a task that has come to rest: every message was answered, unless a stop or a failure came after it. */
export function checkAnswered(task: SeenTask): void {
  checkTask(task);
  expect(task.status, `${task.id} has ended`).not.toBe("running");
  const asked = task.events.findLast(({ type }) => type === "user_message");
  const answer = task.events.findLast(({ type }) => ["assistant_message", "error_message", "user_stop"].includes(type));
  expect(answer?.seq, `${task.id}: something follows the last message`).toBeGreaterThan(asked?.seq ?? 0);
}

/** A task as the store has it. */
export async function seenInStore(store: Store, id: string): Promise<SeenTask> {
  const task = await store.tasks.byId(id);
  const events = await store.events.list(id, { order: "asc", limit: 10_000, verbose: true });
  return {
    id,
    status: task?.status ?? "absent",
    events: events.map(({ seq, type, timestamp, payload }) => ({ seq, type, timestamp, ...wordsOf(payload) })),
  };
}

/** Of any payload, what is checked of it, if it has it. */
function wordsOf(payload: object): Pick<SeenEvent, "status" | "text"> {
  const { agentStatus, content } = payload as { readonly agentStatus?: string; readonly content?: string };
  return { status: agentStatus, text: content };
}
