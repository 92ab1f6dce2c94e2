import type { Delivery, WebhookEvent } from "../../core/webhooks/delivery.ts";
import type { WebhookEventRows } from "../../core/webhooks/event-rows.ts";
import type { WebhookEventType } from "../../core/webhooks/webhook.ts";
import type { Dialect, Session } from "../session.ts";
import { empty, insertInto, join, type Row, type Sql, sql } from "../sql.ts";
import { listening } from "./webhook-audience.ts";

/** What webhooks are told, as rows, each with the deliveries of it. */
export function webhookEventRows(session: Session): WebhookEventRows {
  const { query, execute, dialect, change } = session;
  return {
    async listeners(task) {
      if (change?.unheard.has(task.id)) return [];
      const rows = await query<{ readonly id: string; readonly event_types: string }>(listening(task));
      // The words were checked when they were written.
      return rows.map(({ id, event_types }) => ({ id, eventTypes: JSON.parse(event_types) as WebhookEventType[] }));
    },
    lastIds: (taskId) =>
      // Of a task and a type the ids differ in their seconds alone, which have ten digits.
      query<Pick<WebhookEvent, "id" | "type">>(sql`
        SELECT type, MAX(id) AS id FROM webhook_event WHERE task_id = ${taskId} GROUP BY type`),
    async insert(events, deliveries) {
      await execute(insertInto("webhook_event", events.map(eventRow)));
      await execute(insertInto("delivery", deliveries.map(deliveryRow)));
    },
    async forget(taskId) {
      await execute(sql`
        WITH waiting AS (SELECT event_id FROM delivery WHERE task_id = ${taskId} AND state = 'pending' ${untilSettled[dialect]})
        UPDATE webhook_event SET body = '' WHERE task_id = ${taskId} AND id NOT IN (SELECT event_id FROM waiting)`);
    },
    async settled(eventIds) {
      if (eventIds.length > 0) await eraseSettled(session, join([...eventIds]));
    },
  };
}

/** Erases bodies as `settled` does; the ids are a list of values, or what a query finds. */
export async function eraseSettled({ execute }: Session, eventIds: Sql): Promise<void> {
  await execute(sql`
    UPDATE webhook_event SET body = '' WHERE id IN (${eventIds})
      AND EXISTS (SELECT 1 FROM task WHERE task.id = webhook_event.task_id AND task.deleted_at IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.event_id = webhook_event.id AND delivery.state = 'pending')`);
}

/** Whoever settles a delivery at this moment was before, or sees that the task is deleted. SQLite's writer is alone anyway. */
const untilSettled: Readonly<Record<Dialect, Sql>> = { sqlite: empty, postgresql: sql`FOR UPDATE` };

const eventRow = ({ taskId, spaceId, createdAt, ...same }: WebhookEvent): Row => ({
  ...same,
  task_id: taskId,
  space_id: spaceId,
  created_at: createdAt,
});

const deliveryRow = ({ webhookId, eventId, taskId, nextAt, createdAt, settledAt, ...same }: Delivery): Row => ({
  ...same,
  webhook_id: webhookId,
  event_id: eventId,
  task_id: taskId,
  next_at: nextAt,
  created_at: createdAt,
  settled_at: settledAt,
});
