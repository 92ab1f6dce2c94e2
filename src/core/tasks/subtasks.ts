import { defined } from "../defined.ts";
import { Failure } from "../failure.ts";
import type { Attachment } from "../files/file.ts";
import type { JsonObject } from "../json.ts";
import type { Tx } from "../store.ts";
import { type ReferencedTask, toReferencedTask } from "./message.ts";
import { hasEnded } from "./subtask-wait.ts";
import type { Task, TaskStatus } from "./task.ts";
import type { SubtaskCount, SubtaskEnd, TaskFilter } from "./task-rows.ts";

/** The deepest subtask: the subtask of a subtask of a subtask. */
export const depthMax = 3;
/** The most subtasks below a root that run or wait. */
export const livingMax = 50;
/** The most subtasks below a root in any state; below an agent's main task, in one turn of it. */
export const subtasksMax = 500;

/** The task at which the limits and the budgets of a tree count. */
export const rootOf = ({ id, rootId }: Pick<Task, "id" | "rootId">): string => rootId ?? id;

/** @throws Failure `failed_precondition` for a task that is too deep to start subtasks. */
export function checkDepth({ depth }: Pick<Task, "depth">): void {
  if (depth < depthMax) return;
  throw new Failure("failed_precondition", `task_id: subtasks are at most ${depthMax} deep`, {
    path: "task_id",
  });
}

/**
 * @param more the number of subtasks to start. @throws Failure `resource_exhausted` when they exceed a limit.
 */
export function checkSubtaskCount({ living, inAll }: SubtaskCount, more: number): void {
  if (living + more > livingMax)
    throw new Failure("resource_exhausted", `at most ${livingMax} subtasks of a task may run or wait`);
  if (inAll + more > subtasksMax)
    throw new Failure("resource_exhausted", `a task may have at most ${subtasksMax} subtasks`);
}

/** A subtask in the view of its parent's agent. */
export interface SubtaskState {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /**
   * Its agent's last message: an answer, a question or an error, at most 500 characters; empty when there is
   * none so far.
   */
  readonly lastMessage: string;
}

/** The subtasks of a task, as its agent sees them (spec/api.md 9.11). */
export interface Subtasks {
  /** The newest first, 20 at most. */
  list(): Promise<readonly SubtaskState[]>;
  /** Null for a task that is not a subtask of this one. */
  open(id: string): Promise<ReferencedTask | null>;
  /** The result of a subtask as it is now. Null for a task that is not a subtask of this one. */
  result(id: string): Promise<SubtaskResult | null>;
  /** Whether one of the newest 100 has read data of third parties. */
  haveUntrusted(): Promise<boolean>;
}

const listedMax = 20;
/** The newest messages of each subtask that are searched for its agent's last one. */
const searchedMax = 5;
const lengthMax = 500;

export const mayHaveSubtasks = (task: Task): boolean => task.subtasks > 0 || isMainTask(task);

/** The subtasks of a task; each call reads them again. */
export function subtasksOf(store: Pick<Tx, "tasks" | "events" | "conversations">, task: Task): Subtasks {
  const scope = { accountId: task.accountId, spaceId: task.spaceId };
  return {
    async list() {
      const page = { orderBy: "createdAt", order: "desc", limit: listedMax } as const;
      const { tasks } = await store.tasks.list(scope, filterOf(task), page);
      const lastMessages = await findLastMessages(store, tasks);
      return tasks.map(({ id, title, status, createdAt }) => ({
        id,
        title,
        status,
        createdAt,
        lastMessage: lastMessages.get(id) ?? "",
      }));
    },
    async open(id) {
      const found = await store.tasks.find(scope, id);
      return found && isSubtask(task, found) ? toReferencedTask(store, found) : null;
    },
    async result(id) {
      const found = await store.tasks.find(scope, id);
      if (!found || !isSubtask(task, found)) return null;
      const { title, status, lastSeq } = found;
      return readResult(store, { id, title, status, lastSeq });
    },
    async haveUntrusted() {
      const page = { orderBy: "createdAt", order: "desc", limit: 100 } as const;
      return (await store.tasks.list(scope, filterOf(task), page)).tasks.some(({ untrusted }) => untrusted);
    },
  };
}

/**
 * An agent's main task has all subtasks of the agent: those that a release before 0.2.0 started name no
 * parent.
 */
const isMainTask = ({ agentId, type }: Task): boolean => agentId !== null && type !== "agent_subtask";

const filterOf = (task: Task): TaskFilter =>
  isMainTask(task) && task.agentId !== null
    ? { type: "agent_subtask", agentId: task.agentId }
    : { parentId: task.id };

const isSubtask = (task: Task, found: Task): boolean =>
  found.parentId === task.id ||
  (isMainTask(task) && found.type === "agent_subtask" && found.agentId === task.agentId);

/** What a subtask has left for its parent, when its wait was over. */
export interface SubtaskResult extends Pick<Task, "id" | "title" | "status"> {
  /**
   * The last message of its agent, at most 4,000 characters; empty for a subtask that has not ended, and
   * without one.
   */
  readonly lastMessage: string;
  /** Its structured output, if it has one. */
  readonly output?: JsonObject;
  /** The files of the last message. */
  readonly attachments: readonly Attachment[];
}

const resultMax = 4_000;
/** The newest messages that are searched for the result. */
const resultEvents = { order: "desc", limit: 10, verbose: false } as const;

/**
 * Reads the result of a subtask. Messages after the end of the wait are left out, so it is the same each
 * time.
 */
export async function readResult(
  { events }: Pick<Tx, "events">,
  { lastSeq, ...end }: SubtaskEnd,
): Promise<SubtaskResult> {
  const listed =
    hasEnded(end.status) && lastSeq > 0
      ? await events.list(end.id, { ...resultEvents, beforeSeq: lastSeq + 1 })
      : [];
  const said = listed.find(({ type }) => type === "assistant_message" || type === "error_message");
  // The output of a turn is its last event.
  const [last] = listed;
  const output =
    last?.type === "structured_output_result" && last.payload.success ? last.payload.value : undefined;
  return {
    ...end,
    lastMessage:
      said && "content" in said.payload ? said.payload.content.slice(0, resultMax).toWellFormed() : "",
    ...defined({ output }),
    attachments: said?.type === "assistant_message" ? (said.payload.attachments ?? []) : [],
  };
}

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
