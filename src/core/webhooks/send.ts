import type { DeliveryAttempt } from "./delivery.ts";
import type { Webhook } from "./webhook.ts";

/**
 * A signed request to a webhook, now, outside of every transaction: a test, a ping, or an attempt. Never throws for what
 * the receiver does; rejects with the signal's reason once that is aborted. Its name look-up counts toward the webhook's account.
 */
export type SendWebhook = (
  webhook: Pick<Webhook, "id" | "accountId" | "url" | "secret" | "oldSecret" | "oldSecretUntil" | "doubleHash">,
  event: { readonly id: string; readonly body: string },
  signal?: AbortSignal,
) => Promise<Sent>;

/** How an attempt went; `delivered`: 2xx in time. */
export interface Sent extends Pick<DeliveryAttempt, "at" | "status" | "failure" | "latencyMs" | "response"> {
  readonly delivered: boolean;
  /** The answer's `Retry-After` as it came. */
  readonly retryAfter: string | null;
}
