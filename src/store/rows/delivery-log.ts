import type { DeliveryState } from "../../core/webhooks/delivery.ts";
import type { DeliveryFilter, DeliveryLogRows, DeliveryPage } from "../../core/webhooks/delivery-log.ts";
import type { WebhookReach } from "../../core/webhooks/webhook.ts";
import type { Session } from "../session.ts";
import { allOf, empty, join, type Sql, sql } from "../statements.ts";
import { computedShape, integer, integerOrNull, tables, text, textOrNull } from "../table.ts";
import { eraseSettled } from "./webhook-event.ts";

const tallied = computedShape({ state: text<DeliveryState>(sql`state`), count: integer(sql`COUNT(*)`) });
const ids = tables.delivery.pick("id");

/**
 * A delivery `d` with its event's body, by a subquery: on SQLite every column of a join costs several times
 * as much.
 */
const loggedDelivery = tables.delivery.with({
  body: textOrNull(sql`(SELECT NULLIF(e.body, '') FROM webhook_event e WHERE e.id = d.event_id)`),
  lastStatus: integerOrNull(
    sql`(SELECT a.status FROM delivery_attempt a WHERE a.delivery_id = d.id ORDER BY a.number DESC LIMIT 1)`,
  ),
});
const logged = sql`SELECT ${loggedDelivery.of("d")} FROM delivery d`;

const hasBody = sql`EXISTS (SELECT 1 FROM webhook_event e WHERE e.id = delivery.event_id AND e.body <> '')`;

/** A delivery that failed, or waits for its next attempt: the last one has ended. */
const canRecover = (now: number) => sql`(state = 'failed' OR (state = 'pending' AND next_at > ${now}
  AND EXISTS (SELECT 1 FROM delivery_attempt a WHERE a.delivery_id = delivery.id AND a.number = delivery.attempts)))`;

export function deliveryLogRows(session: Session): DeliveryLogRows {
  const { execute } = session;
  const due = (now: number) =>
    sql`UPDATE delivery SET state = 'pending', next_at = ${now}, settled_at = NULL`;
  return {
    list: (webhookId, filter, page) =>
      loggedDelivery.rows(session.scans)(sql`
        ${logged} WHERE ${allOf([sql`d.webhook_id = ${webhookId}`, ...filterConditions(filter), ...beyond(page)])}
        ORDER BY d.created_at DESC, d.id DESC LIMIT ${page.limit}`),
    listOfTask: (reach, filter, page) =>
      loggedDelivery.rows(session.scans)(sql`
        ${logged} WHERE ${allOf([sql`d.webhook_id IN (${reachableIds(reach)})`, ...filterConditions(filter), ...beyond(page)])}
        ORDER BY d.created_at DESC, d.id DESC LIMIT ${page.limit}`),
    find: (id) => loggedDelivery.row(session)(sql`${logged} WHERE d.id = ${id}`),
    async tally(webhookId, since, max) {
      const newest = sql`
        SELECT state FROM delivery WHERE webhook_id = ${webhookId} AND created_at >= ${since} ORDER BY created_at DESC, id DESC LIMIT ${max}`;
      const rows = await tallied.rows(session.scans)(
        sql`SELECT ${tallied.of("d")} FROM (${newest}) d GROUP BY state`,
      );
      const counts = new Map(rows.map(({ state, count }) => [state, count]));
      const of = (state: DeliveryState) => counts.get(state) ?? 0;
      return {
        pending: of("pending"),
        delivered: of("delivered"),
        failed: of("failed"),
        cancelled: of("cancelled"),
      };
    },
    attempts: (deliveryId) =>
      tables.deliveryAttempt.rows(session)(sql`
        SELECT ${tables.deliveryAttempt.of("a")} FROM delivery_attempt a WHERE a.delivery_id = ${deliveryId} ORDER BY a.number`),
    resend: async (id, now) => (await execute(sql`${due(now)} WHERE id = ${id} AND ${hasBody}`)) === 1,
    recover: (webhookId, since, now) =>
      execute(
        sql`${due(now)} WHERE webhook_id = ${webhookId} AND ${canRecover(now)} AND created_at >= ${since} AND ${hasBody}`,
      ),
    async purge(before, max) {
      // The second condition keeps deliveries that have become pending in the meantime.
      const old = sql`SELECT id FROM delivery WHERE created_at < ${before} AND state <> 'pending' ORDER BY created_at LIMIT ${max}`;
      const purged = await ids.rows(session)(sql`
        DELETE FROM delivery WHERE id IN (${old}) AND state <> 'pending' RETURNING ${ids.of("delivery")}`);
      if (purged.length > 0)
        await execute(
          sql`DELETE FROM delivery_attempt WHERE delivery_id IN (${join(purged.map(({ id }) => id))})`,
        );
      return purged.length;
    },
    purgeEvents: (before, max) =>
      execute(sql`
        DELETE FROM webhook_event WHERE id IN (
          SELECT e.id FROM webhook_event e WHERE e.created_at < ${before}
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id) ORDER BY e.created_at LIMIT ${max})`),
  };
}

/**
 * Cancels the pending deliveries of a webhook. The outcome of an attempt in progress is then refused, because
 * its delivery is no longer pending. Erases the event bodies that only these deliveries needed
 * (spec/decisions.md 14).
 */
export async function cancelPending(session: Session, webhookId: string, now: number): Promise<void> {
  const cancelled = sql`state = 'cancelled', next_at = NULL, settled_at = ${now}`;
  await session.execute(
    sql`UPDATE delivery SET ${cancelled} WHERE webhook_id = ${webhookId} AND state = 'pending'`,
  );
  await eraseSettled(
    session,
    sql`SELECT event_id FROM delivery WHERE webhook_id = ${webhookId} AND state = 'cancelled' AND settled_at = ${now}`,
  );
}

/** Whether a webhook `t` is one that the caller can see. */
export const inReach = ({ accountId, spaceId, ofApps }: WebhookReach): Sql =>
  sql`space_id = ${spaceId} AND (account_id = ${accountId}${ofApps ? sql` OR client_id IS NOT NULL` : empty})`;

const reachableIds = (reach: WebhookReach): Sql =>
  sql`SELECT t.id FROM webhook t WHERE ${inReach(reach)} AND deleted_at IS NULL`;

function filterConditions({ type, state, taskId, createdAfter, createdBefore }: DeliveryFilter): Sql[] {
  return [
    ...(type === undefined ? [] : [sql`d.type = ${type}`]),
    ...(state === undefined ? [] : [sql`d.state = ${state}`]),
    ...(taskId === undefined ? [] : [sql`d.task_id = ${taskId}`]),
    ...(createdAfter === undefined ? [] : [sql`d.created_at > ${createdAfter}`]),
    ...(createdBefore === undefined ? [] : [sql`d.created_at < ${createdBefore}`]),
  ];
}

const beyond = ({ after }: DeliveryPage): Sql[] =>
  after ? [sql`(d.created_at, d.id) < (${after.createdAt}, ${after.id})`] : [];
