import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { EmptySchema, timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure, invalidArgument } from "../../core/failure.ts";
import type { ProfileText } from "../../core/tasks/profile.ts";
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
import type { Json } from "../shared/operations.ts";
import type { CardSkill } from "./agents.ts";
import { A2aFailure } from "./problem.ts";
import { send } from "./send.ts";
import { contextKey, isOver, stateOf, taskOf } from "./task.ts";
import { follow } from "./updates.ts";
import { findTask, type Item, readEvents, readTask, type Use, unless } from "./use.ts";

/** The longest time that SendMessage waits, in milliseconds. The task continues. */
const waitMs = 10 * 60_000;
/** `withEvents`: a page whose tasks have artifacts or history. */
const pageBounds = { most: 100, usual: 50, withEvents: 20 };
const skillsMax = 100;

type Handler = (request: never, use: Use) => Promise<Message> | AsyncIterable<Item>;

/** The methods of the protocol by name, over operations of the platform. */
const handlers: Readonly<Record<string, Handler>> = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendStreamingMessage,
  GetTask: async ({ id, historyLength }: GetTaskRequest, use: Use) => {
    const length = lengthIn(historyLength);
    return taskOf(await readTask(use, idIn(id)), await readEvents(use, id), length);
  },
  ListTasks: listTasks,
  CancelTask: async ({ id }: CancelTaskRequest, use: Use) => {
    if (isOver(stateOf(await readTask(use, idIn(id))))) throw new A2aFailure("TASK_NOT_CANCELABLE", "the task is over");
    await use.operations.call("task.stop", { task_id: id }, use.signal);
    return taskOf(await readTask(use, id), await readEvents(use, id));
  },
  SubscribeToTask: subscribe,
  GetExtendedAgentCard: extendedCard,
  CreateTaskPushNotificationConfig: (request: TaskPushNotificationConfig, { push }: Use) => push.create(request),
  GetTaskPushNotificationConfig: (request: GetTaskPushNotificationConfigRequest, { push }: Use) => push.get(request),
  ListTaskPushNotificationConfigs: (request: ListTaskPushNotificationConfigsRequest, { push }: Use) => push.list(request),
  DeleteTaskPushNotificationConfig: async (request: DeleteTaskPushNotificationConfigRequest, { push }: Use) => {
    await push.remove(request);
    return create(EmptySchema);
  },
};

/** Performs a method. @throws Failure, Refusal */
export async function unary({ name }: DescMethod, request: Message, use: Use): Promise<Message> {
  return (await handlerOf(name)(request as never, use)) as Message; // The handler of the method.
}

/** Performs a method that answers with a stream. It throws Failure and Refusal, also while it runs. */
export const stream = ({ name }: DescMethod, request: Message, use: Use): AsyncIterable<Item> =>
  handlerOf(name)(request as never, use) as AsyncIterable<Item>; // The handler of the method.

function handlerOf(name: string): Handler {
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
  const task = taskOf(await readTask(use, taskId), await readEvents(use, taskId), length);
  return create(SendMessageResponseSchema, { payload: { case: "task", value: task } });
}

/** Waits until the task does not run, at most `waitMs`. */
async function settle(taskId: string, seq: number, { operations, signal, sleep }: Use): Promise<void> {
  const done = new AbortController();
  const late = sleep(waitMs, AbortSignal.any([signal, done.signal])).then(
    () => done.abort(),
    () => undefined,
  );
  try {
    for await (const _ of operations.watch(taskId, seq, AbortSignal.any([signal, done.signal])));
  } catch (thrown) {
    signal.throwIfAborted();
    if (!done.signal.aborted) throw thrown;
  } finally {
    done.abort();
    await late;
  }
}

async function* sendStreamingMessage(request: SendMessageRequest, use: Use): AsyncGenerator<Item<StreamResponse>> {
  const { taskId, seq } = await send(request, use);
  yield* follow(await readTask(use, taskId), seq, use);
}

async function* subscribe({ id }: SubscribeToTaskRequest, use: Use): AsyncGenerator<Item<StreamResponse>> {
  const task = await readTask(use, idIn(id));
  // With the place at which a client was cut off it gets what it missed, also when the task is over.
  if (use.lastSeq === undefined && isOver(stateOf(task)))
    throw new A2aFailure("UNSUPPORTED_OPERATION", "the task is over: GetTask has its result, and Last-Event-ID repeats its events");
  yield* follow(task, use.lastSeq ?? Number(task["last_seq"]), use);
}

/** The states of v2 that can be in a state of the protocol. */
const statusesOf: Readonly<Record<TaskState, readonly string[]>> = {
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
 * Lists tasks by the time of their last change, newest first: those of a context, if the request has one, which can be the id of a task. Their artifacts, and a
 * history, only on request.
 */
async function listTasks(request: ListTasksRequest, use: Use): Promise<Message> {
  const { contextId, status, pageSize = pageBounds.usual, pageToken, statusTimestampAfter: after } = request;
  if (pageSize < 1 || pageSize > pageBounds.most) throw invalidArgument("page_size", `must be from 1 to ${pageBounds.most}`);
  const length = lengthIn(request.historyLength) ?? 0;
  const hasEvents = length > 0 || request.includeArtifacts === true;
  const size = hasEvents ? Math.min(pageSize, pageBounds.withEvents) : pageSize;
  const statuses = statusesOf[status];
  if (!statuses) throw invalidArgument("status", "is not a state of the protocol");
  const shown = async (tasks: readonly Json[]): Promise<Task[]> => {
    const wanted = tasks.filter((task) => status === TaskState.UNSPECIFIED || stateOf(task) === status);
    const list: Task[] = [];
    for (const task of wanted) {
      const whole = taskOf(task, hasEvents ? await readEvents(use, String(task["id"])) : [], length);
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
  const filters = { statuses, order_by: "updated_at", include_counts: true, limit: size };
  const context = contextId === "" ? {} : { metadata: { [contextKey]: contextId } };
  // Also those of the same second: the filter of v2 leaves its second out.
  const since = after ? { updated_after: Math.max(0, Math.floor(timestampMs(after) / 1000) - 1) } : {};
  const cursor = pageToken === "" ? {} : { cursor: pageToken };
  const page = await use.operations.call("task.list", { ...filters, ...context, ...since, ...cursor }, use.signal);
  const counts = (page["counts"] ?? {}) as Readonly<Record<string, number>>;
  return create(ListTasksResponseSchema, {
    tasks: await shown(page["data"] as readonly Json[]),
    nextPageToken: String(page["next_cursor"] ?? ""),
    pageSize: size,
    totalSize: statuses.reduce((sum, name) => sum + (counts[name] ?? 0), 0),
  });
}

/** The card with the texts of the caller's space, and the caller's skills. */
async function extendedCard({ tenant }: GetExtendedAgentCardRequest, use: Use): Promise<Message> {
  const profile = use.agents.profileOf(tenant);
  const { data } = await use.operations.call("agentProfile.list", {}, use.signal);
  const profiles = data as readonly ProfileText[]; // By the schema of the answer.
  const text = profile === undefined ? profiles[0] : profiles.find(({ id }) => id === profile);
  if (!text) throw invalidArgument("tenant", "is not the name of an agent profile");
  const list = await unless("permission_denied", use.operations.call("skill.list", {}, use.signal));
  const skills = (list?.["data"] ?? []) as readonly CardSkill[]; // By the schema of the answer.
  const shown = skills.slice(0, skillsMax).map(({ id, name, description }) => ({ id, name, description }));
  return use.agents.card(text, shown);
}
