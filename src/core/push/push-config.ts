import type { Scope } from "../accounts/caller.ts";
import type { KeyScope } from "../accounts/key-scopes.ts";
import type { Cipher } from "../cipher.ts";
import { purgingInBatches } from "../processes/timed-job.ts";

/**
 * `active`: it sends. `ended`: its task is over and all was sent. `failed`: its receiver took nothing for too
 * long.
 */
export type PushState = "active" | "ended" | "failed";

/**
 * What a limited key needs to create a configuration, and keeps needing while it sends (spec/api.md 8.124).
 */
export const pushScopes = ["task:read", "webhook:write"] as const satisfies readonly KeyScope[];

export interface PushKey {
  readonly taskId: string;
  /** The app that created it; empty without one. */
  readonly clientId: string;
  /** Unique among those of the app, or those without one, for the task. */
  readonly configId: string;
}

/** Where push notifications of a task go. Times are Unix milliseconds. */
export interface PushConfig extends PushKey {
  readonly accountId: string;
  readonly spaceId: string;
  readonly url: string;
  /** `PushSecrets`, encrypted; null without any, and once nothing more is sent. */
  readonly secrets: Uint8Array<ArrayBuffer> | null;
  /** Each notification has its event of the platform. */
  readonly hasEvents: boolean;
  readonly state: PushState;
  /** The number of the last event that was sent, or had nothing to send. */
  readonly sentSeq: number;
  /** Failed attempts since the last success. */
  readonly attempts: number;
  /** When the next attempt is due, or the current sender counts as dead. */
  readonly nextAt: number;
  /** The sender that has it now; null without one. */
  readonly claim: string | null;
  readonly lastError: string | null;
  readonly createdAt: number;
  /** The API key that created it; null for an app, and for those of releases that did not store it. */
  readonly apiKeyId: string | null;
}

/** How a notification proves itself to its receiver. */
export interface PushSecrets {
  /** Sent as `X-A2A-Notification-Token`. */
  readonly token?: string;
  /** The scheme of `Authorization`. */
  readonly scheme?: string;
  /** What follows the scheme. Without it there is no `Authorization`. */
  readonly credentials?: string;
}

/** Binds sealed secrets to their configuration. */
export const pushSecretsContext = (taskId: string, clientId: string, configId: string): string =>
  `push_secrets:${JSON.stringify([taskId, clientId, configId])}`;

const contextOf = ({ taskId, clientId, configId }: PushKey): string =>
  pushSecretsContext(taskId, clientId, configId);

/** The form in which secrets are stored; null for none. */
export function sealPushSecrets(
  cipher: Pick<Cipher, "seal">,
  key: PushKey,
  secrets: PushSecrets,
): PushConfig["secrets"] {
  if (Object.keys(secrets).length === 0) return null;
  return cipher.seal(new TextEncoder().encode(JSON.stringify(secrets)), contextOf(key));
}

/** @throws Error when they were sealed for another configuration, or with another key. */
export function openPushSecrets(
  cipher: Pick<Cipher, "open">,
  config: PushKey & Pick<PushConfig, "secrets">,
): PushSecrets {
  if (config.secrets === null) return {};
  return JSON.parse(new TextDecoder().decode(cipher.open(config.secrets, contextOf(config)))) as PushSecrets; // `sealPushSecrets` wrote it.
}

/**
 * A configuration that may no longer send: its task is deleted, or its person, app or key may not receive it.
 */
export interface LostPush extends PushConfig {
  readonly isTaskGone: boolean;
}

/** How much a sender can take. */
export interface PushCapacity {
  readonly max: number;
  /** Accounts that have all that one account may have. */
  readonly full: readonly string[];
}

/** What a sender writes when it gives a configuration back. */
export type PushResult = Pick<PushConfig, "sentSeq" | "attempts" | "nextAt" | "lastError"> & {
  readonly state: Exclude<PushState, "ended">;
};

/**
 * Configurations of push notifications as rows. A write with a claim returns false once another sender has
 * the row, or none.
 */
export interface PushConfigRows {
  /** Those of a task, oldest first. */
  ofTask(taskId: string): Promise<readonly PushConfig[]>;
  /**
   * Inserts a configuration, or replaces the one with this key, which continues after what it has sent unless
   * it has ended.
   */
  put(config: PushConfig): Promise<void>;
  /** Returns whether it existed. */
  remove(key: PushKey): Promise<boolean>;
  /** Tasks that have active configurations, at most `max`. */
  tasks(max: number): Promise<readonly string[]>;
  /** Newest first. */
  ofAccount(scope: Pick<Scope, "accountId" | "spaceId">, max: number): Promise<readonly PushConfig[]>;
  /**
   * Active configurations without an active sender that may send and have something to send or to end,
   * longest waiting first.
   *
   * @param tasks null: any task.
   */
  due(now: number, capacity: PushCapacity, tasks: readonly string[] | null): Promise<readonly PushConfig[]>;
  /**
   * Active configurations that may no longer send, also those that a sender has. @param tasks null: any task.
   */
  lost(now: number, max: number, tasks: readonly string[] | null): Promise<readonly LostPush[]>;
  /** Whether a configuration exists and its person, app and key may receive its task now. */
  maySend(key: PushKey, now: number): Promise<boolean>;
  /**
   * Takes a configuration that is still due, and returns it as it is then; null when another sender has it.
   */
  take(key: PushKey, claim: string, now: number, until: number): Promise<PushConfig | null>;
  /** Notes what was sent, and holds the claim longer. False also when the task is deleted. */
  advance(key: PushKey, claim: string, sentSeq: number, until: number): Promise<boolean>;
  release(key: PushKey, claim: string, result: PushResult): Promise<boolean>;
  /** Ends a configuration, if its task is over and had no event since, or else gives it back. */
  endOrRelease(key: PushKey, claim: string, sentSeq: number, now: number): Promise<void>;
  /** Returns how many. */
  purge(max: number): Promise<number>;
}

export const purgePushConfigs = purgingInBatches("purge-push-configs", 500, (tx, _, max) =>
  tx.pushConfigs.purge(max),
);
