import { create } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import type { Caller } from "../core/accounts/caller.ts";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import type { FetchFiles } from "../core/files/fetch-files.ts";
import type { JsonObject } from "../core/json.ts";
import type { PermissionRule } from "../core/permissions/rule.ts";
import type { TranscribeRecordings } from "../core/speech/transcript.ts";
import { checkSchema } from "../core/structured-output/structured-output.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import type { TextDelta } from "../core/tasks/live-text.ts";
import type { UserInput } from "../core/tasks/message.ts";
import { isQueued, positionMax } from "../core/tasks/run-state.ts";
import { readUpTo, type Task } from "../core/tasks/task.ts";
import { checkTurnRequest, type TurnRequest } from "../core/tasks/turn-request.ts";
import type { WatchLinks } from "../core/tasks/watch-links.ts";
import { type MessageRead, type Watches, withKeepAlives } from "../core/tasks/watches.ts";
import type { Confirmations } from "../core/use-cases/confirm-action.ts";
import { inspectTask } from "../core/use-cases/inspect-task.ts";
import type { TaskEdit, TaskInput, Tasks } from "../core/use-cases/manage-tasks.ts";
import type { ShareVisibility } from "../gen/proto/task/v2/task_pb.ts";
import {
  type CreateTaskRequest,
  MessageDeliverySchema,
  TaskService,
  type UpdateTaskRequest,
  type WatchTaskResponse,
  WatchTaskResponseSchema,
} from "../gen/proto/task/v2/task_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { deltaMessage, eventMessage } from "./event.ts";
import { editedRules, levelsInForce, rulesIn } from "./permissions.ts";
import { inspectionMessage } from "./task-inspection.ts";
import { orderOf, silenceMs, type TaskListParts, taskListHandlers } from "./task-list.ts";
import { taskWriter, withTool } from "./task-message.ts";
import { inputReader } from "./user-input.ts";
import { enumConverter, pageEnd, visibility } from "./wire-values.ts";

export interface TaskParts extends TaskListParts {
  readonly tasks: Tasks;
  readonly confirmations: Confirmations;
  readonly watches: Watches;
  readonly watchLinks: WatchLinks;
  readonly fetchFiles: FetchFiles;
  readonly transcribe: TranscribeRecordings;
  /** The setting PERMISSIONS. */
  readonly installationRules: readonly PermissionRule[];
}

const deliveries = enumConverter(MessageDeliverySchema, ["next_call", "next_turn"] as const);

type WatchItem = TaskEvent | MessageRead | TextDelta;

/** How long an address of task.watchUrl is valid by default, in seconds. */
const watchUrlSeconds = 600;

/** Tasks (spec/api.md 8.1 to 8.9). */
export function taskHandlers(parts: TaskParts) {
  const {
    tasks,
    listings,
    confirmations,
    watches,
    watchLinks,
    clock,
    appUrl,
    fetchFiles,
    transcribe,
    link,
    readRunState,
    installationRules,
  } = parts;
  const readInput = inputReader(fetchFiles, transcribe);
  /** The answer of create and update; `share_url` unless private. */
  const summary = ({ id, title, shareVisibility }: Task) => ({
    taskId: id,
    taskTitle: title,
    taskUrl: `${appUrl}/app/${id}`,
    ...(shareVisibility === "private" ? {} : { shareUrl: `${appUrl}/share/${id}` }),
    shareVisibility: visibility.toValue(shareVisibility),
  });

  const toMessage = taskWriter(appUrl, readRunState);

  /** All watches of an event, or of a part of a text, share one message. */
  const watchAnswers = new WeakMap<WatchItem, WatchTaskResponse>();
  function watchMessage(item: WatchItem): WatchTaskResponse {
    const content = () => {
      if ("readSeq" in item) return { messageRead: item };
      return "seq" in item ? { event: eventMessage(item, link) } : { delta: deltaMessage(item) };
    };
    const answer = watchAnswers.get(item) ?? create(WatchTaskResponseSchema, content());
    watchAnswers.set(item, answer);
    return answer;
  }

  return implement(TaskService, {
    ...taskListHandlers(parts),
    createTask: {
      async prepare(request, sender, gone) {
        const outputSchema = readOutputSchema(request.structuredOutputSchema);
        const turnRequest = turnRequestOf(request);
        const { keep, warnings } = await readInput(
          sender,
          request.message,
          { projectId: request.projectId },
          gone,
        );
        return async (tx, caller) => {
          const task = await tasks.create(tx, caller, {
            ...newTask(await keep(tx, caller), request, outputSchema),
            turnRequest,
          });
          return { ...summary(task), warnings };
        };
      },
    },
    getTask: {
      async hold(tx, call, { taskId, afterSeq, waitSeconds = 0 }) {
        const read = async (caller: Caller) => ({ task: await tasks.get(tx, caller, taskId) });
        const isEnough = ({ task }: { task: Task }) =>
          afterSeq === undefined ? task.status !== "running" : task.lastSeq > afterSeq;
        const { task } = await watches.hold(call, { seconds: waitSeconds, read, isEnough });
        const waits = isQueued(readRunState(task));
        const queuePosition = waits ? await tx.tasks.queuePosition(task, positionMax) : undefined;
        return {
          task: await withTool(tx, task, toMessage(call.caller, task)),
          lastSeq: task.lastSeq,
          readSeq: readUpTo(task),
          ...(waits ? { queuePosition } : {}),
          permissions: await levelsInForce(tx, task, installationRules),
          ...(task.untrusted && { untrusted: true }),
        };
      },
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
      async prepare(
        { taskId, message, agentProfile, structuredOutputSchema, clearConnectors = false, turn, delivery },
        sender,
        gone,
      ) {
        const outputSchema = readOutputSchema(structuredOutputSchema);
        const turnRequest = turnRequestOf({ turn });
        if (clearConnectors && (message?.connectors.length ?? 0) > 0)
          throw invalidArgument("message.connectors", "cannot be given with clear_connectors");
        const { keep, warnings } = await readInput(sender, message, { taskId }, gone);
        return async (tx, caller) => {
          const sent = await tasks.send(tx, caller, taskId, await keep(tx, caller), {
            agentProfile,
            outputSchema,
            turnRequest,
            clearConnectors,
            delivery: delivery ? deliveries.toName(delivery) : undefined,
          });
          return { taskId: sent.taskId, warnings: [...warnings, ...sent.warnings] };
        };
      },
    },
    confirmAction: (tx, caller, { taskId, eventId, input }) =>
      confirmations.confirm(tx, caller, taskId, eventId, input),
    listMessages: {
      async hold(
        tx,
        call,
        { taskId, limit = 50, cursor, order, verbose, startEventId, afterSeq, waitSeconds },
      ) {
        if (waitSeconds !== undefined && afterSeq === undefined)
          throw invalidArgument("wait_seconds", "needs after_seq");
        const page = { limit, order: orderOf(order), cursor, verbose, startEventId, afterSeq };
        const read = (caller: Caller) => listings.messages(tx, caller, taskId, page);
        // Only the first page waits for new events.
        const seconds = cursor ? 0 : (waitSeconds ?? 0);
        const { task, items, next } = await watches.hold(call, {
          seconds,
          read,
          isEnough: ({ items }) => items.length > 0,
        });
        const messages = items.map((event) => eventMessage(event, link));
        return { taskId: task.id, messages, ...pageEnd(next), lastSeq: task.lastSeq };
      },
    },
    async inspectTask(tx, caller, { taskId, limit = 100, cursor }) {
      const task = await tasks.get(tx, caller, taskId);
      return inspectionMessage(task, await inspectTask(tx, caller, task, { limit, cursor }));
    },
    async getWatchUrl(tx, caller, { taskId, ttlSeconds = watchUrlSeconds }) {
      const { id } = await tasks.get(tx, caller, taskId);
      const until = Math.floor(clock.now() / 1000) + ttlSeconds;
      return { url: watchLinks.create(caller, id, until * 1000), expiresAt: BigInt(until) };
    },
    watchTask: {
      reserve: (call) => watches.reserve(call),
      async stream(tx, call, { taskId, afterSeq = 0, untilSettled, keepAlive, deltas, reads }) {
        const watch = { taskId, afterSeq, untilSettled, deltas, reads };
        const events = await watches.watchLive(tx, call, watch);
        const answers = events && mapIterable(events, watchMessage);
        return answers && keepAlive
          ? withKeepAlives(answers, () => create(WatchTaskResponseSchema), { clock, silenceMs })
          : answers;
      },
    },
  });
}

/**
 * The checked schema without annotations. It is read before the transaction, because reading a hostile schema
 * is slow (spec/api.md 9.5).
 */
export const readOutputSchema = (schema: JsonObject | undefined): JsonObject | undefined =>
  schema && checkSchema(schema);

function turnRequestOf({ turn }: Pick<CreateTaskRequest, "turn">): TurnRequest | undefined {
  const request = turn && { instruction: turn.instruction, echo: turn.echo ?? {} };
  if (request) checkTurnRequest(request);
  return request;
}

/** The input of task.create with a message that was read before. */
export const newTask = <Input extends UserInput>(
  input: Input,
  request: CreateTaskRequest,
  outputSchema: JsonObject | undefined,
): TaskInput & { input: Input } => ({
  input,
  interactive: request.interactiveMode,
  hidden: request.hideInTaskList,
  shareVisibility: visibilityOf(request.shareVisibility) ?? "private",
  ...(request.projectId ? { projectId: request.projectId } : {}),
  ...(request.locale ? { locale: request.locale } : {}),
  ...(request.agentProfile ? { agentProfile: request.agentProfile } : {}),
  ...(request.title ? { title: request.title } : {}),
  metadata: request.metadata,
  permissions: rulesIn(request),
  outputSchema,
});

function edit({
  title,
  shareVisibility,
  enableVisibleInTaskList,
  metadata,
  projectId,
  ...rules
}: UpdateTaskRequest): TaskEdit {
  const visibilityEdit = visibilityOf(shareVisibility);
  return {
    ...(title === undefined ? {} : { title: titleIn(title) }),
    ...defined({ shareVisibility: visibilityEdit }),
    ...(enableVisibleInTaskList === undefined ? {} : { hidden: !enableVisibleInTaskList }),
    ...(projectId === undefined ? {} : { projectId: projectId === "" ? null : projectId }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...editedRules(rules),
  };
}

/** The visibility; undefined for the unspecified value. */
const visibilityOf = (value: ShareVisibility | undefined) =>
  value === undefined ? undefined : visibility.toName(value);

function titleIn(text: string): string {
  const title = text.trim();
  if (title === "") throw invalidArgument("title", "must not be empty");
  return title;
}
