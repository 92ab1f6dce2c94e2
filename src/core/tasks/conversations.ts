import { type Caller, canAccessProjects, type Scope } from "../accounts/caller.ts";
import { invalidArgument, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { EventType, TaskEvent } from "./event.ts";
import type { TaskStatus, TaskView } from "./task.ts";
import type { TurnRequest } from "./turn-request.ts";

export const messageTypes = [
  "user_message",
  "assistant_message",
  "error_message",
] as const satisfies readonly EventType[];

/** Types of event in a conversation: messages, and the events that end a turn in addition to its status. */
export const conversationTypes = [
  ...messageTypes,
  "user_stop",
  "structured_output_result",
] as const satisfies readonly EventType[];

/** The most messages returned of a single task, and of each task in a list; the newest are kept. */
const messagesMax = 10_000;
const messagesInListMax = 100;

/** A task with its messages, oldest first. */
export interface Conversation {
  readonly task: TaskView;
  readonly messages: readonly TaskEvent[];
}

interface TaskTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
}

/** A conversation with the tokens of its task; null before the first use. */
export interface CountedConversation extends Conversation {
  readonly usage: TaskTokens | null;
  readonly turnRequest: TurnRequest | null;
}

/** A filter of a caller's tasks; all conditions must hold. */
export interface ConversationFilter {
  /** A text in the title or in a message, in any letter case. */
  readonly query?: string;
  readonly statuses?: readonly TaskStatus[];
  /** Unix ms, exclusive. */
  readonly createdAfter?: number;
  /** Unix ms, exclusive. */
  readonly createdBefore?: number;
  readonly projectId?: string;
}

/** A keyset page, ordered by a time and then by id. */
export interface ConversationPage {
  readonly orderBy: "createdAt" | "updatedAt";
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly after?: { at: number; id: string };
}

/** The requested page: it continues after a task. */
export type ConversationsInput = Omit<ConversationPage, "after"> & {
  readonly afterTaskId?: string | undefined;
};

export interface ConversationRows {
  /** Tasks without messages. An agent's main task is included once it has an event. */
  list(scope: Scope, filter: ConversationFilter, page: ConversationPage): Promise<readonly TaskView[]>;
  /** The newest messages of each task, at most `max` per task; oldest first within a task. */
  listMessages(taskIds: readonly string[], max: number): Promise<readonly TaskEvent[]>;
}

/** Tasks with their messages (spec/v1.md 4.3, 4.5). */
export interface Conversations {
  /** @throws Failure `not_found` */
  get(tx: Tx, caller: Caller, taskId: string): Promise<CountedConversation>;
  /**
   * @throws Failure `invalid_argument` when the caller cannot see the task to continue after, `not_found` for
   * a project as in task.list.
   */
  list(
    tx: Tx,
    caller: Caller,
    filter: ConversationFilter,
    input: ConversationsInput,
  ): Promise<{ items: readonly Conversation[]; hasMore: boolean }>;
}

export const conversations: Conversations = {
  async get(tx, caller, taskId) {
    const task = await tx.tasks.find(caller, taskId);
    if (!task) throw notFound("task");
    const messages = await tx.conversations.listMessages([task.id], messagesMax);
    const { turnRequest } = task.hasMemoOrRequest ? await tx.tasks.turnInput(task.id) : { turnRequest: null };
    return { ...toConversation(task, messages), usage: await tx.usage.tokens(task.id), turnRequest };
  },

  async list(tx, caller, filter, { afterTaskId, ...page }) {
    if (filter.projectId !== undefined && !canAccessProjects(caller)) throw notFound("project", "project_id");
    const after =
      afterTaskId === undefined ? {} : { after: await findPosition(tx, caller, page, afterTaskId) };
    const found = await tx.conversations.list(caller, filter, { ...page, ...after, limit: page.limit + 1 });
    const tasks = found.slice(0, page.limit);
    const messages = await tx.conversations.listMessages(
      tasks.map(({ id }) => id),
      messagesInListMax,
    );
    const byTask = Map.groupBy(messages, ({ taskId }) => taskId);
    return {
      items: tasks.map((task) => toConversation(task, byTask.get(task.id) ?? [])),
      hasMore: found.length > page.limit,
    };
  },
};

/** Omits messages newer than the read of the task, so that status and messages agree. */
const toConversation = (task: TaskView, messages: readonly TaskEvent[]): Conversation => ({
  task,
  messages: messages.filter(({ seq }) => seq <= task.lastSeq),
});

async function findPosition(
  tx: Tx,
  caller: Caller,
  { orderBy }: Pick<ConversationPage, "orderBy">,
  id: string,
) {
  const task = await tx.tasks.find(caller, id);
  if (!task) throw invalidArgument("after_task_id", "is not a task of this list");
  return { at: task[orderBy], id: task.id };
}
