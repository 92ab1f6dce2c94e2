import type { Readable } from "node:stream";
import type { Caller } from "../accounts/caller.ts";
import type { Tx } from "../store.ts";
import type { StoredFile } from "./file.ts";

/**
 * Complete bytes in the storage that no file refers to. The sweep deletes them unless a change keeps them
 * within minutes.
 */
export interface Staged {
  readonly blobId: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

export interface FileName {
  readonly filename: string;
  readonly contentType: string;
}

/** The task that a file of an agent belongs to. */
interface OwningTask {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId: string | null;
}

/** Writes bytes of files before the change that keeps them, because no change waits for a disk. */
export interface Staging {
  /**
   * Writes bytes to the storage.
   *
   * @param to `accountId` is the account whose quota they count toward; null for an artifact, which counts
   * toward none (spec/decisions.md 38). `max` is the maximum number of bytes; more are refused.
   * @throws Failure `too_large` beyond `max`, `resource_exhausted` beyond the quota.
   */
  stage(bytes: Readable, to: { accountId: string | null; max: number; signal: AbortSignal }): Promise<Staged>;
  /** Discards bytes that no change will keep. If it fails, the sweep deletes them. */
  discard(staged: Staged): Promise<void>;
  /** Keeps a user's bytes as a file for 48 hours. */
  keep(tx: Tx, caller: Caller, staged: Staged, name: FileName): Promise<StoredFile>;
  /** Keeps an agent's bytes as an artifact, which exists as long as its task. */
  keepArtifact(tx: Tx, task: OwningTask, staged: Staged, name: FileName): Promise<StoredFile>;
}
