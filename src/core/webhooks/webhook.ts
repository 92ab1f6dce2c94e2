import type { Scope } from "../caller.ts";

/** Types of event that webhooks are told of (contract/webhooks.md 2, contract/decisions.md 40). */
export const webhookEventTypes = ["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** The types that the public API documents: webhooks of v1 and of apps get these. */
export const documentedEventTypes: readonly WebhookEventType[] = ["task_created", "task_progress", "task_stopped"];

/** What webhook.create subscribes to when no type is named: `task_progress` is frequent, and has to be asked for (contract/decisions.md 47). */
export const defaultEventTypes: readonly WebhookEventType[] = ["task_created", "task_stopped"];

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
  readonly secret: Uint8Array<ArrayBuffer>;
  /** The one before it, good until then. */
  readonly oldSecret: Uint8Array<ArrayBuffer> | null;
  readonly oldSecretUntil: number | null;
  readonly createdAt: number;
  /** Since when nothing but failures. */
  readonly failingSince: number | null;
  readonly failures: number;
  readonly deletedAt: number | null;
}

/** What a change sets of a webhook. */
export type WebhookChanges = Partial<Omit<Webhook, "id" | "accountId" | "spaceId" | "clientId" | "url" | "createdAt" | "deletedAt">>;

/** Whose webhooks a query may touch: an account's own in one space, and those of the space's apps for whoever may change them. */
export interface WebhookReach extends Pick<Scope, "accountId" | "spaceId"> {
  readonly ofApps: boolean;
}

/** Living webhooks; what is deleted is as if it had never been. */
export interface WebhookRows {
  insert(webhook: Webhook): Promise<void>;
  /** An account's own in one space, newest first. */
  list(scope: Pick<Scope, "accountId" | "spaceId">): Promise<Webhook[]>;
  find(reach: WebhookReach, id: string): Promise<Webhook | null>;
  /** The same with a lock on its row. */
  lock(reach: WebhookReach, id: string): Promise<Webhook | null>;
  ofApp(clientId: string): Promise<Webhook | null>;
  /** Ids of the webhooks of a team's apps, by the app. */
  idsOfApps(spaceId: string): Promise<ReadonlyMap<string, string>>;
  update(id: string, changes: WebhookChanges): Promise<void>;
  /** Leaves a tombstone without secrets, and cancels what was to be delivered. */
  bury(id: string, now: number): Promise<void>;
  /** Removes tombstones older than this; answers how many, at most `max`. */
  purge(before: number, max: number): Promise<number>;
}
