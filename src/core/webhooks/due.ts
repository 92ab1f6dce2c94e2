import type { Delivery, DeliveryState, WebhookEvent } from "./delivery.ts";
import type { Sent } from "./send.ts";
import type { Webhook } from "./webhook.ts";

/** A delivery whose next attempt is due, with all that an attempt takes. */
export interface DueDelivery extends Pick<Delivery, "id" | "webhookId" | "type" | "taskId" | "attempts" | "createdAt"> {
  /** The body is empty once it is kept no longer. */
  readonly event: Pick<WebhookEvent, "id" | "body">;
  /** Null once it is deleted. */
  readonly webhook: DueWebhook | null;
  /** Whether it may be told of this task now (contract/decisions.md 43). */
  readonly mayReceive: boolean;
  /** Whether the task has stopped. */
  readonly rests: boolean;
}

/** A webhook as far as an attempt needs it. */
export type DueWebhook = Pick<
  Webhook,
  "id" | "accountId" | "url" | "secret" | "oldSecret" | "oldSecretUntil" | "doubleHash" | "failingSince"
>;

/** How many of them are asked for. */
export interface DueRoom {
  readonly max: number;
  readonly perWebhook: number;
  /** Webhooks that have no room. */
  readonly full: readonly string[];
}

/** What a delivery's attempt is told from others by. */
export interface AttemptKey {
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
}

/** What becomes of a delivery; `nextAt` is when the next attempt is due. */
export type NextState =
  | { readonly state: Extract<DeliveryState, "delivered" | "failed">; readonly nextAt: null }
  | { readonly state: "pending"; readonly nextAt: number };

/** How an attempt went, and what follows from it. */
export interface Outcome extends AttemptKey {
  readonly sent: Sent;
  readonly next: NextState;
}

/**
 * How a webhook fares. `failures` counts the first failure, and then those that come at least 12 hours after it: from
 * the second on the clock runs, since `failingSince`.
 */
export type Health = Pick<Webhook, "failingSince" | "failures">;

/** A webhook whose health changes. */
export interface FaringWebhook extends Health, Pick<Webhook, "id" | "url" | "status"> {
  /** The owner's address; null for none. */
  readonly email: string | null;
}

/** Deliveries as those see them who make them. Times are Unix milliseconds. */
export interface DeliveryRows {
  /**
   * Due deliveries of webhooks that are not paused, those that have waited longest first. The first attempts of one task
   * for one webhook are due in the order of its events, each once the first attempt of the one before has ended.
   */
  due(now: number, room: DueRoom): Promise<DueDelivery[]>;
  /**
   * Takes those of them that are still due, each by one sender alone: the attempt is counted, and unless its outcome is
   * recorded the delivery is due again at `leaseUntil`.
   */
  take(ids: readonly string[], now: number, leaseUntil: number): Promise<AttemptKey[]>;
  /** Ends deliveries that are pending; nobody wants them any more. */
  cancel(ids: readonly string[], now: number): Promise<void>;
  /**
   * Writes attempts into the log, and what becomes of their deliveries: nothing of those that are settled or, but for a
   * success, were taken again meanwhile.
   */
  record(outcomes: readonly Outcome[], now: number): Promise<void>;
  /** Makes deliveries due as if they had not been taken. */
  giveBack(attempts: readonly AttemptKey[], now: number): Promise<void>;
  /** Living webhooks with locks on their rows. */
  lockFaring(webhookIds: readonly string[]): Promise<FaringWebhook[]>;
  /** @param inactiveReason switches it off. */
  setHealth(webhookId: string, health: Health, inactiveReason: string | null): Promise<void>;
}
