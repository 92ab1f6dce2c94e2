import { type Caller, reachesProjects, type Scope } from "../caller.ts";
import { absent, invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { EventType, TaskEvent } from "./event.ts";
import type { TaskStatus, TaskView } from "./task.ts";

/** Types of event that say something to the other side. */
export const saidTypes = ["user_message", "assistant_message", "error_message"] as const satisfies readonly EventType[];

/** So many of the newest messages are shown of a task by itself, and of each in a list. */
const saidMax = 10_000;
const saidInListMax = 100;

/** A task with what was said in it, oldest first. */
export interface Conversation {
  readonly task: TaskView;
  readonly messages: readonly TaskEvent[];
}

/** Which of a caller's tasks are wanted; all that is given applies together. */
export interface ConversationFilter {
  /** In the title or in what was said, whatever its case. */
  readonly query?: string;
  readonly statuses?: readonly TaskStatus[];
  /** Unix ms, itself excluded. */
  readonly createdAfter?: number;
  /** Unix ms, itself excluded. */
  readonly createdBefore?: number;
  readonly projectId?: string;
}

/** A keyset page, ordered by a time and then by id. */
export interface ConversationPage {
  readonly orderBy: "createdAt" | "updatedAt";
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { readonly at: number; readonly id: string };
}

/** A page as a caller asks for it: it goes on after a task. */
export type WantedConversations = Omit<ConversationPage, "after"> & { readonly afterTaskId?: string | undefined };

export interface ConversationRows {
  /** The tasks alone; an agent's main task is among them from its first event on. */
  list(scope: Scope, filter: ConversationFilter, page: ConversationPage): Promise<readonly TaskView[]>;
  /** The newest messages of each of these tasks, at most `max` of each; oldest first within a task. */
  said(taskIds: readonly string[], max: number): Promise<readonly TaskEvent[]>;
}

/** Tasks with what was said in them (contract/v1.md 4.3, 4.5). */
export interface Conversations {
  /** @throws Failure `absent` */
  get(tx: Tx, caller: Caller, taskId: string): Promise<Conversation>;
  /** @throws Failure `invalid` for a task to go on after that the caller does not see, `absent` for a project as in task.list. */
  list(
    tx: Tx,
    caller: Caller,
    filter: ConversationFilter,
    wanted: WantedConversations,
  ): Promise<{ readonly items: readonly Conversation[]; readonly hasMore: boolean }>;
}

export const conversations: Conversations = {
  async get(tx, caller, taskId) {
    const task = await tx.tasks.find(caller, taskId);
    if (!task) throw absent("task");
    return conversationOf(task, await tx.conversations.said([task.id], saidMax));
  },

  async list(tx, caller, filter, { afterTaskId, ...page }) {
    if (filter.projectId !== undefined && !reachesProjects(caller)) throw absent("project", "project_id");
    const after = afterTaskId === undefined ? {} : { after: await placeOf(tx, caller, page, afterTaskId) };
    const found = await tx.conversations.list(caller, filter, { ...page, ...after, limit: page.limit + 1 });
    const tasks = found.slice(0, page.limit);
    const said = await tx.conversations.said(
      tasks.map(({ id }) => id),
      saidInListMax,
    );
    const byTask = Map.groupBy(said, ({ taskId }) => taskId);
    return { items: tasks.map((task) => conversationOf(task, byTask.get(task.id) ?? [])), hasMore: found.length > page.limit };
  },
};

/** What was said after the task was read is not shown: status and messages are of one moment. */
const conversationOf = (task: TaskView, said: readonly TaskEvent[]): Conversation => ({
  task,
  messages: said.filter(({ seq }) => seq <= task.lastSeq),
});

async function placeOf(tx: Tx, caller: Caller, { orderBy }: Pick<ConversationPage, "orderBy">, id: string) {
  const task = await tx.tasks.find(caller, id);
  if (!task) throw invalid("after_task_id", "is no task of this list");
  return { at: task[orderBy], id: task.id };
}
