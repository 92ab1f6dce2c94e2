import type { Tx } from "../store.ts";
import { type ReferencedTask, toReferencedTask } from "./message.ts";
import type { Task, TaskStatus } from "./task.ts";

/** A subtask in the main agent's view. */
export interface SubtaskState {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Its agent's last message: an answer, a question or an error, at most 500 characters; empty when there is none so far. */
  readonly lastMessage: string;
}

/** The subtasks of an agent, as its main task sees them (spec/api.md 9.11). */
export interface Subtasks {
  /** The newest first, 20 at most. */
  list(): Promise<readonly SubtaskState[]>;
  /** Null for a task that is not a subtask of the agent. */
  open(id: string): Promise<ReferencedTask | null>;
}

/** The most subtasks listed. */
const listedMax = 20;
/** The newest messages of each subtask that are searched for its agent's last one. */
const searchedMax = 5;
const lengthMax = 500;

/** An agent's subtasks; each call reads them again. */
export function subtasksOf(
  store: Pick<Tx, "tasks" | "events" | "conversations">,
  { agentId, accountId, spaceId }: Pick<Task, "accountId" | "spaceId"> & { readonly agentId: string },
): Subtasks {
  const scope = { accountId, spaceId };
  return {
    async list() {
      const page = { orderBy: "createdAt", order: "desc", limit: listedMax } as const;
      const { tasks } = await store.tasks.list(scope, { type: "agent_subtask", agentId }, page);
      const lastMessages = await findLastMessages(store, tasks);
      return tasks.map(({ id, title, status, createdAt }) => ({ id, title, status, createdAt, lastMessage: lastMessages.get(id) ?? "" }));
    },
    async open(id) {
      const task = await store.tasks.find(scope, id);
      return task?.type === "agent_subtask" && task.agentId === agentId ? toReferencedTask(store, task) : null;
    },
  };
}

/** The last message of each task's agent, by task. */
async function findLastMessages(
  { conversations }: Pick<Tx, "conversations">,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, string>> {
  const lastMessages = new Map<string, string>();
  const messages = await conversations.listMessages(
    tasks.map(({ id }) => id),
    searchedMax,
  );
  for (const event of messages) {
    if (event.type !== "assistant_message" && event.type !== "error_message") continue;
    lastMessages.set(event.taskId, event.payload.content.slice(0, lengthMax).toWellFormed());
  }
  return lastMessages;
}
