import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { Confirmations } from "../core/actions/confirm.ts";
import type { Caller } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { invalid } from "../core/failure.ts";
import type { BringFiles } from "../core/files/bring.ts";
import type { JsonObject } from "../core/json.ts";
import { withKeepAlives } from "../core/keep-alive.ts";
import { mapped } from "../core/mapped.ts";
import { checkSchema } from "../core/structured-output/schema.ts";
import type { Conversations } from "../core/tasks/conversations.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import type { Listings } from "../core/tasks/listings.ts";
import type { UserInput } from "../core/tasks/message.ts";
import type { Task, TaskView } from "../core/tasks/task.ts";
import type { NewTask, TaskEdit, Tasks } from "../core/tasks/tasks.ts";
import type { Watches } from "../core/tasks/watches.ts";
import { type ShareVisibility, SortOrder, type TaskSchema, TaskScope } from "../gen/proto/task/v2/task_pb.ts";
import {
  type CreateTaskRequest,
  type TaskService,
  type UpdateTaskRequest,
  type WatchTaskResponse,
  WatchTaskResponseSchema,
} from "../gen/proto/task/v2/task_service_pb.ts";
import { conversationHandlers } from "./conversation.ts";
import { eventMessage, type Link } from "./event.ts";
import { taskStatus, taskType, visibility } from "./task-words.ts";
import { seconds } from "./time.ts";
import { inputReader } from "./user-input.ts";

/** What the operations on tasks are made of. */
export interface TaskParts {
  readonly tasks: Tasks;
  readonly listings: Listings;
  readonly conversations: Conversations;
  readonly confirmations: Confirmations;
  readonly watches: Watches;
  /** Streams are kept open by it. */
  readonly clock: Clock;
  /** Where people open tasks. */
  readonly appUrl: string;
  readonly bring: BringFiles;
  /** The address of a file's bytes, made afresh at each read. */
  readonly link: Link;
}

/** After so long without an event a watch that asks for it is sent an answer without one (contract/decisions.md 54). */
const silenceMs = 15_000;

/** Tasks (contract/v2.md 8.1 to 8.9). */
export function taskHandlers({
  tasks,
  listings,
  conversations,
  confirmations,
  watches,
  clock,
  appUrl,
  bring,
  link,
}: TaskParts): Handlers<typeof TaskService> {
  const readInput = inputReader(bring);
  /** What create and update answer; `share_url` unless private. */
  const summary = ({ id, title, shareVisibility }: Task) => ({
    taskId: id,
    taskTitle: title,
    taskUrl: `${appUrl}/app/${id}`,
    ...(shareVisibility === "private" ? {} : { shareUrl: `${appUrl}/share/${id}` }),
    shareVisibility: visibility.toValue(shareVisibility),
  });

  const toMessage = (task: TaskView): MessageInitShape<typeof TaskSchema> => ({
    id: task.id,
    status: taskStatus.toValue(task.status),
    createdAt: seconds(task.createdAt),
    updatedAt: seconds(task.updatedAt),
    taskType: taskType.toValue(task.type),
    shareVisibility: visibility.toValue(task.shareVisibility),
    title: task.title,
    ...(task.credits === 0 ? {} : { creditUsage: task.credits }),
    taskUrl: `${appUrl}/app/${task.id}`,
    ...(task.apiKeyId === null ? {} : { createdByApiKey: { id: task.apiKeyId, name: task.apiKeyName ?? "" } }),
    agentProfile: task.agentProfile,
    hasRunningBackgroundJobs: false,
  });

  /** Whoever is told the same event is told by the same message. */
  const watchAnswers = new WeakMap<TaskEvent, WatchTaskResponse>();
  function watchMessage(event: TaskEvent): WatchTaskResponse {
    const answer = watchAnswers.get(event) ?? create(WatchTaskResponseSchema, { event: eventMessage(event, link) });
    watchAnswers.set(event, answer);
    return answer;
  }

  return {
    ...conversationHandlers(conversations, toMessage, link),
    createTask: {
      async prepare(request, sender, gone) {
        checkOutput(request.structuredOutputSchema);
        const keepInput = await readInput(sender, request.message, gone);
        return async (tx, caller) => summary(await tasks.create(tx, caller, newTask(await keepInput(tx, caller), request)));
      },
    },
    getTask: {
      async hold(tx, call, { taskId, afterSeq, waitSeconds: seconds = 0 }) {
        const look = async (caller: Caller) => ({ task: await tasks.get(tx, caller, taskId) });
        const enough = ({ task }: { task: Task }) => (afterSeq === undefined ? task.status !== "running" : task.lastSeq > afterSeq);
        const { task } = await watches.hold(call, { seconds, look, enough });
        return { task: toMessage(task), lastSeq: task.lastSeq };
      },
    },
    async listTasks(tx, caller, { limit = 20, cursor, order, scope, projectId, agentId }) {
      const filter = { ...scopeFilter(scope, projectId, agentId), ...(projectId ? { projectId } : {}), ...(agentId ? { agentId } : {}) };
      const page = await listings.tasks(tx, caller, filter, { limit, order: orderOf(order), cursor });
      return { data: page.items.map(toMessage), hasMore: page.next !== undefined, ...nextCursor(page.next) };
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
          throw invalid("message.connectors", "cannot be given with clear_connectors");
        const keepInput = await readInput(sender, message, gone);
        return async (tx, caller) => ({
          taskId: await tasks.send(tx, caller, taskId, await keepInput(tx, caller), { agentProfile, outputSchema, clearConnectors }),
        });
      },
    },
    confirmAction: (tx, caller, { taskId, eventId, input }) => confirmations.confirm(tx, caller, taskId, eventId, input),
    listMessages: {
      async hold(tx, call, { taskId, limit = 50, cursor, order, verbose, startEventId, afterSeq, waitSeconds }) {
        if (waitSeconds !== undefined && afterSeq === undefined) throw invalid("wait_seconds", "needs after_seq");
        const wanted = { limit, order: orderOf(order), cursor, verbose, startEventId, afterSeq };
        const look = (caller: Caller) => listings.messages(tx, caller, taskId, wanted);
        // Only the first page waits for more.
        const seconds = cursor ? 0 : (waitSeconds ?? 0);
        const { task, items, next } = await watches.hold(call, { seconds, look, enough: (page) => page.items.length > 0 });
        const messages = items.map((event) => eventMessage(event, link));
        return { taskId: task.id, messages, hasMore: next !== undefined, ...nextCursor(next), lastSeq: task.lastSeq };
      },
    },
    watchTask: {
      async stream(tx, call, { taskId, afterSeq = 0, untilSettled, keepAlive }) {
        const events = await watches.watch(tx, call, { taskId, afterSeq, untilSettled });
        const answers = events && mapped(events, watchMessage);
        return answers && keepAlive ? withKeepAlives(answers, () => create(WatchTaskResponseSchema), { clock, silenceMs }) : answers;
      },
    },
  };
}

/** Reading a hostile schema takes a while: it is done before the transaction (contract/v2.md 9.5). */
function checkOutput(schema: JsonObject | undefined): void {
  if (schema !== undefined) checkSchema(schema);
}

const nextCursor = (next: string | undefined) => (next === undefined ? {} : { nextCursor: next });

/** Newest first unless asked otherwise (contract/v2.md 5). */
const orderOf = (order: SortOrder | undefined): "asc" | "desc" => (order === SortOrder.ASC ? "asc" : "desc");

/** The task type a scope stands for; a scope that needs an id says so (contract/v2.md 8.3). */
function scopeFilter(scope: TaskScope | undefined, projectId: string | undefined, agentId: string | undefined) {
  if (scope === TaskScope.PROJECT && !projectId) throw invalid("project_id", "is required with scope=project");
  if (scope === TaskScope.AGENT_SUBTASK && !agentId) throw invalid("agent_id", "is required with scope=agent_subtask");
  if (scope === TaskScope.STANDARD) return { type: "standard" as const };
  return scope === TaskScope.AGENT_SUBTASK ? { type: "agent_subtask" as const } : {};
}

const newTask = (input: UserInput, request: CreateTaskRequest): NewTask => ({
  input,
  interactive: request.interactiveMode,
  hidden: request.hideInTaskList,
  shareVisibility: visibilityOf(request.shareVisibility) ?? "private",
  ...(request.projectId ? { projectId: request.projectId } : {}),
  ...(request.locale ? { locale: request.locale } : {}),
  ...(request.agentProfile ? { agentProfile: request.agentProfile } : {}),
  ...(request.title ? { title: request.title } : {}),
  outputSchema: request.structuredOutputSchema,
});

function edit({ title, shareVisibility, enableVisibleInTaskList }: UpdateTaskRequest): TaskEdit {
  const shown = visibilityOf(shareVisibility);
  return {
    ...(title === undefined ? {} : { title: titleIn(title) }),
    ...(shown === undefined ? {} : { shareVisibility: shown }),
    ...(enableVisibleInTaskList === undefined ? {} : { hidden: !enableVisibleInTaskList }),
  };
}

/** The unspecified value is as good as none. */
const visibilityOf = (value: ShareVisibility | undefined) => (value === undefined ? undefined : visibility.toWord(value));

function titleIn(text: string): string {
  const title = text.trim();
  if (title === "") throw invalid("title", "must not be empty");
  return title;
}
