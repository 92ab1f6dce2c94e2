import type { Readable } from "node:stream";

/**
 * Returns an id of letters, digits, `-` and `_`. No such id leads out of the folder or the prefix.
 *
 * @throws Error for any other text: the platform creates ids, callers never do.
 */
export function checkBlobId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,128}$/.test(id)) return id;
  throw new Error("not the id of a blob");
}

/** A part of some bytes: both ends included, as HTTP counts (RFC 9110 14.1.2). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The storage of bytes: a folder or a bucket. It knows only ids. */
export interface Blobs {
  /**
   * Writes bytes under a new id. They are durable when the promise resolves. If it
   * rejects, nothing is left of them. After a crash a part of them may be left, which
   * `remove` deletes.
   *
   * @param signal aborted to abandon the write.
   */
  put(id: string, bytes: Readable, signal: AbortSignal): Promise<void>;
  /** @throws Failure `not_found` when the bytes do not exist. */
  read(id: string, range?: ByteRange): Promise<Readable>;
  /** Deletes complete or partial bytes. It is not an error if there are none. */
  remove(id: string): Promise<void>;
  /**
   * An address that allows its holder to read the bytes for some seconds; null if this server sends the
   * bytes.
   */
  address(id: string, as: { filename: string; contentType: string; seconds: number }): Promise<string | null>;
}

/** Bytes that are being written to the storage. */
export interface NewBlob {
  readonly id: string;
  /** The account whose quota they count toward; null for an artifact. */
  readonly accountId: string | null;
  /** The reserved bytes. */
  readonly bytes: number;
  /** Unix milliseconds; until then the writer counts as alive. */
  readonly leaseUntil: number;
}

/**
 * The blobs in the storage, and their use of each account's quota. A blob is `writing`
 * until a change keeps it, then `kept`, then `dropped` until its bytes are deleted. An
 * account's total is the sum of its blobs that are not dropped; the same changes update
 * both.
 */
export interface BlobRows {
  /** Inserts a blob before its first byte is written. False, without effect, if it would exceed the quota. */
  begin(blob: NewBlob, quota: number): Promise<boolean>;
  /**
   * Reserves `more` bytes. False, without effect, if that would exceed the quota or the blob is abandoned.
   */
  reserve(id: string, more: number, quota: number): Promise<boolean>;
  /** False if the blob is abandoned: its writer must stop. */
  renew(id: string, leaseUntil: number): Promise<boolean>;
  /** Replaces the reservation with the actual size; false if the blob is abandoned. */
  settle(id: string, size: { reserved: number; bytes: number }, leaseUntil: number): Promise<boolean>;
  /** Keeps a blob for a file that will refer to it; false if the blob is abandoned. */
  keep(id: string): Promise<boolean>;
  /** Abandons a blob that no file will refer to; false if it is kept or abandoned already. */
  abandon(id: string): Promise<boolean>;
  /**
   * Lets another file refer to a kept blob that counts toward no quota; false if there is none. Its bytes are
   * deleted when the last file no longer refers to it.
   */
  share(id: string): Promise<boolean>;
  /** Files no longer refer to these kept blobs. The bytes of those without another file will be deleted. */
  drop(ids: readonly string[]): Promise<void>;
  /**
   * Claims up to `max` blobs whose bytes must be deleted, because they are dropped or their
   * writer has died. No other process can claim them until the lease expires.
   */
  claimDeletable(now: number, leaseUntil: number, max: number): Promise<readonly string[]>;
  /** Deletes dropped blobs whose bytes are deleted; other blobs stay. */
  deleteDropped(ids: readonly string[]): Promise<void>;
  /** Removes a kept blob from its account's quota: an artifact refers to it now. */
  releaseQuota(id: string): Promise<void>;
  /** The bytes that an account's blobs use of its quota. */
  usedBytes(accountId: string): Promise<number>;
}
