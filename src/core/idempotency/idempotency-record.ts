import { dayMs, purging } from "../processes/timed-job.ts";
/** Calls with equal members are the same call (spec/decisions.md 20). */
export interface IdempotencyKey {
  readonly accountId: string;
  readonly spaceId: string;
  /** Empty for an API key. */
  readonly clientId: string;
  readonly operation: string;
  /** The caller's `Idempotency-Key`. */
  readonly key: string;
}

export interface IdempotencyRecord {
  /** SHA-256 over the decoded request with sorted map keys, hex. */
  readonly hash: string;
  /** The encrypted binary answer; null if the answer holds a secret. */
  readonly answer: Uint8Array<ArrayBuffer> | null;
  /** The id of the created object. */
  readonly subject: string | null;
}

export interface IdempotencyRows {
  /**
   * Claims the key for the open change; false if it was claimed before.
   * Waits for another change that holds a claim.
   */
  claim(key: IdempotencyKey, hash: string, now: number): Promise<boolean>;
  find(key: IdempotencyKey): Promise<IdempotencyRecord | null>;
  complete(
    key: IdempotencyKey,
    answer: Uint8Array<ArrayBuffer> | null,
    subject: string | null,
  ): Promise<void>;
  /** Deletes every record with this object. */
  deleteOf(subject: string): Promise<void>;
  /** Those claimed before `before`; returns their number. */
  purge(before: number): Promise<number>;
}

export const answerContext = (key: IdempotencyKey): string =>
  JSON.stringify([key.accountId, key.spaceId, key.clientId, key.operation, key.key]);

/** Repeats are recognised for a day. */
export const idempotencyWindowMs = dayMs;

export const purgeIdempotencyRecords = purging("purge-idempotency-records", (tx, now) =>
  tx.idempotency.purge(now - idempotencyWindowMs),
);
