import type { DeliveryCapacity, DeliveryRows, DueDelivery, Outcome } from "../../core/webhooks/delivery.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, type Dialect, empty, join, raw, type Sql, sql } from "../statements.ts";
import { boolean, bytesOrNull, integerOrNull, type RowOf, tables, textOrNull } from "../table.ts";

const ids = tables.delivery.pick("id");

/** The due deliveries, with the data that an attempt needs. */
function dueRows(session: Session): Pick<DeliveryRows, "due"> {
  return {
    async due(now, capacity) {
      const { dialect } = session;
      const found = await ids.rows(session)(sql`
        WITH RECURSIVE ${waiting(dialect)}
        SELECT ${ids.of("d")} FROM waiting ${withFirst(dialect, now, capacity)} WHERE ${allOf(mayTake(capacity))} ORDER BY d.next_at, d.id LIMIT ${capacity.max}`);
      if (found.length === 0) return [];
      return (await due.rows(session)(details(found.map(({ id }) => id)))).map(dueOf);
    },
  };
}

/** Deliveries as `d`. SQLite's planner would choose another index. */
const deliveries: Readonly<Record<Dialect, Sql>> = {
  sqlite: raw("delivery d INDEXED BY delivery_due"),
  postgresql: raw("delivery d"),
};

/**
 * The webhooks with pending deliveries. Each step to the next webhook is one index lookup, for any number of
 * deliveries.
 */
const waiting = (dialect: Dialect): Sql => sql`waiting (id) AS (
  SELECT (SELECT d.webhook_id FROM ${deliveries[dialect]} WHERE d.state = 'pending' ORDER BY d.webhook_id LIMIT 1)
  UNION ALL
  SELECT (SELECT d.webhook_id FROM ${deliveries[dialect]}
    WHERE d.state = 'pending' AND d.webhook_id > waiting.id ORDER BY d.webhook_id LIMIT 1)
  FROM waiting WHERE waiting.id IS NOT NULL
)`;

/**
 * Deliveries of a paused webhook stay pending. Deliveries of a deleted webhook are found, to be cancelled.
 */
const mayTake = ({ full }: DeliveryCapacity): Sql[] => [
  sql`NOT EXISTS (SELECT 1 FROM webhook h WHERE h.id = waiting.id AND h.status = 'inactive' AND h.deleted_at IS NULL)`,
  ...(full.length === 0 ? [] : [sql`waiting.id NOT IN (${join([...full])})`]),
];

/** Joins the first due deliveries of each of these webhooks, as `d`; SQLite has no LATERAL. */
function withFirst(dialect: Dialect, now: number, { perWebhook }: DeliveryCapacity): Sql {
  const first = (columns: string) => sql`
    SELECT ${raw(columns)} FROM ${deliveries[dialect]}
    WHERE d.state = 'pending' AND d.webhook_id = waiting.id AND d.next_at <= ${now} AND ${isFirst}
    ORDER BY d.next_at, d.seq LIMIT ${perWebhook}`;
  if (dialect === "sqlite") return sql`CROSS JOIN delivery d ON d.id IN (${first("d.id")})`;
  return sql`CROSS JOIN LATERAL (${first("d.id, d.next_at")}) d`;
}

/**
 * No earlier delivery of the same task still waits for the end of its first attempt. A delivery that was
 * attempted before does not wait.
 */
const isFirst = sql`(d.attempts > 0 OR NOT EXISTS (
  SELECT 1 FROM delivery b WHERE b.task_id = d.task_id AND b.webhook_id = d.webhook_id AND b.seq < d.seq AND b.state = 'pending'
    AND NOT EXISTS (SELECT 1 FROM delivery_attempt a WHERE a.delivery_id = b.id)))`;

/**
 * An app's webhook receives events while the task's user is an active member with an active grant to an app
 * that is not deleted (spec/decisions.md 43).
 */
const mayReceive = sql`CASE WHEN h.client_id IS NULL THEN 1 WHEN
  EXISTS (SELECT 1 FROM oauth_app p WHERE p.client_id = h.client_id AND p.deleted_at IS NULL)
  AND EXISTS (SELECT 1 FROM oauth_grant g WHERE g.client_id = h.client_id AND g.account_id = t.account_id
    AND g.space_id = t.space_id AND g.revoked_at IS NULL)
  AND EXISTS (SELECT 1 FROM membership m WHERE m.account_id = t.account_id AND m.space_id = t.space_id AND m.status = 'active')
  THEN 1 ELSE 0 END`;

/** A delivery `d` with its event `e`, its webhook `h`, null once it is deleted, and its task `t`. */
const due = tables.delivery
  .pick("id", "webhookId", "eventId", "type", "taskId", "attempts", "createdAt")
  .with({
    body: textOrNull(sql`e.body`),
    accountId: textOrNull(sql`h.account_id`),
    url: textOrNull(sql`h.url`),
    secret: bytesOrNull(sql`h.secret`),
    oldSecret: bytesOrNull(sql`h.old_secret`),
    oldSecretUntil: integerOrNull(sql`h.old_secret_until`),
    doubleHash: boolean(sql`COALESCE(h.double_hash, FALSE)`),
    failingSince: integerOrNull(sql`h.failing_since`),
    mayReceive: boolean(mayReceive),
    taskStatus: textOrNull(sql`t.status`),
    traceparent: textOrNull(sql`t.traceparent`),
  });

const details = (ids: readonly string[]): Sql => sql`
  SELECT ${due.of("d")} FROM delivery d
  LEFT JOIN webhook_event e ON e.id = d.event_id
  LEFT JOIN webhook h ON h.id = d.webhook_id AND h.deleted_at IS NULL
  LEFT JOIN task t ON t.id = d.task_id
  WHERE d.id IN (${join([...ids])}) ORDER BY d.next_at, d.seq`;

type Due = RowOf<typeof due>;

function dueOf(row: Due): DueDelivery {
  const { id, webhookId, type, taskId, attempts, createdAt, mayReceive, traceparent } = row;
  const event = { id: row.eventId, body: row.body ?? "" };
  const rests = row.taskStatus !== "running";
  return {
    id,
    webhookId,
    type,
    taskId,
    attempts,
    createdAt,
    event,
    webhook: webhookOf(row),
    mayReceive,
    isTaskStopped: rests,
    traceparent,
  };
}

function webhookOf(row: Due): DueDelivery["webhook"] {
  const { webhookId, accountId, url, secret, oldSecret, oldSecretUntil, doubleHash, failingSince } = row;
  if (accountId === null || url === null || secret === null) return null;
  return { id: webhookId, accountId, url, secret, oldSecret, oldSecretUntil, doubleHash, failingSince };
}

const attemptShape = tables.delivery.pick("id", "attempts");
const healthShape = tables.webhook
  .pick("id", "url", "status", "failingSince", "failures")
  .with({ email: textOrNull(sql`(SELECT a.email FROM account a WHERE a.id = h.account_id)`) });

export function deliveryRows(session: Session): DeliveryRows {
  const { execute, dialect } = session;
  return {
    ...dueRows(session),
    async take(ids, now, leaseUntil) {
      changeOf(session);
      if (ids.length === 0) return [];
      const isDue = allOf([sql`id IN (${join([...ids])})`, sql`state = 'pending'`, sql`next_at <= ${now}`]);
      const rows = await attemptShape.rows(session)(sql`
        UPDATE delivery SET attempts = attempts + 1, next_at = ${leaseUntil}
        WHERE id IN (SELECT id FROM delivery WHERE ${isDue} ${unlocked[dialect]}) AND state = 'pending' AND next_at <= ${now}
        RETURNING ${attemptShape.of("delivery")}`);
      return rows.map(({ id, attempts }) => ({ deliveryId: id, number: attempts }));
    },
    async cancel(ids, now) {
      changeOf(session);
      if (ids.length > 0) await execute(settle("cancelled", ids, now));
    },
    async record(outcomes, now) {
      changeOf(session);
      if (outcomes.length === 0) return;
      const attempts = outcomes.map(({ deliveryId, number, sent }) => ({ deliveryId, number, ...sent }));
      await execute(sql`${tables.deliveryAttempt.insertAll(attempts)} ON CONFLICT DO NOTHING`);
      const delivered = outcomes
        .filter(({ next }) => next.state === "delivered")
        .map(({ deliveryId }) => deliveryId);
      if (delivered.length > 0) await execute(settle("delivered", delivered, now));
      const others = outcomes.filter(({ next }) => next.state !== "delivered");
      if (others.length > 0) await execute(afterFailures(others, now));
    },
    async release(attempts, now) {
      changeOf(session);
      if (attempts.length === 0) return;
      const rows = attempts.map(({ deliveryId, number }) => sql`(${deliveryId}, ${number})`);
      await execute(sql`
        UPDATE delivery SET attempts = attempts - 1, next_at = ${now} FROM (VALUES ${join(rows)}) AS v
        WHERE ${isAttempt}`);
    },
    async lockForHealth(webhookIds) {
      changeOf(session);
      if (webhookIds.length === 0) return [];
      return healthShape.rows(session)(sql`
        SELECT ${healthShape.of("h")} FROM webhook h
        WHERE h.id IN (${join([...webhookIds])}) AND h.deleted_at IS NULL ORDER BY h.id ${locked[dialect]}`);
    },
    async setHealth(webhookId, { failingSince, failures }, inactiveReason) {
      changeOf(session);
      const off =
        inactiveReason === null ? empty : sql`, status = 'inactive', inactive_reason = ${inactiveReason}`;
      await execute(
        sql`UPDATE webhook SET failing_since = ${failingSince}, failures = ${failures} ${off} WHERE id = ${webhookId}`,
      );
    },
  };
}

/**
 * Skips deliveries that another sender is claiming at this moment. SQLite has only one writer, which needs no
 * row locks.
 */
const unlocked: Readonly<Record<Dialect, Sql>> = { sqlite: empty, postgresql: sql`FOR UPDATE SKIP LOCKED` };
const locked: Readonly<Record<Dialect, Sql>> = { sqlite: empty, postgresql: sql`FOR UPDATE OF h` };

const settle = (state: "delivered" | "cancelled", ids: readonly string[], now: number): Sql => sql`
  UPDATE delivery SET state = ${state}, next_at = NULL, settled_at = ${now} WHERE id IN (${join([...ids])}) AND state = 'pending'`;

/**
 * The delivery in `v`, while that attempt is its last. On PostgreSQL, values in a list have no type, so they
 * are cast.
 */
const isAttempt = sql`delivery.id = v.column1 AND delivery.attempts = CAST(v.column2 AS INTEGER) AND delivery.state = 'pending'`;

function afterFailures(outcomes: readonly Outcome[], now: number): Sql {
  const rows = outcomes.map(
    ({ deliveryId, number, next }) => sql`(${deliveryId}, ${number}, ${next.state}, ${next.nextAt})`,
  );
  return sql`
    UPDATE delivery SET state = v.column3, next_at = CAST(v.column4 AS BIGINT),
      settled_at = CASE WHEN v.column3 = 'pending' THEN NULL ELSE CAST(${now} AS BIGINT) END
    FROM (VALUES ${join(rows)}) AS v WHERE ${isAttempt}`;
}
