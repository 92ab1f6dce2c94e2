import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { EmptySchema, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Task as OwnTask } from "../../../packages/client/src/index.ts";
import { Failure, invalidArgument } from "../../core/failure.ts";
import {
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetExtendedAgentCardRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTasksRequest,
  ListTasksResponseSchema,
  type SendMessageRequest,
  SendMessageResponseSchema,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { watchTurn } from "../shared/caller-client.ts";
import { unless } from "../shared/refusal.ts";
import { readTask } from "../shared/turn.ts";
import { A2aFailure } from "./problem.ts";
import { send } from "./send.ts";
import { contextKey, isOver, stateOf, taskOf } from "./task.ts";
import { follow } from "./updates.ts";
import { findTask, type Item, readEvents, type Use } from "./use.ts";

/** The longest time that SendMessage waits, in milliseconds. The task continues. */
const waitMs = 10 * 60_000;
/** `withEvents`: a page whose tasks have artifacts or history. */
const pageBounds = { most: 100, usual: 50, withEvents: 20 };
const skillsMax = 100;

interface Handlers<Answer> {
  readonly [method: string]: (request: never, use: Use) => Answer;
}

/** The methods of the protocol that answer once, by name, over operations of the platform. */
const unaries: Handlers<Promise<Message>> = {
  SendMessage: sendMessage,
  GetTask: async ({ id, historyLength }: GetTaskRequest, use: Use) => {
    const length = lengthIn(historyLength);
    return taskOf(await readTask(use.client, idIn(id)), await readEvents(use, id), length);
  },
  ListTasks: listTasks,
  CancelTask: async ({ id }: CancelTaskRequest, use: Use) => {
    if (isOver(stateOf(await readTask(use.client, idIn(id)))))
      throw new A2aFailure("TASK_NOT_CANCELABLE", "the task is over");
    await use.client.tasks.stop({ task_id: id });
    return taskOf(await readTask(use.client, id), await readEvents(use, id));
  },
  GetExtendedAgentCard: extendedCard,
  CreateTaskPushNotificationConfig: (request: TaskPushNotificationConfig, { push }: Use) =>
    push.create(request),
  GetTaskPushNotificationConfig: (request: GetTaskPushNotificationConfigRequest, { push }: Use) =>
    push.get(request),
  ListTaskPushNotificationConfigs: (request: ListTaskPushNotificationConfigsRequest, { push }: Use) =>
    push.list(request),
  DeleteTaskPushNotificationConfig: async (
    request: DeleteTaskPushNotificationConfigRequest,
    { push }: Use,
  ) => {
    await push.remove(request);
    return create(EmptySchema);
  },
};

/** The methods that answer with a stream. */
const streams: Handlers<AsyncIterable<Item>> = {
  SendStreamingMessage: sendStreamingMessage,
  SubscribeToTask: subscribe,
};

/** Performs a method. @throws Failure, ApiError */
export const unary = async ({ name }: DescMethod, request: Message, use: Use): Promise<Message> =>
  handlerIn(unaries, name)(request as never, use);

/** Performs a method that answers with a stream. It throws Failure and ApiError, also while it runs. */
export const stream = ({ name }: DescMethod, request: Message, use: Use): AsyncIterable<Item> =>
  handlerIn(streams, name)(request as never, use);

function handlerIn<Answer>(handlers: Handlers<Answer>, name: string): Handlers<Answer>[string] {
  const handler = handlers[name];
  if (!handler) throw new Failure("unimplemented", `${name} is not supported`);
  return handler;
}

function idIn(id: string): string {
  if (id === "") throw invalidArgument("id", "is required");
  return id;
}

function lengthIn(length: number | undefined): number | undefined {
  if (length !== undefined && length < 0) throw invalidArgument("history_length", "must not be negative");
  return length;
}

async function sendMessage(request: SendMessageRequest, use: Use): Promise<Message> {
  const length = lengthIn(request.configuration?.historyLength);
  const { taskId, seq } = await send(request, use);
  if (!request.configuration?.returnImmediately) await settle(taskId, seq, use);
  const task = taskOf(await readTask(use.client, taskId), await readEvents(use, taskId), length);
  return create(SendMessageResponseSchema, { payload: { case: "task", value: task } });
}

/** Waits until the task does not run, at most `waitMs`. */
async function settle(taskId: string, seq: number, { client, sleep }: Use): Promise<void> {
  const done = new AbortController();
  const late = sleep(waitMs, done.signal).then(
    () => done.abort(),
    () => undefined,
  );
  try {
    for await (const _ of watchTurn(client, taskId, seq, done.signal));
  } catch (thrown) {
    if (!done.signal.aborted) throw thrown;
  } finally {
    done.abort();
    await late;
  }
}

async function* sendStreamingMessage(
  request: SendMessageRequest,
  use: Use,
): AsyncGenerator<Item<StreamResponse>> {
  const { taskId, seq } = await send(request, use);
  yield* follow(await readTask(use.client, taskId), seq, use);
}

async function* subscribe({ id }: SubscribeToTaskRequest, use: Use): AsyncGenerator<Item<StreamResponse>> {
  const task = await readTask(use.client, idIn(id));
  // With the place at which a client was cut off it gets what it missed, also when the task is over.
  if (use.lastSeq === undefined && isOver(stateOf(task)))
    throw new A2aFailure(
      "UNSUPPORTED_OPERATION",
      "the task is over: GetTask has its result, and Last-Event-ID repeats its events",
    );
  yield* follow(task, use.lastSeq ?? task.last_seq, use);
}

/** The states of v2 that can be in a state of the protocol. */
const statusesOf: Readonly<Record<TaskState, readonly OwnTask["status"][]>> = {
  [TaskState.UNSPECIFIED]: ["running", "waiting", "stopped", "error"],
  [TaskState.SUBMITTED]: ["running"],
  [TaskState.WORKING]: ["running"],
  [TaskState.COMPLETED]: ["stopped"],
  [TaskState.CANCELED]: ["stopped"],
  [TaskState.FAILED]: ["error"],
  [TaskState.INPUT_REQUIRED]: ["waiting"],
  [TaskState.AUTH_REQUIRED]: ["waiting"],
  [TaskState.REJECTED]: [],
};

/**
 * Lists tasks by the time of their last change, newest first: those of a context, if the request has one,
 * which can be the id of a task. Their artifacts, and a history, only on request.
 */
async function listTasks(request: ListTasksRequest, use: Use): Promise<Message> {
  const { contextId, status, pageSize = pageBounds.usual, pageToken, statusTimestampAfter } = request;
  if (pageSize < 1 || pageSize > pageBounds.most)
    throw invalidArgument("page_size", `must be from 1 to ${pageBounds.most}`);
  const length = lengthIn(request.historyLength) ?? 0;
  const hasEvents = length > 0 || request.includeArtifacts === true;
  const size = hasEvents ? Math.min(pageSize, pageBounds.withEvents) : pageSize;
  const statuses = statusesOf[status];
  if (!statuses) throw invalidArgument("status", "is not a state of the protocol");
  const shown = async (tasks: readonly OwnTask[]): Promise<Task[]> => {
    const wanted = tasks.filter((task) => status === TaskState.UNSPECIFIED || stateOf(task) === status);
    const list: Task[] = [];
    for (const task of wanted) {
      const whole = taskOf(task, hasEvents ? await readEvents(use, task.id) : [], length);
      list.push(request.includeArtifacts ? whole : { ...whole, artifacts: [] });
    }
    return list;
  };
  const ofId = contextId === "" ? undefined : await findTask(use, contextId);
  if (ofId) {
    const tasks = await shown([ofId]);
    return create(ListTasksResponseSchema, { tasks, pageSize: size, totalSize: tasks.length });
  }
  if (statuses.length === 0) return create(ListTasksResponseSchema, { pageSize: size });
  const filters = { statuses, order_by: "updated_at", include_counts: true, limit: size } as const;
  const context = contextId === "" ? {} : { metadata: { [contextKey]: contextId } };
  // Also those of the same second: the filter of v2 leaves its second out.
  const since = statusTimestampAfter
    ? { updated_after: Math.max(0, Math.floor(timestampMs(statusTimestampAfter) / 1000) - 1) }
    : {};
  const cursor = pageToken === "" ? {} : { cursor: pageToken };
  const { data, next_cursor, counts } = await use.client.call("task.list", {
    ...filters,
    ...context,
    ...since,
    ...cursor,
  });
  return create(ListTasksResponseSchema, {
    tasks: await shown(data),
    nextPageToken: next_cursor ?? "",
    pageSize: size,
    totalSize: statuses.reduce((sum, name) => sum + (counts?.[name] ?? 0), 0),
  });
}

/** The card with the texts of the caller's space, and the caller's skills. */
async function extendedCard({ tenant }: GetExtendedAgentCardRequest, use: Use): Promise<Message> {
  const profile = use.agents.profileOf(tenant);
  const { data } = await use.client.agentProfiles.list();
  const text = profile === undefined ? data[0] : data.find(({ id }) => id === profile);
  if (!text) throw invalidArgument("tenant", "is not the name of an agent profile");
  const list = await unless("permission_denied", use.client.skills.list());
  const shown = (list?.data ?? [])
    .slice(0, skillsMax)
    .map(({ id, name, description }) => ({ id, name, description }));
  return use.agents.card(text, shown);
}
