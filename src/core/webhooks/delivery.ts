import type { WebhookEventType } from "./webhook.ts";

/** What is told: id and bytes are fixed in the change that it tells of (contract/decisions.md 41). */
export interface WebhookEvent {
  /** `<type>_<task id>_<seconds>`, unique. */
  readonly id: string;
  readonly type: WebhookEventType;
  readonly taskId: string;
  /** The number of the task event behind it. */
  readonly seq: number;
  readonly spaceId: string;
  /** JSON, as it is sent. */
  readonly body: string;
  readonly createdAt: number;
}

export const deliveryStates = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One event on its way to one webhook. Times are Unix milliseconds. */
export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly type: WebhookEventType;
  readonly taskId: string;
  readonly seq: number;
  readonly state: DeliveryState;
  /** Counted when one is taken. */
  readonly attempts: number;
  /** When the next attempt is due, or the present one is given up for lost; null once it is settled. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

/**
 * Why an attempt had no answer: its time was over, no connection or one that broke, a certificate or TLS that is not to be
 * trusted, an address that is not to be reached, an answer that is no HTTP.
 */
export const deliveryFailures = ["timeout", "connection", "tls", "address_refused", "protocol"] as const;
export type DeliveryFailure = (typeof deliveryFailures)[number];

/** One attempt, as the log shows it. */
export interface DeliveryAttempt {
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
  readonly at: number;
  /** HTTP's; null when there was no answer. */
  readonly status: number | null;
  /** Why there was none. */
  readonly failure: DeliveryFailure | null;
  readonly latencyMs: number;
  /** The answer's first kilobyte; null where it is not kept (contract/decisions.md 39). */
  readonly response: string | null;
}
