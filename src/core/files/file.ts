import type { Scope } from "../caller.ts";
import type { Ids } from "../ids.ts";

/** How far a file is, in the contract's words (contract/v2.md 7.10). */
export const fileStatuses = ["pending", "uploaded", "deleted", "error"] as const;
export type FileStatus = (typeof fileStatuses)[number];

/** A file that a user brings, or an artefact that an agent made for its task. Times are Unix milliseconds. */
export interface StoredFile {
  /** `file-` and a short id. */
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The app that brought it; null for a key. */
  readonly clientId: string | null;
  /** The task whose artefact it is; null for what users bring. */
  readonly taskId: string | null;
  readonly filename: string;
  readonly contentType: string;
  readonly status: FileStatus;
  /** Its bytes in the storage, once they are whole; those of a tombstone are gone. */
  readonly blobId: string | null;
  readonly bytes: number | null;
  /** Of the bytes, in hex. */
  readonly sha256: string | null;
  /** What went wrong, with `error`. */
  readonly error: string | null;
  readonly createdAt: number;
  /** The end of the window in which an upload may begin; later while one is under way. */
  readonly uploadUntil: number;
  /** 48 hours after the upload; null for an artefact and before the upload. */
  readonly expiresAt: number | null;
  /** When it ended, by deletion or by an error: the row is forgotten 30 days after. */
  readonly deletedAt: number | null;
}

/** An id of a file (contract/v1.md 3). */
export const fileId = (ids: Pick<Ids, "short">): string => `file-${ids.short()}`;

/** How long what a user brought is kept, in milliseconds (contract/v2.md 8.12). */
export const keptMs = 48 * 3_600_000;

/** The `error` of a file whose window has passed (contract/v2.md 14.3). */
export const windowExpired = "upload window expired";

/** A file as it is at this time, whether or not anybody has swept since. */
export function asOf(file: StoredFile, now: number): StoredFile {
  if (file.status === "uploaded" && file.expiresAt !== null && now >= file.expiresAt) {
    return { ...file, status: "deleted", deletedAt: file.expiresAt };
  }
  if (file.status === "pending" && now >= file.uploadUntil) return { ...file, status: "error", error: windowExpired };
  return file;
}

/** What an upload came to. */
export interface Upload {
  readonly blobId: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly expiresAt: number;
}

/** Files as they are kept; what the clock makes of them is `asOf`'s to say. */
export interface FileRows {
  insert(file: StoredFile): Promise<void>;
  /** What a user brought, tombstones too; never an artefact. */
  find(scope: Scope, id: string): Promise<StoredFile | null>;
  /** Whoever's, artefacts too: for an address that this installation has signed. */
  byId(id: string): Promise<StoredFile | null>;
  /** What a user brought and is not deleted at this time, newest first. */
  list(scope: Scope, now: number, limit: number): Promise<readonly StoredFile[]>;
  /** The bytes are whole; false when nobody awaits them any more. */
  complete(id: string, upload: Upload): Promise<boolean>;
  /** The upload has failed for good; false when it was not awaited any more. */
  fail(id: string, error: string, now: number): Promise<boolean>;
  /** An upload is under way until then at least; false when it is not awaited any more. */
  await(id: string, until: number): Promise<boolean>;
  /** The upload that was under way until `was` has ended: the window is what it was before. */
  unawait(id: string, was: number, until: number): Promise<void>;
  /** What a user brought becomes a tombstone; null when there is none. Answers its blob, if it has one. */
  remove(scope: Scope, id: string, now: number): Promise<Pick<StoredFile, "blobId" | "filename"> | null>;
  /** What a worker has uploaded for a task becomes the task's artefact; null when it is not there, or over, at this time. */
  adopt(
    upload: { readonly blobId: string; readonly taskId: string; readonly from: string },
    to: Pick<StoredFile, "accountId" | "clientId">,
    now: number,
  ): Promise<StoredFile | null>;
  /** Erases what a worker has uploaded for a task, and answers its blob; null when it is not there, or over, at this time. */
  take(upload: { readonly id: string; readonly taskId: string; readonly from: string }, now: number): Promise<string | null>;
  /** Erases the artefacts of a task, and answers their blobs. */
  eraseOf(taskId: string): Promise<readonly string[]>;
  /** Makes tombstones of some whose time is over, and answers their blobs. */
  expire(now: number, max: number): Promise<readonly string[]>;
  /** Tells of windows that have passed without an upload, in some rows; answers how many. */
  closeWindows(now: number, max: number): Promise<number>;
  /** Forgets what ended before a time; answers how many. */
  purge(before: number): Promise<number>;
}
