import { expect } from "vitest";
import type { Store } from "../../src/core/store.ts";

/** An event as far as it is checked, from a store or from an answer. */
export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  /** Unix ms. */
  readonly timestamp: number;
  /** Of a status_update. */
  readonly status?: string | undefined;
  /** Of a message. */
  readonly text?: string | undefined;
}

/** A task with all its events, oldest first. */
export interface SeenTask {
  readonly id: string;
  readonly status: string;
  readonly events: readonly SeenEvent[];
}

/** What an ended task may get still; all else is the runner's. */
const notByRunner: readonly string[] = ["user_message", "user_stop", "status_update"];

/** What holds of every task at every moment, whatever happened to it. */
export function checkTask({ id, status, events }: SeenTask): void {
  expect(
    events.map(({ seq }) => seq),
    `${id}: numbers from 1, without gap or double`,
  ).toEqual(events.map((_, i) => i + 1));
  const backwards = events.filter(({ timestamp }, i) => i > 0 && timestamp <= (events[i - 1]?.timestamp ?? 0));
  expect(backwards, `${id}: times increase strictly`).toEqual([]);
  const statuses = events.filter(({ type }) => type === "status_update").map((event) => event.status);
  const misplaced = statuses.filter((word, i) => !follows(word, statuses[i - 1]));
  expect(misplaced, `${id}: one end per turn, in ${statuses.join(" ")}`).toEqual([]);
  expect(statuses.at(-1), `${id}: the status is the newest status_update`).toBe(status);
  expect(afterTheEnd(events), `${id}: no runner writes after the end`).toEqual([]);
}

/** A task runs, rests, and runs again; only what waits may also be stopped where it stands. */
const follows = (word: string | undefined, before: string | undefined): boolean =>
  word === "running" ? before !== "running" : before === "running" || (before === "waiting" && word === "stopped");

/**
 * What a runner wrote while the task was at rest. A structured result right behind
 * `stopped` belongs to the end, and a decision's tool right before `running` to the user.
 */
function afterTheEnd(events: readonly SeenEvent[]): readonly SeenEvent[] {
  let status: string | undefined = "stopped";
  return events.filter((event, i) => {
    if (event.type === "status_update") status = event.status;
    const isResult = event.type === "structured_output_result" && events[i - 1]?.status === "stopped";
    const isDecision = event.type === "tool_used" && status === "waiting" && events[i + 1]?.status === "running";
    return status !== "running" && !isResult && !isDecision && !notByRunner.includes(event.type);
  });
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
