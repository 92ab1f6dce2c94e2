import type { Store } from "../../src/core/store.ts";
import type { Delivery } from "../../src/core/webhooks/delivery.ts";
import { newId, sampleDelivery, sampleEvent } from "../store/samples.ts";
import { rowsIn } from "../support/database.ts";

/** A delivery, pending and due by default. */
export interface PutDelivery extends Partial<Delivery> {
  readonly webhookId: string;
  readonly body?: string;
}

/** Puts a delivery and its event into the store, as a change of a task does. */
export async function putDelivery(store: Store, { body = "{}", ...members }: PutDelivery): Promise<Delivery> {
  const { taskId = newId("task"), type = "task_created", createdAt = 1000, seq = 1 } = members;
  const event = sampleEvent({ taskId, type, createdAt, seq, body });
  const delivery = sampleDelivery(event, { createdAt, ...members });
  await store.change((tx) => tx.webhookEvents.insert([event], [delivery]));
  return delivery;
}

/** The state of a delivery, read directly from the database. */
export async function stateOf(
  url: string,
  id: string,
): Promise<Pick<Delivery, "state" | "nextAt" | "settledAt">> {
  const [row] = await rowsIn(url, `SELECT state, next_at, settled_at FROM delivery WHERE id = '${id}'`);
  if (!row) throw new Error("no such delivery");
  const numberOf = (whole: unknown) => (whole === null ? null : Number(whole));
  // This program has written the state.
  return {
    state: row["state"] as Delivery["state"],
    nextAt: numberOf(row["next_at"]),
    settledAt: numberOf(row["settled_at"]),
  };
}
