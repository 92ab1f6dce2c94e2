import type { Tx } from "../store.ts";
import { openedTask, type ReferencedTask } from "./references.ts";
import type { Task, TaskStatus } from "./task.ts";

/** A subtask as the main task's agent is told of it. */
export interface SubtaskState {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** What its agent said last: an answer, a question or why it failed, at most 500 characters; empty for nothing yet. */
  readonly said: string;
}

/** The subtasks of an agent, as its main task sees them (contract/v2.md 9.11). */
export interface Subtasks {
  /** The newest first, 20 at most. */
  list(): Promise<readonly SubtaskState[]>;
  /** Null for what is none of the agent's subtasks. */
  open(id: string): Promise<ReferencedTask | null>;
}

/** Subtasks that are told of. */
const listedMax = 20;
/** Newest messages of each that are looked through for what its agent said. */
const lookedMax = 5;
const saidMax = 500;

/** An agent's subtasks; what is told of them is read anew each time. */
export function subtasksOf(
  store: Pick<Tx, "tasks" | "events" | "conversations">,
  { agentId, accountId, spaceId }: Pick<Task, "accountId" | "spaceId"> & { readonly agentId: string },
): Subtasks {
  const scope = { accountId, spaceId };
  return {
    async list() {
      const tasks = await store.tasks.list(scope, { type: "agent_subtask", agentId }, { order: "desc", limit: listedMax });
      const said = await lastSaid(store, tasks);
      return tasks.map(({ id, title, status, createdAt }) => ({ id, title, status, createdAt, said: said.get(id) ?? "" }));
    },
    async open(id) {
      const task = await store.tasks.find(scope, id);
      return task?.type === "agent_subtask" && task.agentId === agentId ? openedTask(store, task) : null;
    },
  };
}

/** By task, what its agent said last. */
async function lastSaid({ conversations }: Pick<Tx, "conversations">, tasks: readonly Task[]): Promise<ReadonlyMap<string, string>> {
  const said = new Map<string, string>();
  const messages = await conversations.said(
    tasks.map(({ id }) => id),
    lookedMax,
  );
  for (const event of messages) {
    if (event.type !== "assistant_message" && event.type !== "error_message") continue;
    said.set(event.taskId, event.payload.content.slice(0, saidMax).toWellFormed());
  }
  return said;
}
