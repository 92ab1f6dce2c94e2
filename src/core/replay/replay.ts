/** What makes two calls the same call (contract/decisions.md 20). */
export interface ReplayKey {
  readonly accountId: string;
  readonly spaceId: string;
  /** Empty for an API key. */
  readonly clientId: string;
  readonly operation: string;
  /** The caller's `Idempotency-Key`. */
  readonly key: string;
}

/** A call that was answered before. */
export interface ReplayRecord {
  /** SHA-256 over the decoded request with sorted map keys, hex. */
  readonly hash: string;
  /** The encrypted binary answer; null where the answer holds a secret. */
  readonly answer: Uint8Array<ArrayBuffer> | null;
  /** The id of what was made. */
  readonly subject: string | null;
}

export interface ReplayRows {
  /**
   * Claims the key for the change that is open: false when it was claimed before.
   * A claim that another change holds is waited for.
   */
  claim(key: ReplayKey, hash: string, now: number): Promise<boolean>;
  find(key: ReplayKey): Promise<ReplayRecord | null>;
  /** Puts the answer into a record that this change claimed, and the id of what it tells of. */
  complete(key: ReplayKey, answer: Uint8Array<ArrayBuffer> | null, subject: string | null): Promise<void>;
  /** Forgets every answer that tells of this. */
  forget(subject: string): Promise<void>;
  /** Forgets records claimed before `before`; answers how many there were. */
  purge(before: number): Promise<number>;
}
