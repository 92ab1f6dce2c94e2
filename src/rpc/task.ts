import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import type { Handlers } from "../call/handlers.ts";
import type { Caller } from "../core/accounts/caller.ts";
import type { Clock } from "../core/clock.ts";
import { invalidArgument } from "../core/failure.ts";
import type { FetchFiles } from "../core/files/fetch-files.ts";
import type { JsonObject } from "../core/json.ts";
import type { TranscribeRecordings } from "../core/speech/transcript.ts";
import { checkSchema } from "../core/structured-output/structured-output.ts";
import type { Conversation, ConversationFilter, Conversations, CountedConversation } from "../core/tasks/conversations.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import type { ListChange, ListWatches } from "../core/tasks/list-watches.ts";
import type { Listings } from "../core/tasks/listings.ts";
import type { UserInput } from "../core/tasks/message.ts";
import { positionMax, type ReadRunState } from "../core/tasks/run-state.ts";
import { queryWordsMax, type SearchWord, wordsOf } from "../core/tasks/search-tokens.ts";
import type { Task, TaskFilter } from "../core/tasks/task.ts";
import type { WatchLinks } from "../core/tasks/watch-links.ts";
import { type Watches, withKeepAlives } from "../core/tasks/watches.ts";
import type { Confirmations } from "../core/use-cases/confirm-action.ts";
import type { TaskEdit, TaskInput, Tasks } from "../core/use-cases/manage-tasks.ts";
import { type ShareVisibility, SortOrder, TaskOrder, TaskScope } from "../gen/proto/task/v2/task_pb.ts";
import {
  ConversationOrder,
  type ConversationSchema,
  type CreateTaskRequest,
  type ListConversationsRequest,
  type ListTasksRequest,
  type TaskService,
  type UpdateTaskRequest,
  type WatchTaskResponse,
  WatchTaskResponseSchema,
  type WatchTasksRequest,
  WatchTasksResponseSchema,
} from "../gen/proto/task/v2/task_service_pb.ts";
import { eventMessage, type Link } from "./event.ts";
import { type TaskWriter, taskWriter } from "./task-message.ts";
import { inputReader } from "./user-input.ts";
import { taskStatus, visibility } from "./wire-values.ts";

/** Tasks with their messages, for v1 and the Responses API. */
function conversationHandlers(
  conversations: Conversations,
  taskMessage: TaskWriter,
  { link, outputTokensMax }: Pick<TaskParts, "link" | "outputTokensMax">,
): Pick<Handlers<typeof TaskService>, "getConversation" | "listConversations"> {
  const toMessage = (
    caller: Caller,
    { task, messages, usage }: Conversation & Partial<CountedConversation>,
  ): MessageInitShape<typeof ConversationSchema> => {
    const maxOutputTokens = outputTokensMax(task.agentProfile);
    return {
      task: taskMessage(caller, task),
      messages: messages.map((event) => eventMessage(event, link)),
      locale: task.locale,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(usage ? { usage: { inputTokens: BigInt(usage.inputTokens), outputTokens: BigInt(usage.outputTokens) } } : {}),
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
      const { items, hasMore } = await conversations.list(tx, caller, filterOf(request), { limit, afterTaskId, orderBy, order });
      return { data: items.map((item) => toMessage(caller, item)), hasMore };
    },
  };
}

/** The filter of a list. An unspecified status and an empty text do not filter. */
const filterOf = ({ query, statuses, createdAfter, createdBefore, projectId }: ListConversationsRequest): ConversationFilter => ({
  ...(query ? { query } : {}),
  statuses: statuses.flatMap((status) => taskStatus.toName(status) ?? []),
  ...(createdAfter === undefined ? {} : { createdAfter: milliseconds(createdAfter) }),
  ...(createdBefore === undefined ? {} : { createdBefore: milliseconds(createdBefore) }),
  ...(projectId ? { projectId } : {}),
});

/** Times beyond the safe integers are later than every stored time. */
const milliseconds = (seconds: bigint): number => Math.min(Number(seconds) * 1000, Number.MAX_SAFE_INTEGER);

/** The last millisecond of a second. */
const endOfSecond = (seconds: bigint): number => Math.min(milliseconds(seconds) + 999, Number.MAX_SAFE_INTEGER);

/** The dependencies of the operations on tasks. */
export interface TaskParts {
  readonly tasks: Tasks;
  readonly listings: Listings;
  readonly conversations: Conversations;
  readonly confirmations: Confirmations;
  readonly watches: Watches;
  readonly listWatches: ListWatches;
  readonly watchLinks: WatchLinks;
  /** The clock of keep-alive answers. */
  readonly clock: Clock;
  /** The base URL of the web app, where users open tasks. */
  readonly appUrl: string;
  readonly fetchFiles: FetchFiles;
  readonly transcribe: TranscribeRecordings;
  /** Creates a new link to a file's bytes at each read. */
  readonly link: Link;
  /** The longest answer of a profile's model, in tokens; undefined for a profile without a model. */
  readonly outputTokensMax: (profile: string) => number | undefined;
  readonly readRunState: ReadRunState;
}

/** A watch with `keep_alive` gets an answer without an event after this many milliseconds of silence (spec/decisions.md 54). */
const silenceMs = 15_000;

/** How long an address of task.watchUrl is valid by default, in seconds. */
const watchUrlSeconds = 600;

/** Tasks (spec/api.md 8.1 to 8.9). */
export function taskHandlers({
  tasks,
  listings,
  conversations,
  confirmations,
  watches,
  listWatches,
  watchLinks,
  clock,
  appUrl,
  fetchFiles: bring,
  transcribe,
  link,
  outputTokensMax,
  readRunState,
}: TaskParts): Handlers<typeof TaskService> {
  const readInput = inputReader(bring, transcribe);
  /** The answer of create and update; `share_url` unless private. */
  const summary = ({ id, title, shareVisibility }: Task) => ({
    taskId: id,
    taskTitle: title,
    taskUrl: `${appUrl}/app/${id}`,
    ...(shareVisibility === "private" ? {} : { shareUrl: `${appUrl}/share/${id}` }),
    shareVisibility: visibility.toValue(shareVisibility),
  });

  const toMessage = taskWriter(appUrl, readRunState);

  /** All watches of an event share one message. */
  const watchAnswers = new WeakMap<TaskEvent, WatchTaskResponse>();
  function watchMessage(event: TaskEvent): WatchTaskResponse {
    const answer = watchAnswers.get(event) ?? create(WatchTaskResponseSchema, { event: eventMessage(event, link) });
    watchAnswers.set(event, answer);
    return answer;
  }

  const listChangeMessage = (caller: Caller, { tasks, removedIds, cursor, resync }: ListChange) =>
    create(WatchTasksResponseSchema, { tasks: tasks.map((task) => toMessage(caller, task)), removedIds: [...removedIds], cursor, resync });

  return {
    ...conversationHandlers(conversations, toMessage, { link, outputTokensMax }),
    createTask: {
      async prepare(request, sender, gone) {
        checkOutput(request.structuredOutputSchema);
        const { keep, warnings } = await readInput(sender, request.message, { projectId: request.projectId }, gone);
        return async (tx, caller) => {
          const task = await tasks.create(tx, caller, newTask(await keep(tx, caller), request));
          return { ...summary(task), warnings };
        };
      },
    },
    getTask: {
      async hold(tx, call, { taskId, afterSeq, waitSeconds: seconds = 0 }) {
        const read = async (caller: Caller) => ({ task: await tasks.get(tx, caller, taskId) });
        const isEnough = ({ task }: { task: Task }) => (afterSeq === undefined ? task.status !== "running" : task.lastSeq > afterSeq);
        const { task } = await watches.hold(call, { seconds, read: read, isEnough: isEnough });
        const waits = readRunState(task) === "queued" || readRunState(task) === "waiting_for_worker";
        const queuePosition = waits ? await tx.tasks.queuePosition(task, positionMax) : undefined;
        return { task: toMessage(call.caller, task), lastSeq: task.lastSeq, ...(waits ? { queuePosition } : {}) };
      },
    },
    async listTasks(tx, caller, request) {
      const { limit = 20, cursor, order } = request;
      const orderBy = request.orderBy === TaskOrder.UPDATED_AT ? "updatedAt" : "createdAt";
      const page = await listings.tasks(tx, caller, listFilter(request), { limit, order: orderOf(order), orderBy, cursor });
      const warnings = page.isComplete ? [] : [notIndexed];
      const data = page.items.map((task) => toMessage(caller, task));
      return { data, hasMore: page.next !== undefined, ...nextCursor(page.next), warnings };
    },
    async updateTask(tx, caller, request) {
      return summary(await tasks.update(tx, caller, request.taskId, edit(request)));
    },
    async stopTask(tx, caller, { taskId }) {
      await tasks.stop(tx, caller, taskId);
      return {};
    },
    async deleteTask(tx, caller, { taskId, stop }) {
      await tasks.remove(tx, caller, taskId, { stop });
      return { id: taskId, deleted: true };
    },
    sendMessage: {
      async prepare({ taskId, message, agentProfile, structuredOutputSchema: outputSchema, clearConnectors = false }, sender, gone) {
        checkOutput(outputSchema);
        if (clearConnectors && (message?.connectors.length ?? 0) > 0)
          throw invalidArgument("message.connectors", "cannot be given with clear_connectors");
        const { keep, warnings } = await readInput(sender, message, { taskId }, gone);
        return async (tx, caller) => ({
          taskId: await tasks.send(tx, caller, taskId, await keep(tx, caller), { agentProfile, outputSchema, clearConnectors }),
          warnings,
        });
      },
    },
    confirmAction: (tx, caller, { taskId, eventId, input }) => confirmations.confirm(tx, caller, taskId, eventId, input),
    listMessages: {
      async hold(tx, call, { taskId, limit = 50, cursor, order, verbose, startEventId, afterSeq, waitSeconds }) {
        if (waitSeconds !== undefined && afterSeq === undefined) throw invalidArgument("wait_seconds", "needs after_seq");
        const page = { limit, order: orderOf(order), cursor, verbose, startEventId, afterSeq };
        const read = (caller: Caller) => listings.messages(tx, caller, taskId, page);
        // Only the first page waits for new events.
        const seconds = cursor ? 0 : (waitSeconds ?? 0);
        const { task, items, next } = await watches.hold(call, { seconds, read: read, isEnough: ({ items }) => items.length > 0 });
        const messages = items.map((event) => eventMessage(event, link));
        return { taskId: task.id, messages, hasMore: next !== undefined, ...nextCursor(next), lastSeq: task.lastSeq };
      },
    },
    async getWatchUrl(tx, caller, { taskId, ttlSeconds = watchUrlSeconds }) {
      const { id } = await tasks.get(tx, caller, taskId);
      const until = Math.floor(clock.now() / 1000) + ttlSeconds;
      return { url: watchLinks.create(caller, id, until * 1000), expiresAt: BigInt(until) };
    },
    watchTasks: {
      async stream(tx, call, { cursor, follow, keepAlive, ...filter }) {
        const changes = listWatches.watch(tx, call, { filter: listFilter(filter), cursor, follow });
        const answers = mapIterable(changes, (change) => listChangeMessage(call.caller, change));
        return keepAlive ? withKeepAlives(answers, () => create(WatchTasksResponseSchema), { clock, silenceMs }) : answers;
      },
    },
    watchTask: {
      reserve: (call) => watches.reserve(call),
      async stream(tx, call, { taskId, afterSeq = 0, untilSettled, keepAlive }) {
        const events = await watches.watch(tx, call, { taskId, afterSeq, untilSettled });
        const answers = events && mapIterable(events, watchMessage);
        return answers && keepAlive ? withKeepAlives(answers, () => create(WatchTaskResponseSchema), { clock, silenceMs }) : answers;
      },
    },
  };
}

/** Checks the schema before the transaction, because reading a hostile schema is slow (spec/api.md 9.5). */
export function checkOutput(schema: JsonObject | undefined): void {
  if (schema !== undefined) checkSchema(schema);
}

const nextCursor = (next: string | undefined) => (next === undefined ? {} : { nextCursor: next });

/** The order of a list; newest first by default (spec/api.md 5). */
const orderOf = (order: SortOrder | undefined): "asc" | "desc" => (order === SortOrder.ASC ? "asc" : "desc");

/** The task type of a scope. @throws Failure `invalid_argument` when the scope requires an id that is missing (spec/api.md 8.3). */
function scopeFilter(scope: TaskScope | undefined, projectId: string | undefined, agentId: string | undefined) {
  if (scope === TaskScope.PROJECT && !projectId) throw invalidArgument("project_id", "is required with scope=project");
  if (scope === TaskScope.AGENT_SUBTASK && !agentId) throw invalidArgument("agent_id", "is required with scope=agent_subtask");
  if (scope === TaskScope.STANDARD) return { type: "standard" as const };
  return scope === TaskScope.AGENT_SUBTASK ? { type: "agent_subtask" as const } : {};
}

/** The filters that task.list and WatchTasks have. */
type ListFilter = Omit<WatchTasksRequest, "$typeName" | "$unknown" | "cursor" | "follow" | "keepAlive"> & Pick<ListTasksRequest, "status">;

/** The filter of task.list and WatchTasks. Empty texts and unspecified values do not filter. */
function listFilter({ scope, projectId, agentId, status, statuses, metadata, query, ...times }: ListFilter): TaskFilter {
  const named = status === undefined ? undefined : taskStatus.toName(status);
  const states = [...new Set(statuses.flatMap((each) => taskStatus.toName(each) ?? []))].toSorted();
  const pairs = Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...scopeFilter(scope, projectId, agentId),
    ...(projectId ? { projectId } : {}),
    ...(agentId ? { agentId } : {}),
    ...(named ? { status: named } : {}),
    ...(states.length > 0 ? { statuses: states } : {}),
    ...timeFilter(times),
    ...(pairs.length > 0 ? { metadata: Object.fromEntries(pairs) } : {}),
    ...(query ? { words: wordsIn(query) } : {}),
  };
}

/** @throws Failure `invalid_argument` for too many words. */
function wordsIn(query: string): readonly SearchWord[] {
  const words = wordsOf(query);
  if (words.length > queryWordsMax) throw invalidArgument("query", `must have at most ${queryWordsMax} words`);
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

/** The input of task.create with a message that was read before. */
export const newTask = <Input extends UserInput>(input: Input, request: CreateTaskRequest): TaskInput & { readonly input: Input } => ({
  input,
  interactive: request.interactiveMode,
  hidden: request.hideInTaskList,
  shareVisibility: visibilityOf(request.shareVisibility) ?? "private",
  ...(request.projectId ? { projectId: request.projectId } : {}),
  ...(request.locale ? { locale: request.locale } : {}),
  ...(request.agentProfile ? { agentProfile: request.agentProfile } : {}),
  ...(request.title ? { title: request.title } : {}),
  metadata: request.metadata,
  outputSchema: request.structuredOutputSchema,
});

function edit({ title, shareVisibility, enableVisibleInTaskList, metadata, projectId }: UpdateTaskRequest): TaskEdit {
  const visibilityEdit = visibilityOf(shareVisibility);
  return {
    ...(title === undefined ? {} : { title: titleIn(title) }),
    ...(visibilityEdit === undefined ? {} : { shareVisibility: visibilityEdit }),
    ...(enableVisibleInTaskList === undefined ? {} : { hidden: !enableVisibleInTaskList }),
    ...(projectId === undefined ? {} : { projectId: projectId === "" ? null : projectId }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/** The visibility; undefined for the unspecified value. */
const visibilityOf = (value: ShareVisibility | undefined) => (value === undefined ? undefined : visibility.toName(value));

function titleIn(text: string): string {
  const title = text.trim();
  if (title === "") throw invalidArgument("title", "must not be empty");
  return title;
}
