import type { Clock } from "../clock.ts";
import type { Attachment } from "../files/file.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import type { NewEvent } from "../tasks/event.ts";
import type { Task, TaskWritten } from "../tasks/task.ts";
import type { Delivery, WebhookEvent } from "./delivery.ts";
import type { HeardEvent } from "./listener.ts";
import {
  type BodyParts,
  encodeBody,
  type Notification,
  notificationsOf,
  notifiesWebhooks,
  type Subscriber,
} from "./notifications.ts";

/**
 * Creates ids of a task's events, `<type>_<task id>_<seconds>` (spec/decisions.md 41). Two events of a type
 * within one second get different ids: the seconds are always greater than those of the last id.
 *
 * @param last the greatest id of each type so far.
 */
export function createEventIds(
  last: readonly Pick<WebhookEvent, "id" | "type">[],
): (type: WebhookEvent["type"], taskId: string, now: number) => string {
  const seconds = new Map(last.map(({ type, id }) => [type, Number(id.slice(id.lastIndexOf("_") + 1))]));
  return (type, taskId, now) => {
    const next = Math.max(Math.floor(now / 1000), (seconds.get(type) ?? 0) + 1);
    seconds.set(type, next);
    return `${type}_${taskId}_${next}`;
  };
}

export interface OutboxParts extends BodyParts {
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Writes the webhook events of a change of a task, with a delivery for each subscribed webhook, a job that
 * wakes the sender, and an entry for each subscribed listener.
 */
export const webhookOutbox =
  (parts: OutboxParts) =>
  async (tx: Tx, written: TaskWritten): Promise<void> => {
    const { task } = written;
    if (!written.hasWebhooks || !notifiesWebhooks(task)) return;
    const notifications = findNotifications(written);
    if (notifications.length === 0) return;
    const subscribers = (await tx.webhookEvents.subscribers(task)).filter((subscriber) =>
      accepts(subscriber, task),
    );
    const subscribed = notifications.filter(({ type }) =>
      subscribers.some((subscriber) => subscribesTo(subscriber, type)),
    );
    if (subscribed.length === 0) return;
    const now = parts.clock.now();
    const events = await createEvents(tx, task, subscribed, now, parts);
    const [listeners, webhooks] = [
      subscribers.filter(isListener),
      subscribers.filter((subscriber) => !isListener(subscriber)),
    ];
    const deliveries = createDeliveries(events, webhooks, parts.ids);
    await tx.webhookEvents.insert(events, deliveries);
    if (deliveries.length > 0) await tx.jobs.put({ kind: "deliver", key: task.id, runAt: now });
    await tx.listeners.put(heardEvents(events, listeners));
  };

function findNotifications({ task, isNew, events }: TaskWritten): readonly Notification[] {
  const firstSeq = task.lastSeq - events.length + 1;
  const of = notificationsOf(events, firstSeq);
  // An agent's main task is created without events, and notifies no webhook.
  return isNew && events.length > 0 ? [{ type: "task_created", seq: firstSeq }, ...of] : of;
}

/** Whether the task meets the webhook's filter. */
const accepts = ({ projectId, metadata }: Subscriber, task: Task): boolean =>
  (projectId === null || projectId === task.projectId) &&
  Object.entries(metadata).every(([key, value]) => task.metadata[key] === value);

const subscribesTo = ({ eventTypes }: Subscriber, type: Notification["type"]): boolean =>
  eventTypes.includes(type);

/** The events with their final ids and bytes (spec/decisions.md 41). */
async function createEvents(
  tx: Tx,
  task: Task,
  notifications: readonly Notification[],
  now: number,
  parts: BodyParts,
): Promise<readonly WebhookEvent[]> {
  const nextId = createEventIds(await tx.webhookEvents.lastIds(task.id));
  const attachments = notifications.some(({ type }) => type === "task_stopped")
    ? await findAttachments(tx, task)
    : [];
  return notifications.map((notification) => {
    const { type, seq } = notification;
    const id = nextId(type, task.id, now);
    const body = encodeBody({ id, notification, task, attachments }, parts);
    return { id, type, taskId: task.id, seq, spaceId: task.spaceId, body, createdAt: now };
  });
}

/** The newest messages of a turn that are searched for attachments. */
const searchedMax = 200;

/** The agent's attachments in the turn that has just ended, oldest first. */
async function findAttachments(tx: Tx, { id, consumedSeq }: Task): Promise<readonly Attachment[]> {
  const window = { afterSeq: consumedSeq, order: "desc", limit: searchedMax, verbose: false } as const;
  const newest = await tx.events.list(id, window);
  return newest.toReversed().flatMap(attachmentsOf);
}

const attachmentsOf = (event: NewEvent): readonly Attachment[] =>
  event.type === "assistant_message" ? (event.payload.attachments ?? []) : [];

const isListener = (subscriber: Subscriber): boolean => subscriber.isListener;

/** The events of each subscriber, with what `to` makes of them. */
const forEach = <T>(
  events: readonly WebhookEvent[],
  subscribers: readonly Subscriber[],
  to: (event: WebhookEvent, subscriberId: string) => T,
): readonly T[] =>
  events.flatMap((event) =>
    subscribers.filter((subscriber) => subscribesTo(subscriber, event.type)).map(({ id }) => to(event, id)),
  );

const createDeliveries = (
  events: readonly WebhookEvent[],
  webhooks: readonly Subscriber[],
  ids: Ids,
): readonly Delivery[] =>
  forEach(events, webhooks, ({ id: eventId, type, taskId, seq, createdAt }, webhookId) => ({
    id: ids.short(),
    webhookId,
    eventId,
    type,
    taskId,
    seq,
    createdAt,
    state: "pending",
    attempts: 0,
    nextAt: createdAt,
    settledAt: null,
  }));

const heardEvents = (
  events: readonly WebhookEvent[],
  listeners: readonly Subscriber[],
): readonly HeardEvent[] =>
  forEach(events, listeners, ({ id: eventId }, listenerId) => ({ listenerId, eventId }));
