import type { Scope } from "../accounts/caller.ts";
import { dayMs, purging, purgingInBatches } from "../processes/timed-job.ts";
import type { Metadata } from "../tasks/metadata.ts";

/** Types of event that webhooks can receive (spec/webhooks.md 2, spec/decisions.md 40). */
export const webhookEventTypes = [
  "task_created",
  "task_progress",
  "task_stopped",
  "task_failed",
  "task_cancelled",
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** The types that the public API documents: webhooks of v1 and of apps receive these. */
export const documentedEventTypes: readonly WebhookEventType[] = [
  "task_created",
  "task_progress",
  "task_stopped",
];

/**
 * The types of a webhook.create that names none: `task_progress` is frequent, and must be requested
 * (spec/decisions.md 47).
 */
export const defaultEventTypes: readonly WebhookEventType[] = ["task_created", "task_stopped"];

export const webhooksMax = 20;

/** An address that receives task events, of an account or an app. Times are Unix milliseconds. */
export interface Webhook {
  readonly id: string;
  /** The app's creator for an app's webhook. */
  readonly accountId: string;
  readonly spaceId: string;
  /** The app that it belongs to. */
  readonly clientId: string | null;
  /** The registered address, byte for byte: it is part of the signed text. */
  readonly url: string;
  readonly status: "active" | "inactive";
  /** Why it is inactive, as a text for people. */
  readonly inactiveReason: string | null;
  readonly eventTypes: readonly WebhookEventType[];
  readonly doubleHash: boolean;
  /** Only events of this project's tasks; null: of all tasks. */
  readonly projectId: string | null;
  /** Only events of tasks with this pair: at most one. */
  readonly metadata: Metadata;
  /** The secret for Standard Webhooks, encrypted. */
  readonly secret: Uint8Array<ArrayBuffer>;
  /** The previous secret, valid until `oldSecretUntil`. */
  readonly oldSecret: Uint8Array<ArrayBuffer> | null;
  readonly oldSecretUntil: number | null;
  readonly createdAt: number;
  /** Since when every delivery has failed. */
  readonly failingSince: number | null;
  readonly failures: number;
  /** For people; null without a name. */
  readonly name: string | null;
  readonly deletedAt: number | null;
}

export type WebhookChanges = Partial<
  Omit<Webhook, "id" | "accountId" | "spaceId" | "clientId" | "createdAt" | "deletedAt">
>;

/**
 * The webhooks that a query may access: an account's own in one space, and those of the space's apps if the
 * caller may change the apps.
 */
export interface WebhookReach extends Pick<Scope, "accountId" | "spaceId"> {
  readonly ofApps: boolean;
}

/** A webhook of a space with the address of its member. */
export interface HeldWebhook extends Webhook {
  /** Null once the account is erased. */
  readonly email: string | null;
}

/** A page of a space's webhooks, newest first; it begins after this webhook. */
export interface SpaceWebhookPage {
  readonly limit: number;
  readonly after?: Pick<Webhook, "createdAt" | "id"> | undefined;
}

/** Webhooks that are not deleted. Deleted ones are not returned. */
export interface WebhookRows {
  insert(webhook: Webhook): Promise<void>;
  /** An account's own webhooks in one space, newest first. */
  list(scope: Pick<Scope, "accountId" | "spaceId">): Promise<Webhook[]>;
  /** Without those of apps. */
  listOfSpace(spaceId: string, page: SpaceWebhookPage): Promise<HeldWebhook[]>;
  find(reach: WebhookReach, id: string): Promise<Webhook | null>;
  /** As `find`, and locks the row. */
  lock(reach: WebhookReach, id: string): Promise<Webhook | null>;
  findOfApp(clientId: string): Promise<Webhook | null>;
  /** Ids of the webhooks of a team's apps, by app. */
  listIdsOfApps(spaceId: string): Promise<ReadonlyMap<string, string>>;
  update(id: string, changes: WebhookChanges): Promise<void>;
  /** Leaves a tombstone without secrets, and cancels pending deliveries. */
  tombstone(id: string, now: number): Promise<void>;
  /** Deletes tombstones older than this; returns how many, at most `max`. */
  purge(before: number, max: number): Promise<number>;
}

/**
 * The algorithms that sign deliveries: the API's own, and that of Standard Webhooks (spec/webhooks.md 5, 7).
 */
export type WebhookKeyAlgorithm = "rsa" | "ed25519";

/**
 * A stored key pair that signs deliveries. An algorithm has one, and several while a replacement is planned.
 */
export interface WebhookKey {
  readonly id: string;
  readonly algorithm: WebhookKeyAlgorithm;
  /** 1 for the first key of its algorithm. A replacement has the next number. */
  readonly number: number;
  /** SubjectPublicKeyInfo as PEM. */
  readonly publicKey: string;
  /** PKCS #8 in DER, sealed. */
  readonly privateKey: Uint8Array<ArrayBuffer>;
  readonly createdAt: number;
  /** From this time it is the current key of its algorithm; Unix milliseconds. */
  readonly signsFrom: number;
  /** It is published until this time, in Unix milliseconds; null while no replacement is planned. */
  readonly retiresAt: number | null;
}

/** Binds a sealed private key to its row. */
export const webhookKeyContext = (id: string): string => `webhook_key:${id}`;

export interface WebhookKeyRows {
  /** The keys of all algorithms, each with the oldest first. */
  list(): Promise<readonly WebhookKey[]>;
  /** False when the algorithm has this number already: of two concurrent inserts one succeeds. */
  insert(key: WebhookKey): Promise<boolean>;
  /** Sets the end of the keys of an algorithm that have none. */
  retire(algorithm: WebhookKeyAlgorithm, at: number): Promise<void>;
  remove(algorithm: WebhookKeyAlgorithm): Promise<void>;
  /** Deletes keys that were retired before this time; returns how many. */
  purge(before: number): Promise<number>;
}

export interface PublicWebhookKey {
  readonly algorithm: WebhookKeyAlgorithm;
  /** PEM of 2,048 bits for `rsa`; `whpk_` and base64 for `ed25519`, the form of Standard Webhooks. */
  readonly text: string;
  /** Unix milliseconds, as the next two. */
  readonly createdAt: number;
  readonly signsFrom: number;
  readonly retiresAt: number | null;
}

/** The public keys of the pairs that sign deliveries. */
export interface PublicWebhookKeys {
  /** The current key of each algorithm. */
  readonly rsa: PublicWebhookKey;
  readonly ed25519: PublicWebhookKey;
  /** The current keys, those that follow, and those that came before and are not retired. */
  readonly all: readonly PublicWebhookKey[];
}

/** The keys that receivers verify deliveries with. */
export interface WebhookKeys {
  publicKeys(): Promise<PublicWebhookKeys>;
}

/** Deleted webhooks are kept as long as the log of their deliveries. */
export const purgeWebhooks = purgingInBatches("purge-webhooks", 500, (tx, now, max, { webhookLogDays }) =>
  tx.webhooks.purge(now - webhookLogDays * dayMs, max),
);

export const purgeWebhookKeys = purging("purge-webhook-keys", (tx, now) => tx.webhookKeys.purge(now));
