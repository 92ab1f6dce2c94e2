import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import type { Caller } from "../core/accounts/caller.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import type {
  Conversation,
  ConversationFilter,
  Conversations,
  CountedConversation,
} from "../core/tasks/conversations.ts";
import type { ListChange, ListWatches } from "../core/tasks/list-watches.ts";
import type { Listings } from "../core/tasks/listings.ts";
import type { ReadRunState } from "../core/tasks/run-state.ts";
import { queryWordsMax, type SearchWord, wordsOf } from "../core/tasks/search-tokens.ts";
import type { TaskView } from "../core/tasks/task.ts";
import type { TaskOrder as TaskOrderName } from "../core/tasks/task-page.ts";
import type { TaskFilter } from "../core/tasks/task-rows.ts";
import { withKeepAlives } from "../core/tasks/watches.ts";
import { SortOrder, TaskListView, TaskOrder, TaskScope } from "../gen/proto/task/v2/task_pb.ts";
import {
  ConversationOrder,
  type ConversationSchema,
  type ListConversationsRequest,
  type ListTasksRequest,
  type TaskService,
  type WatchTasksRequest,
  WatchTasksResponseSchema,
} from "../gen/proto/task/v2/task_service_pb.ts";
import type { Handlers } from "../pipeline/handlers.ts";
import { eventMessage, type Link } from "./event.ts";
import { type TaskWriter, taskWriter } from "./task-message.ts";
import { pageEnd, taskStatus } from "./wire-values.ts";

export interface TaskListParts {
  readonly listings: Listings;
  readonly conversations: Conversations;
  readonly listWatches: ListWatches;
  /** The clock of keep-alive answers. */
  readonly clock: Clock;
  /** The base URL of the web app, where users open tasks. */
  readonly appUrl: string;
  /** Creates a new link to a file's bytes at each read. */
  readonly link: Link;
  /** The longest answer of a profile's model, in tokens; undefined for a profile without a model. */
  readonly outputTokensMax: (profile: string) => number | undefined;
  readonly readRunState: ReadRunState;
}

/**
 * A watch with `keep_alive` gets an answer without an event after this many milliseconds of silence
 * (spec/decisions.md 54).
 */
export const silenceMs = 15_000;

type ListMethods = "listTasks" | "watchTasks" | "getConversation" | "listConversations";

/** Lists of tasks (spec/api.md 8.3, 8.61, 8.66). */
export function taskListHandlers(parts: TaskListParts): Pick<Handlers<typeof TaskService>, ListMethods> {
  const { listings, conversations, listWatches, clock, appUrl, readRunState } = parts;
  const toMessage = taskWriter(appUrl, readRunState);
  const listChangeMessage = (caller: Caller, { tasks, removedIds, cursor, resync }: ListChange) =>
    create(WatchTasksResponseSchema, {
      tasks: tasks.map((task) => toMessage(caller, task)),
      removedIds: [...removedIds],
      cursor,
      resync,
    });

  return {
    ...conversationHandlers(conversations, toMessage, parts),
    async listTasks(tx, caller, request) {
      const { limit = 20, cursor, order, includeCounts } = request;
      const orderBy = timeOf(request.orderBy);
      const input = { limit, order: orderOf(order), orderBy, cursor, includeCounts } as const;
      const { items, next, isComplete, counts } = await listings.tasks(
        tx,
        caller,
        listFilter(request),
        input,
      );
      // 0: the wait began in a release that did not store it.
      const waits = ({ waitingSince }: TaskView) =>
        orderBy === "waitingSince" && waitingSince > 0
          ? { waitingSince: BigInt(Math.floor(waitingSince / 1000)) }
          : {};
      const data = items.map((task) => ({ ...toMessage(caller, task), ...waits(task) }));
      const counted = counts ? { counts: { ...counts.byStatus, complete: counts.isComplete } } : {};
      return { data, ...pageEnd(next), warnings: isComplete ? [] : [notIndexed], ...counted };
    },
    watchTasks: {
      async stream(tx, call, { cursor, follow, keepAlive, ...filter }) {
        const changes = listWatches.watch(tx, call, { filter: listFilter(filter), cursor, follow });
        const answers = mapIterable(changes, (change) => listChangeMessage(call.caller, change));
        return keepAlive
          ? withKeepAlives(answers, () => create(WatchTasksResponseSchema), { clock, silenceMs })
          : answers;
      },
    },
  };
}

/** Tasks with their messages, for v1 and the Responses API. */
function conversationHandlers(
  conversations: Conversations,
  taskMessage: TaskWriter,
  { link, outputTokensMax }: Pick<TaskListParts, "link" | "outputTokensMax">,
): Pick<Handlers<typeof TaskService>, "getConversation" | "listConversations"> {
  const toMessage = (
    caller: Caller,
    { task, messages, usage, turnRequest }: Conversation & Partial<CountedConversation>,
  ): MessageInitShape<typeof ConversationSchema> => {
    const maxOutputTokens = outputTokensMax(task.agentProfile);
    return {
      task: taskMessage(caller, task),
      messages: messages.map((event) => eventMessage(event, link)),
      locale: task.locale,
      ...defined({ maxOutputTokens }),
      ...(usage
        ? {
            usage: {
              inputTokens: BigInt(usage.inputTokens),
              cachedInputTokens: BigInt(usage.cachedInputTokens),
              outputTokens: BigInt(usage.outputTokens),
            },
          }
        : {}),
      ...(turnRequest ? { turn: turnRequest } : {}),
    };
  };

  return {
    async getConversation(tx, caller, { taskId }) {
      return { conversation: toMessage(caller, await conversations.get(tx, caller, taskId)) };
    },
    async listConversations(tx, caller, request) {
      const { limit = 100, afterTaskId } = request;
      const orderBy = request.orderBy === ConversationOrder.UPDATED_AT ? "updatedAt" : "createdAt";
      const order = request.order === SortOrder.ASC ? "asc" : "desc";
      const { items, hasMore } = await conversations.list(tx, caller, filterOf(request), {
        limit,
        afterTaskId,
        orderBy,
        order,
      });
      return { data: items.map((item) => toMessage(caller, item)), hasMore };
    },
  };
}

/** The filter of a list. An unspecified status and an empty text do not filter. */
const filterOf = ({
  query,
  statuses,
  createdAfter,
  createdBefore,
  projectId,
}: ListConversationsRequest): ConversationFilter => ({
  ...(query ? { query } : {}),
  statuses: statuses.flatMap((status) => taskStatus.toName(status) ?? []),
  ...(createdAfter === undefined ? {} : { createdAfter: milliseconds(createdAfter) }),
  ...(createdBefore === undefined ? {} : { createdBefore: milliseconds(createdBefore) }),
  ...(projectId ? { projectId } : {}),
});

/** Times beyond the safe integers are later than every stored time. */
const milliseconds = (seconds: bigint): number => Math.min(Number(seconds) * 1000, Number.MAX_SAFE_INTEGER);

/** The last millisecond of a second. */
const endOfSecond = (seconds: bigint): number =>
  Math.min(milliseconds(seconds) + 999, Number.MAX_SAFE_INTEGER);

function timeOf(orderBy: ListTasksRequest["orderBy"]): TaskOrderName {
  if (orderBy === TaskOrder.WAITING_SINCE) return "waitingSince";
  return orderBy === TaskOrder.UPDATED_AT ? "updatedAt" : "createdAt";
}

/** The order of a list; newest first by default (spec/api.md 5). */
export const orderOf = (order: SortOrder | undefined): "asc" | "desc" =>
  order === SortOrder.ASC ? "asc" : "desc";

/**
 * The task type of a scope. @throws Failure `invalid_argument` when the scope requires an id that is missing
 * (spec/api.md 8.3).
 */
function scopeFilter(
  scope: TaskScope | undefined,
  projectId: string | undefined,
  agentId: string | undefined,
) {
  if (scope === TaskScope.PROJECT && !projectId)
    throw invalidArgument("project_id", "is required with scope=project");
  if (scope === TaskScope.AGENT_SUBTASK && !agentId)
    throw invalidArgument("agent_id", "is required with scope=agent_subtask");
  if (scope === TaskScope.STANDARD) return { type: "standard" as const };
  return scope === TaskScope.AGENT_SUBTASK ? { type: "agent_subtask" as const } : {};
}

type ListFilter = Omit<WatchTasksRequest, "$typeName" | "$unknown" | "cursor" | "follow" | "keepAlive"> &
  Pick<ListTasksRequest, "status">;

/** The filter of task.list and WatchTasks. Empty texts and unspecified values do not filter. */
function listFilter(request: ListFilter): TaskFilter {
  const {
    scope,
    projectId,
    agentId,
    parentTaskId,
    createdByApp,
    status,
    statuses,
    metadata,
    query,
    ...times
  } = request;
  const named = status === undefined ? undefined : taskStatus.toName(status);
  const states = [...new Set(statuses.flatMap((each) => taskStatus.toName(each) ?? []))].toSorted();
  const pairs = Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...viewFilter(request),
    ...scopeFilter(scope, projectId, agentId || parentTaskId),
    ...(projectId ? { projectId } : {}),
    ...(agentId ? { agentId } : {}),
    ...(parentTaskId ? { parentId: parentTaskId } : {}),
    ...(createdByApp ? { createdByApp } : {}),
    ...(named ? { status: named } : {}),
    ...(states.length > 0 ? { statuses: states } : {}),
    ...timeFilter(times),
    ...(pairs.length > 0 ? { metadata: Object.fromEntries(pairs) } : {}),
    ...(query ? { words: wordsIn(query) } : {}),
  };
}

/**
 * The view, and its filter by account. A team sees neither project, agent, kind nor labels of a task, so it
 * cannot filter by them. Texts are indexed by account.
 *
 * @throws Failure `invalid_argument` for a filter that the view does not take (spec/api.md 8.66).
 */
function viewFilter({
  view,
  creator,
  scope,
  projectId,
  agentId,
  parentTaskId,
  createdByApp,
  metadata,
  query,
}: ListFilter): TaskFilter {
  if (view !== TaskListView.TEAM) {
    if (creator) throw invalidArgument("creator", "needs view=team");
    return {};
  }
  const refused = {
    scope: scope === TaskScope.PROJECT || scope === TaskScope.AGENT_SUBTASK || scope === TaskScope.STANDARD,
    project_id: projectId,
    agent_id: agentId,
    parent_task_id: parentTaskId,
    created_by_app: createdByApp,
    metadata: Object.keys(metadata).length > 0,
  };
  for (const [field, given] of Object.entries(refused))
    if (given) throw invalidArgument(field, "cannot be given with view=team");
  if (query && !creator) throw invalidArgument("query", "needs creator with view=team");
  return { view: "team", ...(creator ? { creatorId: creator } : {}) };
}

/** @throws Failure `invalid_argument` for too many words. */
function wordsIn(query: string): readonly SearchWord[] {
  const words = wordsOf(query);
  if (words.length > queryWordsMax)
    throw invalidArgument("query", `must have at most ${queryWordsMax} words`);
  return words;
}

const notIndexed = "older tasks are being indexed: some may be missing";

const timeFilter = ({ createdAfter, createdBefore, updatedAfter, updatedBefore }: Times): TaskFilter => ({
  // A time in seconds covers the complete second, so later tasks begin after its last millisecond.
  ...(createdAfter === undefined ? {} : { createdAfter: endOfSecond(createdAfter) }),
  ...(createdBefore === undefined ? {} : { createdBefore: milliseconds(createdBefore) }),
  ...(updatedAfter === undefined ? {} : { updatedAfter: endOfSecond(updatedAfter) }),
  ...(updatedBefore === undefined ? {} : { updatedBefore: milliseconds(updatedBefore) }),
});

type Times = Pick<ListTasksRequest, "createdAfter" | "createdBefore" | "updatedAfter" | "updatedBefore">;
