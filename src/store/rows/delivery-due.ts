import type { DeliveryRows, DueDelivery, DueRoom } from "../../core/webhooks/due.ts";
import type { WebhookEventType } from "../../core/webhooks/webhook.ts";
import type { Dialect, Session } from "../session.ts";
import { all, bytesOrNull, join, numberOf, numberOrNull, raw, type Sql, sql, type Truth, truthOf, type Whole } from "../sql.ts";

/** Which deliveries are due, and what an attempt takes. */
export function dueRows({ query, dialect }: Session): Pick<DeliveryRows, "due"> {
  return {
    async due(now, room) {
      const ids = await query<{ readonly id: string }>(sql`
        WITH RECURSIVE ${waiting(dialect)}
        SELECT d.id FROM waiting ${withFirst(dialect, now, room)} WHERE ${all(open(room))} ORDER BY d.next_at, d.id LIMIT ${room.max}`);
      if (ids.length === 0) return [];
      const rows = await query<DueRow>(details(ids.map(({ id }) => id)));
      return rows.map(dueOf);
    },
  };
}

/** Deliveries as `d`. SQLite's planner would take another index. */
const deliveries: Readonly<Record<Dialect, Sql>> = {
  sqlite: raw("delivery d INDEXED BY delivery_due"),
  postgresql: raw("delivery d"),
};

/** The webhooks that something waits for. From one to the next it is a step in the index, however much waits between. */
const waiting = (dialect: Dialect): Sql => sql`waiting (id) AS (
  SELECT (SELECT d.webhook_id FROM ${deliveries[dialect]} WHERE d.state = 'pending' ORDER BY d.webhook_id LIMIT 1)
  UNION ALL
  SELECT (SELECT d.webhook_id FROM ${deliveries[dialect]}
    WHERE d.state = 'pending' AND d.webhook_id > waiting.id ORDER BY d.webhook_id LIMIT 1)
  FROM waiting WHERE waiting.id IS NOT NULL
)`;

/** What waits for a webhook that is paused stays; what waits for one that is deleted is to be found, and ended. */
const open = ({ full }: DueRoom): Sql[] => [
  sql`NOT EXISTS (SELECT 1 FROM webhook h WHERE h.id = waiting.id AND h.status = 'inactive' AND h.deleted_at IS NULL)`,
  ...(full.length === 0 ? [] : [sql`waiting.id NOT IN (${join([...full])})`]),
];

/** Joins the first due deliveries of each of these webhooks, as `d`; SQLite has no LATERAL. */
function withFirst(dialect: Dialect, now: number, { perWebhook }: DueRoom): Sql {
  const first = (columns: string) => sql`
    SELECT ${raw(columns)} FROM ${deliveries[dialect]}
    WHERE d.state = 'pending' AND d.webhook_id = waiting.id AND d.next_at <= ${now} AND ${inTurn}
    ORDER BY d.next_at, d.seq LIMIT ${perWebhook}`;
  if (dialect === "sqlite") return sql`CROSS JOIN delivery d ON d.id IN (${first("d.id")})`;
  return sql`CROSS JOIN LATERAL (${first("d.id, d.next_at")}) d`;
}

/** Nothing of the same task comes before it whose first attempt has not ended; what was tried before waits for nobody. */
const inTurn = sql`(d.attempts > 0 OR NOT EXISTS (
  SELECT 1 FROM delivery b WHERE b.task_id = d.task_id AND b.webhook_id = d.webhook_id AND b.seq < d.seq AND b.state = 'pending'
    AND NOT EXISTS (SELECT 1 FROM delivery_attempt a WHERE a.delivery_id = b.id)))`;

/** An app's webhook: while the task's user is an active member and holds a living grant to an app that lives (contract/decisions.md 43). */
const mayReceive = sql`CASE WHEN h.client_id IS NULL THEN 1 WHEN
  EXISTS (SELECT 1 FROM oauth_app p WHERE p.client_id = h.client_id AND p.deleted_at IS NULL)
  AND EXISTS (SELECT 1 FROM oauth_grant g WHERE g.client_id = h.client_id AND g.account_id = t.account_id
    AND g.space_id = t.space_id AND g.revoked_at IS NULL)
  AND EXISTS (SELECT 1 FROM membership m WHERE m.account_id = t.account_id AND m.space_id = t.space_id AND m.status = 'active')
  THEN 1 ELSE 0 END`;

const details = (ids: readonly string[]): Sql => sql`
  SELECT d.id, d.webhook_id, d.event_id, d.type, d.task_id, d.attempts, d.created_at, e.body,
    h.account_id, h.url, h.secret, h.old_secret, h.old_secret_until, h.double_hash, h.failing_since,
    ${mayReceive} AS may_receive, t.status AS task_status
  FROM delivery d
  LEFT JOIN webhook_event e ON e.id = d.event_id
  LEFT JOIN webhook h ON h.id = d.webhook_id AND h.deleted_at IS NULL
  LEFT JOIN task t ON t.id = d.task_id
  WHERE d.id IN (${join([...ids])}) ORDER BY d.next_at, d.seq`;

interface DueRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly task_id: string;
  readonly attempts: Whole;
  readonly created_at: Whole;
  readonly body: string | null;
  /** Null of a webhook that is deleted, as are all that follow. */
  readonly account_id: string | null;
  readonly url: string | null;
  readonly secret: Uint8Array | null;
  readonly old_secret: Uint8Array | null;
  readonly old_secret_until: Whole | null;
  readonly double_hash: Truth | null;
  readonly failing_since: Whole | null;
  readonly may_receive: Whole;
  readonly task_status: string | null;
}

const dueOf = (row: DueRow): DueDelivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  type: row.type as WebhookEventType, // written as such by this program
  taskId: row.task_id,
  attempts: numberOf(row.attempts),
  createdAt: numberOf(row.created_at),
  event: { id: row.event_id, body: row.body ?? "" },
  webhook: webhookOf(row),
  mayReceive: truthOf(row.may_receive),
  rests: row.task_status !== "running",
});

const webhookOf = ({ webhook_id: id, account_id: accountId, url, secret, ...row }: DueRow): DueDelivery["webhook"] =>
  accountId === null || url === null || secret === null
    ? null
    : {
        ...{ id, accountId, url, secret: Uint8Array.from(secret) },
        oldSecret: bytesOrNull(row.old_secret),
        oldSecretUntil: numberOrNull(row.old_secret_until),
        doubleHash: truthOf(row.double_hash ?? false),
        failingSince: numberOrNull(row.failing_since),
      };
