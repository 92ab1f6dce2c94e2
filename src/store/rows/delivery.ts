import type { DeliveryRows, Outcome } from "../../core/webhooks/due.ts";
import { changeOf, type Dialect, type Session } from "../session.ts";
import { all, empty, insertInto, join, numberOf, numberOrNull, type Row, type Sql, sql, type Whole } from "../sql.ts";
import { dueRows } from "./delivery-due.ts";

/** Deliveries as rows, for those who make them. */
export function deliveryRows(session: Session): DeliveryRows {
  const { query, execute, dialect } = session;
  return {
    ...dueRows(session),
    async take(ids, now, leaseUntil) {
      changeOf(session);
      if (ids.length === 0) return [];
      const isDue = all([sql`id IN (${join([...ids])})`, sql`state = 'pending'`, sql`next_at <= ${now}`]);
      const rows = await query<{ readonly id: string; readonly attempts: Whole }>(sql`
        UPDATE delivery SET attempts = attempts + 1, next_at = ${leaseUntil}
        WHERE id IN (SELECT id FROM delivery WHERE ${isDue} ${unlocked[dialect]}) AND state = 'pending' AND next_at <= ${now}
        RETURNING id, attempts`);
      return rows.map(({ id, attempts }) => ({ deliveryId: id, number: numberOf(attempts) }));
    },
    async cancel(ids, now) {
      changeOf(session);
      if (ids.length > 0) await execute(settle("cancelled", ids, now));
    },
    async record(outcomes, now) {
      changeOf(session);
      if (outcomes.length === 0) return;
      await execute(sql`${insertInto("delivery_attempt", outcomes.map(attemptRow))} ON CONFLICT DO NOTHING`);
      const delivered = outcomes.filter(({ next }) => next.state === "delivered").map(({ deliveryId }) => deliveryId);
      if (delivered.length > 0) await execute(settle("delivered", delivered, now));
      const others = outcomes.filter(({ next }) => next.state !== "delivered");
      if (others.length > 0) await execute(afterFailures(others, now));
    },
    async giveBack(attempts, now) {
      changeOf(session);
      if (attempts.length === 0) return;
      const rows = attempts.map(({ deliveryId, number }) => sql`(${deliveryId}, ${number})`);
      await execute(sql`
        UPDATE delivery SET attempts = attempts - 1, next_at = ${now} FROM (VALUES ${join(rows)}) AS v
        WHERE ${isAttempt}`);
    },
    async lockFaring(webhookIds) {
      changeOf(session);
      if (webhookIds.length === 0) return [];
      const rows = await query<FaringRow>(sql`
        SELECT h.id, h.url, h.status, h.failing_since, h.failures, (SELECT a.email FROM account a WHERE a.id = h.account_id) AS email
        FROM webhook h WHERE h.id IN (${join([...webhookIds])}) AND h.deleted_at IS NULL ORDER BY h.id ${locked[dialect]}`);
      return rows.map(({ failing_since, failures, ...row }) => ({
        ...row,
        failingSince: numberOrNull(failing_since),
        failures: numberOf(failures),
      }));
    },
    async setHealth(webhookId, { failingSince, failures }, inactiveReason) {
      changeOf(session);
      const off = inactiveReason === null ? empty : sql`, status = 'inactive', inactive_reason = ${inactiveReason}`;
      await execute(sql`UPDATE webhook SET failing_since = ${failingSince}, failures = ${failures} ${off} WHERE id = ${webhookId}`);
    },
  };
}

interface FaringRow {
  readonly id: string;
  readonly url: string;
  readonly status: "active" | "inactive";
  readonly failing_since: Whole | null;
  readonly failures: Whole;
  readonly email: string | null;
}

/** What another sender is taking at this moment is passed over. SQLite's writer is alone anyway. */
const unlocked: Readonly<Record<Dialect, Sql>> = { sqlite: empty, postgresql: sql`FOR UPDATE SKIP LOCKED` };
const locked: Readonly<Record<Dialect, Sql>> = { sqlite: empty, postgresql: sql`FOR UPDATE OF h` };

const settle = (state: "delivered" | "cancelled", ids: readonly string[], now: number): Sql => sql`
  UPDATE delivery SET state = ${state}, next_at = NULL, settled_at = ${now} WHERE id IN (${join([...ids])}) AND state = 'pending'`;

/** The delivery that `v` names, while that attempt is its last. Values in a list have no type of their own on PostgreSQL. */
const isAttempt = sql`delivery.id = v.column1 AND delivery.attempts = CAST(v.column2 AS INTEGER) AND delivery.state = 'pending'`;

function afterFailures(outcomes: readonly Outcome[], now: number): Sql {
  const rows = outcomes.map(({ deliveryId, number, next }) => sql`(${deliveryId}, ${number}, ${next.state}, ${next.nextAt})`);
  return sql`
    UPDATE delivery SET state = v.column3, next_at = CAST(v.column4 AS BIGINT),
      settled_at = CASE WHEN v.column3 = 'pending' THEN NULL ELSE CAST(${now} AS BIGINT) END
    FROM (VALUES ${join(rows)}) AS v WHERE ${isAttempt}`;
}

const attemptRow = ({ deliveryId, number, sent: { at, status, failure, latencyMs, response } }: Outcome): Row => ({
  delivery_id: deliveryId,
  number,
  at,
  status,
  failure,
  latency_ms: latencyMs,
  response,
});
