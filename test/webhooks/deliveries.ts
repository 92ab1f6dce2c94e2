import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import type { Delivery } from "../../src/core/webhooks/delivery.ts";
import { rowsIn } from "../support/database.ts";

/** A delivery, pending and due unless told otherwise. */
export interface PutDelivery extends Partial<Delivery> {
  readonly webhookId: string;
  readonly body?: string;
}

/** Puts a delivery into the store, and its event, as a change of a task would have. */
export async function putDelivery(store: Store, { body, ...members }: PutDelivery): Promise<Delivery> {
  const [id, taskId] = [systemIds.short(), members.taskId ?? systemIds.short()];
  const createdAt = members.createdAt ?? 1000;
  const eventId = members.eventId ?? `task_created_${taskId}_${Math.floor(createdAt / 1000)}`;
  const event = { id: eventId, type: "task_created", taskId, seq: 1, spaceId: "north", createdAt } as const;
  const delivery: Delivery = {
    ...{ id, eventId, taskId, createdAt, type: "task_created", seq: 1 },
    ...{ state: "pending", attempts: 0, nextAt: createdAt, settledAt: null },
    ...members,
  };
  await store.change((tx) => tx.webhookEvents.insert([{ ...event, body: body ?? `{"event_id":"${eventId}"}` }], [delivery]));
  return delivery;
}

/** How far a delivery is, read past the store. */
export async function stateOf(url: string, id: string): Promise<Pick<Delivery, "state" | "nextAt" | "settledAt">> {
  const [row] = await rowsIn(url, `SELECT state, next_at, settled_at FROM delivery WHERE id = '${id}'`);
  if (!row) throw new Error("no such delivery");
  const numberOf = (whole: unknown) => (whole === null ? null : Number(whole));
  return { state: row["state"] as Delivery["state"], nextAt: numberOf(row["next_at"]), settledAt: numberOf(row["settled_at"]) };
}
