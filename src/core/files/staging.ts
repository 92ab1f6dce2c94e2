import type { Readable } from "node:stream";
import type { Caller } from "../caller.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import type { StoredFile } from "./file.ts";

/** Bytes that are in the storage, whole, and belong to nothing yet: unless a change keeps them within minutes they are removed. */
export interface Staged {
  readonly blobId: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** What a file is called, and what it is. */
export interface FileName {
  readonly filename: string;
  readonly contentType: string;
}

/** Bytes on their way to become files: written before the change that keeps them, because no change waits for a disk. */
export interface Staging {
  /**
   * Writes bytes down.
   *
   * @param account whose quota they count toward; null for an artefact's, which count nowhere (contract/decisions.md 38).
   * @param max the most bytes; more are refused.
   * @throws Failure `too_large` beyond `max`, `exhausted` beyond the quota.
   */
  stage(bytes: Readable, to: { readonly accountId: string | null; readonly max: number; readonly signal: AbortSignal }): Promise<Staged>;
  /** Gives up what no change will keep; what this fails to do, the sweep does. */
  discard(staged: Staged): Promise<void>;
  /** What a user brought becomes a file of 48 hours. */
  keep(tx: Tx, caller: Caller, staged: Staged, name: FileName): Promise<StoredFile>;
  /** What an agent made becomes a file that lives as long as its task. */
  keepArtefact(tx: Tx, task: Pick<Task, "id" | "accountId" | "spaceId" | "clientId">, staged: Staged, name: FileName): Promise<StoredFile>;
}
