import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { documentedEventTypes, type Webhook } from "../../src/core/webhooks/webhook.ts";
import type { TestDatabase } from "./database.ts";
import { runDirectly } from "./direct.ts";

/** Inserts a webhook into the store, in the state after its registration; returns its id. */
export async function putWebhook(
  store: Store,
  members: Pick<Webhook, "accountId" | "spaceId"> & Partial<Webhook>,
): Promise<string> {
  const id = systemIds.short();
  const {
    accountId,
    spaceId,
    clientId = null,
    status = "active",
    eventTypes = documentedEventTypes,
    deletedAt = null,
  } = members;
  const health = {
    failingSince: null,
    failures: 0,
    inactiveReason: null,
    projectId: null,
    metadata: {},
    name: null,
  };
  const signing = { doubleHash: false, secret: new Uint8Array(1), oldSecret: null, oldSecretUntil: null };
  const webhook = { id, accountId, spaceId, clientId, status, eventTypes, deletedAt, ...health, ...signing };
  await store.change((tx) =>
    tx.webhooks.insert({ ...webhook, url: `https://hooks.example/${id}`, createdAt: 1000 }),
  );
  return id;
}

/** A delivered or pending event of a webhook, in the database. */
export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  readonly taskId: string;
  readonly seq: number;
  readonly body: string;
  /** Of the delivery. */
  readonly state: string;
}

/** The events for a webhook, per task in order. */
export async function eventsFor(database: TestDatabase, webhookId: string): Promise<readonly OutboxEvent[]> {
  const rows = await runDirectly(
    database,
    `SELECT e.id, e.type, e.task_id, e.seq, e.body, d.state FROM delivery d JOIN webhook_event e ON e.id = d.event_id
    WHERE d.webhook_id = '${webhookId}' AND d.type = e.type AND d.task_id = e.task_id AND d.seq = e.seq ORDER BY e.task_id, e.seq`,
  );
  // The columns are those of the query.
  return rows.map(
    ({ task_id, seq, ...row }) => ({ ...row, taskId: task_id, seq: Number(seq) }) as OutboxEvent,
  );
}
