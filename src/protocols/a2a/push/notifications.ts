import { toJsonString } from "@bufbuild/protobuf";
import type { TaskEvent } from "../../../../packages/client/src/index.ts";
import type { PushConfig } from "../../../core/push/push-config.ts";
import { type EventRows, eventId, type TaskEvent as StoredEvent } from "../../../core/tasks/event.ts";
import type { Metadata } from "../../../core/tasks/metadata.ts";
import { StreamResponseSchema } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { contextKey, type ShownTask, type TaskPlace } from "../task.ts";
import { restUpdate, updatesOf } from "../updates.ts";

/** The newest events that the state of a task is made from, as in a stream. */
const eventsMax = 200;

export interface NotificationParts {
  readonly events: Pick<EventRows, "list">;
  /** An event as `task.watch` sends it. */
  readonly eventOf: (event: StoredEvent) => TaskEvent;
  readonly taskUrl: (taskId: string) => string;
  /** The labels of a task. */
  readonly metadataOf: (taskId: string) => Promise<Metadata>;
}

/** Where an event is: its task with the context, and the event after it, if there is one. */
export interface NotificationPlace extends Pick<PushConfig, "hasEvents">, TaskPlace {
  readonly next: StoredEvent | undefined;
}

/**
 * The bodies of the notifications of an event, each a `StreamResponse`: those that a stream has for it, and
 * after the event with which a turn ends the state of the task at that time.
 */
export async function notificationsOf(
  event: StoredEvent,
  place: NotificationPlace,
  parts: NotificationParts,
): Promise<readonly string[]> {
  const { taskId, contextId, hasEvents, next } = place;
  const updates = [...updatesOf(parts.eventOf(event), { taskId, contextId }, hasEvents)];
  if (mayEndTurn(event, next)) updates.push(...(await restAfter(event, place, parts)));
  return updates.map(({ message }) => toJsonString(StreamResponseSchema, message));
}

/**
 * A turn ends with a status, or with the structured output that was written together with it (spec/api.md
 * 9.1).
 */
const mayEndTurn = (event: StoredEvent, next: StoredEvent | undefined): boolean =>
  event.type === "structured_output_result" ||
  (event.type === "status_update" && next?.type !== "structured_output_result");

/** The state of the task after an event; nothing when the task runs then. */
async function restAfter(
  { taskId, seq }: StoredEvent,
  { contextId, hasEvents }: NotificationPlace,
  { events, eventOf, taskUrl }: NotificationParts,
) {
  const window = { beforeSeq: seq + 1, order: "desc", limit: eventsMax, verbose: false } as const;
  const known = (await events.list(taskId, window)).toReversed().map(eventOf);
  const status = known.findLast((one) => one.type === "status_update");
  if (!status || status.seq < seq - 1 || status.status_update.agent_status === "running") return [];
  const facts = {
    id: taskId,
    metadata: { [contextKey]: contextId },
    last_seq: seq,
    task_url: taskUrl(taskId),
  };
  const before = await events.list(taskId, {
    afterSeq: status.seq - 2,
    order: "asc",
    limit: 1,
    verbose: true,
  });
  return [restUpdate(taskAt([...before.map(eventOf), ...known], status, facts), known, seq, hasEvents)];
}

/**
 * The task as `task.detail` would have returned it after this status. A stop by the user, or what it waits
 * for, is directly before it.
 */
function taskAt(
  known: readonly TaskEvent[],
  { seq, timestamp, status_update }: Extract<TaskEvent, { readonly type: "status_update" }>,
  of: Pick<ShownTask, "id" | "metadata" | "last_seq" | "task_url">,
): ShownTask {
  const { agent_status: agentStatus, status_detail } = status_update;
  const before = known.find(({ id }) => id === eventId(of.id, seq - 1));
  const facts = { ...of, status: agentStatus, updated_at: Math.floor(timestamp / 1000) };
  if (before?.type === "user_stop")
    return { ...facts, outcome: "stopped", ...(status_detail && { status_detail }) };
  if (before?.type !== "tool_used" || !status_detail)
    return { ...facts, ...(status_detail && { status_detail }) };
  const { tool, description, params } = before.tool_used;
  return {
    ...facts,
    status_detail: {
      ...status_detail,
      tool: { name: tool, ...(description && { description }), ...(params && { params }) },
    },
  };
}
