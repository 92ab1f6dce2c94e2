import type { Webhook, WebhookEventType } from "./webhook.ts";

/** An event for webhooks: id and bytes are fixed in the change that it reports (spec/decisions.md 41). */
export interface WebhookEvent {
  /** `<type>_<task id>_<seconds>`, unique. */
  readonly id: string;
  readonly type: WebhookEventType;
  readonly taskId: string;
  /** The number of the task event that it reports. */
  readonly seq: number;
  readonly spaceId: string;
  /** The JSON that is sent. */
  readonly body: string;
  readonly createdAt: number;
}

export const deliveryStates = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The delivery of one event to one webhook. Times are Unix milliseconds. */
export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly type: WebhookEventType;
  readonly taskId: string;
  readonly seq: number;
  readonly state: DeliveryState;
  /** Counted when the attempt is taken. */
  readonly attempts: number;
  /** When the next attempt is due, or the current one counts as lost; null once it is settled. */
  readonly nextAt: number | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

/**
 * Why an attempt had no response: it timed out, the connection failed, the certificate or TLS was not
 * trusted, the address is not allowed, or the response was not HTTP.
 */
export const deliveryFailures = ["timeout", "connection", "tls", "address_refused", "protocol"] as const;
export type DeliveryFailure = (typeof deliveryFailures)[number];

export interface DeliveryAttempt {
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
  readonly at: number;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** The reason for a missing response. */
  readonly failure: DeliveryFailure | null;
  readonly latencyMs: number;
  /** The first kilobyte of the response; null when it is not kept (spec/decisions.md 39). */
  readonly response: string | null;
}

/**
 * Sends a signed request to a webhook, outside of every transaction: a test, a ping, or an attempt. Never
 * throws for a fault of the receiver; rejects with the signal's reason once that is aborted. Its DNS look-up
 * counts toward the webhook's account.
 */
export type SendWebhook = (
  webhook: Pick<
    Webhook,
    "id" | "accountId" | "url" | "secret" | "oldSecret" | "oldSecretUntil" | "doubleHash"
  >,
  event: { id: string; body: string },
  signal?: AbortSignal,
) => Promise<AttemptResult>;

/**
 * Returns all headers of a request that has this event as its body, with names in lower case; `at` in Unix
 * milliseconds.
 */
export type SignDelivery = (
  webhook: Pick<Webhook, "id" | "url" | "secret" | "oldSecret" | "oldSecretUntil" | "doubleHash">,
  event: { id: string; body: string },
  at: number,
) => Promise<Readonly<Record<string, string>>>;

/** The result of an attempt; `delivered` means a 2xx response in time. */
export interface AttemptResult
  extends Pick<DeliveryAttempt, "at" | "status" | "failure" | "latencyMs" | "response"> {
  readonly delivered: boolean;
  /** The unparsed `Retry-After` of the response. */
  readonly retryAfter: string | null;
}

/** A delivery whose next attempt is due, with the input of the attempt. */
export interface DueDelivery
  extends Pick<Delivery, "id" | "webhookId" | "type" | "taskId" | "attempts" | "createdAt"> {
  /** The body is empty when it is no longer kept. */
  readonly event: Pick<WebhookEvent, "id" | "body">;
  /** Null when it is deleted. */
  readonly webhook: DueWebhook | null;
  /** Whether the webhook may receive events of this task now (spec/decisions.md 43). */
  readonly mayReceive: boolean;
  /** Whether the task has stopped. */
  readonly isTaskStopped: boolean;
  /** The trace of the task's latest turn; null without one. */
  readonly traceparent: string | null;
}

/** The fields of a webhook that an attempt needs. */
export type DueWebhook = Pick<
  Webhook,
  "id" | "accountId" | "url" | "secret" | "oldSecret" | "oldSecretUntil" | "doubleHash" | "failingSince"
>;

export interface DeliveryCapacity {
  readonly max: number;
  readonly perWebhook: number;
  /** Webhooks without free capacity. */
  readonly full: readonly string[];
}

export interface AttemptKey {
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
}

/** The state of a delivery after an attempt; `nextAt` is when the next attempt is due. */
export type NextState =
  | { readonly state: Extract<DeliveryState, "delivered" | "failed">; readonly nextAt: null }
  | { readonly state: "pending"; readonly nextAt: number };

/** The result of an attempt, and the delivery's next state. */
export interface Outcome extends AttemptKey {
  readonly sent: AttemptResult;
  readonly next: NextState;
}

/**
 * The health of a webhook. `failures` counts the first failure, and then each that occurs at least 12 hours
 * after the first; from the second on, the time since `failingSince` decides about deactivation.
 */
export type Health = Pick<Webhook, "failingSince" | "failures">;

/** A webhook whose health may change. */
export interface WebhookHealth extends Health, Pick<Webhook, "id" | "url" | "status"> {
  /** The owner's address; null for none. */
  readonly email: string | null;
}

/** Deliveries for the sender. Times are Unix milliseconds. */
export interface DeliveryRows {
  /**
   * Due deliveries of active webhooks, longest waiting first. The first attempts of one task for one webhook
   * are due in the order of its events, each after the first attempt of the previous one has ended.
   */
  due(now: number, capacity: DeliveryCapacity): Promise<DueDelivery[]>;
  /**
   * Takes the deliveries that are still due, each for one sender only: counts the attempt, and makes the
   * delivery due again at `leaseUntil` unless its outcome is recorded.
   */
  take(ids: readonly string[], now: number, leaseUntil: number): Promise<AttemptKey[]>;
  cancel(ids: readonly string[], now: number): Promise<void>;
  /**
   * Writes attempts to the log, and the next states of their deliveries. A delivery that is settled, or that
   * was taken again in the meantime, keeps its state; a success counts in the second case.
   */
  record(outcomes: readonly Outcome[], now: number): Promise<void>;
  /** Makes deliveries due as if they had not been taken. */
  release(attempts: readonly AttemptKey[], now: number): Promise<void>;
  /** The webhooks that are not deleted, with locks on their rows. */
  lockForHealth(webhookIds: readonly string[]): Promise<WebhookHealth[]>;
  setHealth(webhookId: string, health: Health, inactiveReason: string | null): Promise<void>;
}
