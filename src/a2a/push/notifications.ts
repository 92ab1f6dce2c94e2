import { toJsonString } from "@bufbuild/protobuf";
import type { PushConfig } from "../../core/push/push-config.ts";
import { type EventRows, eventId, type TaskEvent as StoredEvent } from "../../core/tasks/event.ts";
import type { Json, TaskEvent } from "../../doors/operations.ts";
import { detailsOf } from "../../doors/turn.ts";
import { StreamResponseSchema } from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { restUpdate, updatesOf } from "../updates.ts";

/** The newest events that the state of a task is made from, as in a stream. */
const eventsMax = 200;

/** The dependencies of `notificationsOf`. */
export interface NotificationParts {
  readonly events: Pick<EventRows, "list">;
  /** An event as `task.watch` sends it. */
  readonly eventOf: (event: StoredEvent) => TaskEvent;
  readonly taskUrl: (taskId: string) => string;
}

/**
 * The bodies of the notifications of an event, each a `StreamResponse`: those that a stream has for it, and after the event with which
 * a turn ends the state of the task at that time.
 */
export async function notificationsOf(
  event: StoredEvent,
  { taskId, hasEvents }: Pick<PushConfig, "taskId" | "hasEvents">,
  parts: NotificationParts,
): Promise<readonly string[]> {
  const updates = [...updatesOf({ event: parts.eventOf(event) }, taskId, hasEvents)];
  if (event.type === "status_update" && event.payload.agentStatus !== "running") updates.push(await restAt(event, hasEvents, parts));
  return updates.map(({ message }) => toJsonString(StreamResponseSchema, message));
}

async function restAt(event: StoredEvent, hasEvents: boolean, { events, eventOf, taskUrl }: NotificationParts) {
  const { taskId, seq } = event;
  const window = { beforeSeq: seq + 1, order: "desc", limit: eventsMax, verbose: false } as const;
  const known = (await events.list(taskId, window)).toReversed().map(eventOf);
  return restUpdate(taskAt(known, eventOf(event), { id: taskId, last_seq: seq, task_url: taskUrl(taskId) }), known, seq, hasEvents);
}

/** The task as `task.detail` would have returned it when it got this status. */
function taskAt(known: readonly TaskEvent[], status: TaskEvent, of: Json & { readonly id: string }): Json {
  const { agent_status, status_detail } = detailsOf(status);
  // A stop by the user is directly before its status.
  const stopped = known.find(({ id }) => id === eventId(of.id, status.seq - 1))?.type === "user_stop";
  return {
    ...of,
    status: agent_status,
    status_detail,
    updated_at: Math.floor(Number(status["timestamp"]) / 1000),
    ...(stopped && { outcome: "stopped" }),
  };
}
