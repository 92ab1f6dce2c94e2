import type { Delivery, DeliveryAttempt } from "../../core/webhooks/delivery.ts";
import type { DeliveryFilter, DeliveryLogRows, DeliveryPage, LoggedDelivery } from "../../core/webhooks/delivery-log.ts";
import type { Session } from "../session.ts";
import { all, join, numberOf, numberOrNull, type Sql, sql, type Whole } from "../sql.ts";
import { eraseSettled } from "./webhook-event.ts";

interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly task_id: string;
  readonly seq: Whole;
  readonly state: string;
  readonly attempts: Whole;
  readonly next_at: Whole | null;
  readonly created_at: Whole;
  readonly settled_at: Whole | null;
  /** Null or empty once it is kept no longer. */
  readonly body: string | null;
}

/** The event's body not by a join: on SQLite that makes every column cost several times as much. */
const logged = sql`
  SELECT d.id, d.webhook_id, d.event_id, d.type, d.task_id, d.seq, d.state, d.attempts, d.next_at, d.created_at, d.settled_at,
    (SELECT e.body FROM webhook_event e WHERE e.id = d.event_id) AS body
  FROM delivery d`;

const hasBody = sql`EXISTS (SELECT 1 FROM webhook_event e WHERE e.id = delivery.event_id AND e.body <> '')`;

/** The log of deliveries as rows. */
export function deliveryLogRows({ db, query, execute }: Session): DeliveryLogRows {
  const due = (now: number) => sql`UPDATE delivery SET state = 'pending', next_at = ${now}, settled_at = NULL`;
  return {
    async list(webhookId, filter, page) {
      const rows = await query<DeliveryRow>(sql`
        ${logged} WHERE ${all([sql`d.webhook_id = ${webhookId}`, ...chosen(filter), ...beyond(page)])}
        ORDER BY d.created_at DESC, d.id DESC LIMIT ${page.limit}`);
      return rows.map(deliveryOf);
    },
    async find(id) {
      const [row] = await query<DeliveryRow>(sql`${logged} WHERE d.id = ${id}`);
      return row ? deliveryOf(row) : null;
    },
    async attempts(deliveryId) {
      const rows = await db.deliveryAttempt.findMany({ where: { deliveryId }, orderBy: { number: "asc" } });
      return rows.map(
        (row): DeliveryAttempt => ({
          ...row,
          failure: row.failure as DeliveryAttempt["failure"], // written as such by this program
          at: numberOf(row.at),
        }),
      );
    },
    resend: async (id, now) => (await execute(sql`${due(now)} WHERE id = ${id} AND ${hasBody}`)) === 1,
    recover: (webhookId, since, now) =>
      execute(sql`${due(now)} WHERE webhook_id = ${webhookId} AND state = 'failed' AND created_at >= ${since} AND ${hasBody}`),
    async purge(before, max) {
      // Of what becomes pending meanwhile, nothing goes.
      const old = sql`SELECT id FROM delivery WHERE created_at < ${before} AND state <> 'pending' ORDER BY created_at LIMIT ${max}`;
      const gone = sql`DELETE FROM delivery WHERE id IN (${old}) AND state <> 'pending' RETURNING id`;
      const ids = (await query<{ readonly id: string }>(gone)).map(({ id }) => id);
      if (ids.length > 0) await execute(sql`DELETE FROM delivery_attempt WHERE delivery_id IN (${join(ids)})`);
      return ids.length;
    },
    purgeEvents: (before, max) =>
      execute(sql`
        DELETE FROM webhook_event WHERE id IN (
          SELECT e.id FROM webhook_event e WHERE e.created_at < ${before}
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id) ORDER BY e.created_at LIMIT ${max})`),
  };
}

/**
 * Nothing more is tried of what a webhook was still to be told; what is in flight has its outcome refused, for it is
 * pending no more. Bodies that were kept for it alone go with it (contract/decisions.md 14).
 */
export async function cancelPending(session: Session, webhookId: string, now: number): Promise<void> {
  const cancelled = sql`state = 'cancelled', next_at = NULL, settled_at = ${now}`;
  await session.execute(sql`UPDATE delivery SET ${cancelled} WHERE webhook_id = ${webhookId} AND state = 'pending'`);
  await eraseSettled(
    session,
    sql`SELECT event_id FROM delivery WHERE webhook_id = ${webhookId} AND state = 'cancelled' AND settled_at = ${now}`,
  );
}

function chosen({ type, state, taskId, createdAfter, createdBefore }: DeliveryFilter): Sql[] {
  return [
    ...(type === undefined ? [] : [sql`d.type = ${type}`]),
    ...(state === undefined ? [] : [sql`d.state = ${state}`]),
    ...(taskId === undefined ? [] : [sql`d.task_id = ${taskId}`]),
    ...(createdAfter === undefined ? [] : [sql`d.created_at > ${createdAfter}`]),
    ...(createdBefore === undefined ? [] : [sql`d.created_at < ${createdBefore}`]),
  ];
}

const beyond = ({ after }: DeliveryPage): Sql[] => (after ? [sql`(d.created_at, d.id) < (${after.createdAt}, ${after.id})`] : []);

/** Type and state were written as such by this program. */
const deliveryOf = (row: DeliveryRow): LoggedDelivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  type: row.type as Delivery["type"],
  taskId: row.task_id,
  seq: numberOf(row.seq),
  state: row.state as Delivery["state"],
  attempts: numberOf(row.attempts),
  nextAt: numberOrNull(row.next_at),
  createdAt: numberOf(row.created_at),
  settledAt: numberOrNull(row.settled_at),
  body: row.body || null,
});
