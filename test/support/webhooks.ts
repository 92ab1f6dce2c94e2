import { systemIds } from "../../src/core/ids.ts";
import { defaultEventTypes, type Webhook } from "../../src/core/webhooks/webhook.ts";
import type { TestDatabase } from "./database.ts";
import { directly } from "./direct.ts";

/** Puts a webhook into the database, as it would stand there once it was registered; its id. */
export async function putWebhook(
  database: TestDatabase,
  { accountId, spaceId, ...more }: Pick<Webhook, "accountId" | "spaceId"> & Partial<Webhook>,
): Promise<string> {
  const { id = systemIds.short(), clientId = null, status = "active", eventTypes = defaultEventTypes, deletedAt = null } = more;
  const quoted = (text: string | null) => (text === null ? "NULL" : `'${text}'`);
  await directly(
    database,
    `INSERT INTO webhook (id, account_id, space_id, client_id, url, status, event_types, double_hash, secret, created_at, deleted_at)
    VALUES ('${id}', '${accountId}', '${spaceId}', ${quoted(clientId)}, 'https://hooks.example/${id}', '${status}',
      '${JSON.stringify(eventTypes)}', false, '', 1000, ${deletedAt}) RETURNING id`,
  );
  return id;
}

/** What a webhook is or was to be told, as the database has it. */
export interface ToldEvent {
  readonly id: string;
  readonly type: string;
  readonly taskId: string;
  readonly seq: number;
  readonly body: string;
  /** Of the delivery. */
  readonly state: string;
}

/** Everything that a webhook was told, by task in the order in which it happened. */
export async function toldTo(database: TestDatabase, webhookId: string): Promise<readonly ToldEvent[]> {
  const rows = await directly(
    database,
    `SELECT e.id, e.type, e.task_id, e.seq, e.body, d.state FROM delivery d JOIN webhook_event e ON e.id = d.event_id
    WHERE d.webhook_id = '${webhookId}' AND d.type = e.type AND d.task_id = e.task_id AND d.seq = e.seq ORDER BY e.task_id, e.seq`,
  );
  // The columns are those that are asked for.
  return rows.map(({ task_id, seq, ...row }) => ({ ...row, taskId: task_id, seq: Number(seq) }) as ToldEvent);
}
