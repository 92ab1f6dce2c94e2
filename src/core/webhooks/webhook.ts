/** Types of event that webhooks are told of (contract/webhooks.md 2, contract/decisions.md 40). */
export const webhookEventTypes = ["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** What a webhook is told of that names nothing: the documented types. */
export const defaultEventTypes: readonly WebhookEventType[] = ["task_created", "task_progress", "task_stopped"];

/** An account has so many webhooks at most. */
export const webhooksMax = 20;

/** An address that is told of task events: an account's, or an app's. Times are Unix milliseconds. */
export interface Webhook {
  readonly id: string;
  /** Of an app's webhook, the app's creator. */
  readonly accountId: string;
  readonly spaceId: string;
  /** The app whose webhook it is. */
  readonly clientId: string | null;
  /** As it was registered, byte for byte: it is a part of what is signed. */
  readonly url: string;
  readonly status: "active" | "inactive";
  /** Why it is inactive, for people. */
  readonly inactiveReason: string | null;
  readonly eventTypes: readonly WebhookEventType[];
  readonly doubleHash: boolean;
  /** Of Standard Webhooks, encrypted. */
  readonly secret: Uint8Array;
  /** The one before it, good until then. */
  readonly oldSecret: Uint8Array | null;
  readonly oldSecretUntil: number | null;
  readonly createdAt: number;
  /** Since when nothing but failures. */
  readonly failingSince: number | null;
  readonly failures: number;
  readonly deletedAt: number | null;
}
