import type { Metadata } from "../../core/tasks/metadata.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { WebhookEventRows } from "../../core/webhooks/notifications.ts";
import type { Session } from "../session.ts";
import { type Dialect, empty, join, type Sql, sql } from "../statements.ts";
import { boolean, computedShape, json, tables, text } from "../table.ts";

const active = sql`webhook.deleted_at IS NULL AND webhook.status = 'active'`;

/** Whether an active webhook or a listener subscribes to the tasks of an owner. */
const isSubscribed = (accountId: Sql, spaceId: Sql, clientId: Sql): Sql => sql`(
  EXISTS (SELECT 1 FROM webhook WHERE webhook.account_id = ${accountId} AND webhook.space_id = ${spaceId} AND webhook.client_id IS NULL AND ${active})
  OR EXISTS (SELECT 1 FROM webhook WHERE webhook.client_id = ${clientId} AND webhook.space_id = ${spaceId} AND ${active})
  OR EXISTS (SELECT 1 FROM webhook_listener
    WHERE webhook_listener.account_id = ${accountId} AND webhook_listener.space_id = ${spaceId}))`;

/**
 * Whether an active webhook or a listener subscribes to a row of `task`. The statement that writes the task
 * computes it, so that an account without webhooks needs no further statement. A step without events sends
 * nothing and does not compute it.
 */
export const hasWebhooks = {
  computed: boolean(isSubscribed(sql`task.account_id`, sql`task.space_id`, sql`task.client_id`)),
  alwaysFalse: boolean(sql`FALSE`),
};

const subscription = computedShape({ isSubscribed: hasWebhooks.alwaysFalse });

/** The active webhooks and the listeners of a task, by id and types. */
function subscribersOf({
  accountId,
  spaceId,
  clientId,
}: Pick<Task, "accountId" | "spaceId" | "clientId">): Sql {
  const select = (condition: Sql) =>
    sql`SELECT ${subscriber.of("webhook")} FROM webhook WHERE ${condition} AND ${active}`;
  const own = sql`${select(sql`account_id = ${accountId} AND space_id = ${spaceId} AND client_id IS NULL`)}
    UNION ALL SELECT ${listener.of("webhook_listener")} FROM webhook_listener WHERE account_id = ${accountId} AND space_id = ${spaceId}`;
  return clientId === null
    ? own
    : sql`${own} UNION ALL ${select(sql`client_id = ${clientId} AND space_id = ${spaceId}`)}`;
}

const subscriber = tables.webhook.pick("id", "eventTypes", "projectId").with({
  metadata: json<Metadata>(sql`webhook.metadata`),
  isListener: boolean(sql`FALSE`),
});
const listener = tables.webhookListener.pick("id", "eventTypes", "projectId").with({
  metadata: json<Metadata>(sql`'{}'`),
  isListener: boolean(sql`TRUE`),
});
/**
 * The ids of a task and type differ only in their seconds, which have ten digits, so MAX finds the last one.
 */
const last = tables.webhookEvent.pick("type").with({ id: text(sql`MAX(id)`) });

export function webhookEventRows(session: Session): WebhookEventRows {
  const { execute, write, dialect } = session;
  return {
    async isSubscribed({ accountId, spaceId, clientId }) {
      const subscribed = isSubscribed(sql`${accountId}`, sql`${spaceId}`, sql`${clientId}`);
      return (
        (await subscription.row(session)(sql`SELECT ${subscribed} AS "isSubscribed"`))?.isSubscribed ?? false
      );
    },
    subscribers: (task) => subscriber.rows(session)(subscribersOf(task)),
    lastIds: (taskId) =>
      last.rows(session)(sql`
        SELECT ${last.of("webhook_event")} FROM webhook_event WHERE task_id = ${taskId} GROUP BY type`),
    async insert(events, deliveries) {
      await write(tables.webhookEvent.insertAll(events));
      if (deliveries.length > 0) await write(tables.delivery.insertAll(deliveries));
    },
    async deleteBodies(taskId) {
      await execute(sql`
        WITH waiting AS (SELECT event_id FROM delivery WHERE task_id = ${taskId} AND state = 'pending' ${untilSettled[dialect]})
        UPDATE webhook_event SET body = '' WHERE task_id = ${taskId} AND id NOT IN (SELECT event_id FROM waiting)`);
    },
    async deleteSettledBodies(eventIds) {
      if (eventIds.length > 0) await eraseSettled(session, join([...eventIds]));
    },
  };
}

/** Erases bodies like `settled` does; the ids are a list of values or a query. */
export async function eraseSettled({ execute }: Session, eventIds: Sql): Promise<void> {
  await execute(sql`
    UPDATE webhook_event SET body = '' WHERE id IN (${eventIds})
      AND EXISTS (SELECT 1 FROM task WHERE task.id = webhook_event.task_id AND task.deleted_at IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.event_id = webhook_event.id AND delivery.state = 'pending')`);
}

/**
 * Waits for changes that settle a delivery at this moment. Later changes see that the task is deleted. SQLite
 * has only one writer.
 */
const untilSettled: Readonly<Record<Dialect, Sql>> = { sqlite: empty, postgresql: sql`FOR UPDATE` };
