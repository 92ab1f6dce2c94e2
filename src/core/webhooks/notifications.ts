import type { Attachment } from "../files/file.ts";
import type { JsonObject } from "../json.ts";
import type { StructuredResult } from "../structured-output/structured-output.ts";
import { type EventPayloads, eventId, type NewEvent } from "../tasks/event.ts";
import type { Task } from "../tasks/task.ts";
import type { Delivery, WebhookEvent } from "./delivery.ts";
import type { Webhook } from "./webhook.ts";

/** A webhook or a listener that receives events of a task, and their types. */
export interface Subscriber extends Pick<Webhook, "id" | "eventTypes" | "projectId" | "metadata"> {
  /** It has no address: its events wait for a stream. */
  readonly isListener: boolean;
}

export interface WebhookEventRows {
  /** Whether there is any of `subscribers`. On SQLite the answer is usually known without a statement. */
  isSubscribed(owner: Pick<Task, "accountId" | "spaceId" | "clientId">): Promise<boolean>;
  /**
   * The active webhooks and the listeners for a task: those of its account in its space, and the webhook of
   * the app that created it.
   */
  subscribers(task: Pick<Task, "accountId" | "spaceId" | "clientId">): Promise<readonly Subscriber[]>;
  /** The greatest event id of each type for a task. */
  lastIds(taskId: string): Promise<readonly Pick<WebhookEvent, "id" | "type">[]>;
  /** Writes at least one event, with the deliveries. */
  insert(events: readonly WebhookEvent[], deliveries: readonly Delivery[]): Promise<void>;
  /**
   * Purges the bodies of a task's events without pending deliveries: the task is deleted in the same change
   * (spec/decisions.md 14). `settled` purges the other bodies later.
   */
  deleteBodies(taskId: string): Promise<void>;
  /**
   * Purges the bodies of the events whose task is deleted and that no longer have a pending delivery. The
   * caller has settled deliveries of them earlier in the same change.
   */
  deleteSettledBodies(eventIds: readonly string[]): Promise<void>;
}

/**
 * A change of a task that webhooks may subscribe to; `seq` is the number of the task event that it reports.
 */
export type Notification = { readonly seq: number } & (
  | { readonly type: "task_created" }
  /** The agent has begun a step of its plan. */
  | { readonly type: "task_progress"; readonly message: string }
  | {
      readonly type: "task_stopped";
      readonly message: string;
      readonly stopReason: "finish";
      readonly output?: StructuredResult;
    }
  | { readonly type: "task_stopped"; readonly message: string; readonly stopReason: "ask" }
  | { readonly type: "task_failed" | "task_cancelled"; readonly message: string }
);

/** Only tasks created through the API notify webhooks, and no subtasks (spec/webhooks.md 11). */
export const notifiesWebhooks = ({
  apiKeyId,
  clientId,
  type,
}: Pick<Task, "apiKeyId" | "clientId" | "type">): boolean =>
  (apiKeyId !== null || clientId !== null) && type !== "agent_subtask";

/**
 * The notifications of a step of a task, oldest first (spec/webhooks.md 2, spec/decisions.md 40). They depend
 * only on the events: a task that stops has one `status_update`, and one that continues at once has none.
 *
 * @param firstSeq the number of the first of the events, which were written together.
 */
export const notificationsOf = (events: readonly NewEvent[], firstSeq: number): readonly Notification[] =>
  events.flatMap((event, index): readonly Notification[] => {
    const seq = firstSeq + index;
    if (event.type === "new_plan_step") return [{ type: "task_progress", seq, message: event.payload.title }];
    return event.type === "status_update" ? statusNotifications(event.payload, events, seq) : [];
  });

function statusNotifications(
  { agentStatus, brief, statusDetail }: EventPayloads["status_update"],
  events: readonly NewEvent[],
  seq: number,
): Notification[] {
  switch (agentStatus) {
    case "running":
      return [];
    case "waiting":
      return [
        { type: "task_stopped", seq, message: statusDetail?.waitingDescription ?? brief, stopReason: "ask" },
      ];
    case "error":
      return [{ type: "task_failed", seq, message: findLast(events, "error_message")?.content ?? brief }];
    case "stopped":
      return [
        findLast(events, "user_stop")
          ? { type: "task_cancelled", seq, message: brief }
          : finishNotification(events, seq),
      ];
  }
}

/** The structured result of the requested output schema follows the status. */
function finishNotification(events: readonly NewEvent[], seq: number): Notification {
  const output = findLast(events, "structured_output_result");
  const message = findLast(events, "assistant_message")?.content ?? "";
  return { type: "task_stopped", seq, message, stopReason: "finish", ...(output ? { output } : {}) };
}

/** The payload of the last event of a type; undefined when there is none. */
function findLast<T extends NewEvent["type"]>(
  events: readonly NewEvent[],
  type: T,
): EventPayloads[T] | undefined {
  const last = events.findLast((event) => event.type === type);
  // The type of an event says what its payload is.
  return last?.payload as EventPayloads[T] | undefined;
}

export interface BodyParts {
  /** The base URL of task pages, without a trailing slash. */
  readonly appUrl: string;
  /** The URL of a file, valid for 7 days. */
  readonly link: (fileId: string) => string;
}

export interface BodyContent {
  readonly id: string;
  readonly notification: Notification;
  readonly task: Pick<Task, "id" | "title" | "metadata">;
  /** The agent's attachments in the turn; used when the task has stopped. */
  readonly attachments: readonly Attachment[];
}

/**
 * The bytes of a webhook event, as text (spec/webhooks.md 3). They never change after their creation, links
 * included.
 */
export const encodeBody = (content: BodyContent, parts: BodyParts): string =>
  JSON.stringify({
    event_id: content.id,
    event_type: content.notification.type,
    ...toDetail(content, parts),
  });

function toDetail({ notification, task, attachments }: BodyContent, { appUrl, link }: BodyParts): JsonObject {
  if (notification.type === "task_progress") {
    return {
      progress_detail: {
        task_id: task.id,
        progress_type: "plan_update",
        message: notification.message,
        ...metadataIn(task),
      },
    };
  }
  return {
    task_detail: {
      task_id: task.id,
      task_title: task.title,
      task_url: `${appUrl}/app/${task.id}`,
      ...metadataIn(task),
      ...(notification.type === "task_created" ? {} : { message: notification.message }),
      ...(notification.type === "task_stopped" ? toStopDetail(notification, attachments, link) : {}),
      task_event_id: eventId(task.id, notification.seq),
    },
  };
}

const metadataIn = ({ metadata }: Pick<Task, "metadata">): JsonObject =>
  Object.keys(metadata).length === 0 ? {} : { metadata };

/** `attachments` is `[]` when there is none (spec/webhooks.md 11). */
const toStopDetail = (
  notification: Extract<Notification, { type: "task_stopped" }>,
  attachments: readonly Attachment[],
  link: BodyParts["link"],
): JsonObject => ({
  stop_reason: notification.stopReason,
  attachments: attachments.map(({ fileId, filename, bytes }) => ({
    file_name: filename,
    url: link(fileId),
    size_bytes: bytes,
  })),
  ...("output" in notification && notification.output
    ? { structured_output: toOutput(notification.output) }
    : {}),
});

const toOutput = ({ success, value, error }: StructuredResult): JsonObject => ({
  success,
  value,
  error: error ?? null,
});
