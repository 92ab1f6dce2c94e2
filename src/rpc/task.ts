import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import { Failure, invalid } from "../core/failure.ts";
import type { JsonObject } from "../core/json.ts";
import { checkSchema } from "../core/structured-output/schema.ts";
import type { Listings } from "../core/tasks/listings.ts";
import type { Task, TaskView } from "../core/tasks/task.ts";
import type { NewTask, TaskEdit, Tasks } from "../core/tasks/tasks.ts";
import { type ShareVisibility, SortOrder, type TaskSchema, TaskScope } from "../gen/proto/task/v2/task_pb.ts";
import type { CreateTaskRequest, TaskService, UpdateTaskRequest } from "../gen/proto/task/v2/task_service_pb.ts";
import { eventMessage } from "./event.ts";
import { taskStatus, taskType, visibility } from "./task-words.ts";
import { seconds } from "./time.ts";
import { userInput } from "./user-input.ts";

/**
 * Tasks (contract/v2.md 8.1 to 8.8). `appUrl` is where people open them.
 * task.confirmAction is not here: it answers `unimplemented`.
 */
export function taskHandlers(tasks: Tasks, listings: Listings, appUrl: string): Handlers<typeof TaskService> {
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

  return {
    createTask: {
      prepare: ({ structuredOutputSchema }) => checkOutput(structuredOutputSchema),
      perform: async (tx, caller, request) => summary(await tasks.create(tx, caller, newTask(request))),
    },
    async getTask(tx, caller, { taskId, afterSeq, waitSeconds }) {
      refuseWaiting(afterSeq, waitSeconds);
      const task = await tasks.get(tx, caller, taskId);
      return { task: toMessage(task), lastSeq: task.lastSeq };
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
    async deleteTask(tx, caller, { taskId }) {
      await tasks.remove(tx, caller, taskId);
      return { id: taskId, deleted: true };
    },
    sendMessage: {
      prepare: ({ structuredOutputSchema }) => checkOutput(structuredOutputSchema),
      async perform(tx, caller, { taskId, message, agentProfile, structuredOutputSchema: outputSchema, clearConnectors = false }) {
        if (clearConnectors && (message?.connectors.length ?? 0) > 0)
          throw invalid("message.connectors", "cannot be given with clear_connectors");
        await tasks.send(tx, caller, taskId, userInput(message), { agentProfile, outputSchema });
        return { taskId };
      },
    },
    async listMessages(tx, caller, { taskId, limit = 50, cursor, order, verbose, startEventId, afterSeq, waitSeconds }) {
      refuseWaiting(afterSeq, waitSeconds);
      const wanted = { limit, order: orderOf(order), cursor, verbose, startEventId };
      const { task, items, next } = await listings.messages(tx, caller, taskId, wanted);
      return {
        taskId: task.id,
        messages: items.map(eventMessage),
        hasMore: next !== undefined,
        ...nextCursor(next),
        lastSeq: task.lastSeq,
      };
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

/** Watching and waiting are not built yet: what asks for them is refused rather than answered at once. */
function refuseWaiting(afterSeq: number | undefined, waitSeconds: number | undefined): void {
  if (afterSeq !== undefined) throw new Failure("unimplemented", "after_seq is not built yet");
  if (waitSeconds !== undefined) throw new Failure("unimplemented", "wait_seconds is not built yet");
}

/** The task type a scope stands for; a scope that needs an id says so (contract/v2.md 8.3). */
function scopeFilter(scope: TaskScope | undefined, projectId: string | undefined, agentId: string | undefined) {
  if (scope === TaskScope.PROJECT && !projectId) throw invalid("project_id", "is required with scope=project");
  if (scope === TaskScope.AGENT_SUBTASK && !agentId) throw invalid("agent_id", "is required with scope=agent_subtask");
  if (scope === TaskScope.STANDARD) return { type: "standard" as const };
  return scope === TaskScope.AGENT_SUBTASK ? { type: "agent_subtask" as const } : {};
}

const newTask = (request: CreateTaskRequest): NewTask => ({
  input: userInput(request.message),
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
