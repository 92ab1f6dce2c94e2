/** Bytes on their way into the storage. */
export interface NewBlob {
  readonly id: string;
  /** Whose quota they count toward; null for an artefact's. */
  readonly accountId: string | null;
  /** What is reserved for them. */
  readonly bytes: number;
  /** Unix milliseconds; until then their writer is alive. */
  readonly leaseUntil: number;
}

/**
 * What is in the storage, and how much of each account's quota it takes. A blob is
 * `writing` until a change keeps it, `kept`, and `dropped` until its bytes are gone;
 * an account's sum is that of its blobs that are not dropped, and is moved by the
 * same changes as they are.
 */
export interface BlobRows {
  /** Before the first byte is written. False, with nothing done, when it would cross the quota. */
  begin(blob: NewBlob, quota: number): Promise<boolean>;
  /** Reserves so many bytes more; false, with nothing done, when that would cross the quota, or its writer is given up. */
  reserve(id: string, more: number, quota: number): Promise<boolean>;
  /** False when its writer is given up: it must stop. */
  renew(id: string, leaseUntil: number): Promise<boolean>;
  /** Takes the size in the place of what was reserved; false when its writer is given up. */
  settle(id: string, size: { readonly reserved: number; readonly bytes: number }, leaseUntil: number): Promise<boolean>;
  /** A file is going to point at it; false when its writer is given up. */
  keep(id: string): Promise<boolean>;
  /** Nobody will keep what was written; false when it is kept, or given up already. */
  abandon(id: string): Promise<boolean>;
  /** No file points at what was kept any more: its bytes are to go. */
  drop(ids: readonly string[]): Promise<void>;
  /**
   * Takes some whose bytes are to go, because they are dropped or because their writer
   * has died: nobody else gets them until the lease is over.
   */
  takeLoose(now: number, leaseUntil: number, max: number): Promise<readonly string[]>;
  /** Their bytes are gone; those that are not dropped stay. */
  erase(ids: readonly string[]): Promise<void>;
  /** What is kept counts toward nobody's quota any more: it is an artefact's now. */
  free(id: string): Promise<void>;
  /** What an account's blobs take of its quota. */
  used(accountId: string): Promise<number>;
}
