import type { Delivery, DeliveryAttempt, DeliveryState } from "./delivery.ts";
import type { WebhookEventType } from "./webhook.ts";

/** A delivery as the log has it. */
export interface LoggedDelivery extends Delivery {
  /** JSON, as it is sent; null when it is kept no longer. */
  readonly body: string | null;
}

/** Which deliveries of a webhook; all that is given applies together. Times are Unix milliseconds, both excluded. */
export interface DeliveryFilter {
  readonly type?: WebhookEventType;
  readonly state?: DeliveryState;
  readonly taskId?: string;
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

/** Where a page begins, newest first: after this delivery. */
export interface DeliveryPage {
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string };
}

/** What was told to webhooks and how it went, as people look at it; whether they may is said by the webhook. */
export interface DeliveryLogRows {
  list(webhookId: string, filter: DeliveryFilter, page: DeliveryPage): Promise<LoggedDelivery[]>;
  find(id: string): Promise<LoggedDelivery | null>;
  /** In order. */
  attempts(deliveryId: string): Promise<DeliveryAttempt[]>;
  /** Makes a delivery pending and due; false when its body is kept no longer. */
  resend(id: string, now: number): Promise<boolean>;
  /** The same for all of a webhook that failed, of events since a time; answers how many. */
  recover(webhookId: string, since: number, now: number): Promise<number>;
  /** Removes settled deliveries of events older than this, with their attempts; answers how many, at most `max`. */
  purge(before: number, max: number): Promise<number>;
  /** Removes events older than this that nobody has a delivery of; answers how many, at most `max`. */
  purgeEvents(before: number, max: number): Promise<number>;
}
