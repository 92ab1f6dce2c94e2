import type { Scope } from "../accounts/caller.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";

/** The name that the specification has for errors of both limits (spec/api.md 14.3). */
const quotaError = "QuotaExceededError";

/** One file is too large. @param max bytes. */
export const tooLarge = (max: number): Failure =>
  new Failure("too_large", `${quotaError}: at most ${max} bytes are accepted`);

/** The account's quota is used up. @param quota bytes. */
export const overQuota = (quota: number): Failure =>
  new Failure(
    "resource_exhausted",
    `${quotaError}: the files of an account take at most ${quota} bytes; delete some, or wait until they expire`,
  );

/** The states of a file (spec/api.md 7.10). */
export const fileStatuses = ["pending", "uploaded", "deleted", "error"] as const;
export type FileStatus = (typeof fileStatuses)[number];

/**
 * A file that a user adds, or an artifact that an agent creates for its task. Times are Unix milliseconds.
 */
export interface StoredFile {
  /** `file-` and a short id. */
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The app that added it; null for a key. */
  readonly clientId: string | null;
  /** The key that added it; null for other credentials, and for an artifact. */
  readonly apiKeyId: string | null;
  /** The task whose artifact it is; null for a user's file. */
  readonly taskId: string | null;
  readonly filename: string;
  readonly contentType: string;
  readonly status: FileStatus;
  /** Its bytes in the storage, once they are complete; those of a tombstone are deleted. */
  readonly blobId: string | null;
  readonly bytes: number | null;
  /** The digest of the bytes, in hex. */
  readonly sha256: string | null;
  /** The reason of the status `error`. */
  readonly error: string | null;
  readonly createdAt: number;
  /** The end of the window in which an upload may begin. It is extended while one is in progress. */
  readonly uploadUntil: number;
  /** 48 hours after the upload; null for an artifact and before the upload. */
  readonly expiresAt: number | null;
  /** When it ended, by deletion or by an error. The row is purged 30 days later. */
  readonly deletedAt: number | null;
}

/** Creates the id of a file (spec/v1.md 3). */
export const createFileId = (ids: Pick<Ids, "short">): string => `file-${ids.short()}`;

/** How long a user's file is kept, in milliseconds (spec/api.md 8.12). */
export const keptMs = 48 * 3_600_000;

/** The `error` of a file whose window has passed (spec/api.md 14.3). */
export const windowExpired = "upload window expired";

/** A file as it is at this time, even if the sweep has not run since. */
export function fileAt(file: StoredFile, now: number): StoredFile {
  if (file.status === "uploaded" && file.expiresAt !== null && now >= file.expiresAt) {
    return { ...file, status: "deleted", deletedAt: file.expiresAt };
  }
  if (file.status === "pending" && now >= file.uploadUntil)
    return { ...file, status: "error", error: windowExpired };
  return file;
}

export interface Upload {
  readonly blobId: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly expiresAt: number;
}

/** A filter of files; all conditions must hold. */
export interface FileFilter {
  /** Artifacts of this task instead of uploads. */
  readonly taskId?: string | undefined;
  /** Uploads, which are the default; artifacts of all tasks that the caller sees; or both. */
  readonly origin?: "tasks" | "all" | undefined;
  /** A part of the name, in any letter case. */
  readonly filenameContains?: string | undefined;
}

export type FilePosition = Pick<StoredFile, "createdAt" | "id">;

/** Newest first, after this file. */
export interface FilePage {
  readonly limit: number;
  readonly after?: FilePosition | undefined;
}

/** A page of files; `next` is the position after which the following page begins. */
export interface FileList {
  readonly files: readonly StoredFile[];
  readonly next?: FilePosition | undefined;
}

/** The rows of files as stored; `fileAt` adds the effects of time. */
export interface FileRows {
  insert(file: StoredFile): Promise<void>;
  /** A user's file or its tombstone; never an artifact. */
  find(scope: Scope, id: string): Promise<StoredFile | null>;
  /** A file of any owner, artifacts too: for an address that this installation has signed. */
  byId(id: string): Promise<StoredFile | null>;
  /**
   * Files that are not deleted at this time, newest first: the caller's uploads, or the artifacts of one
   * task.
   */
  list(scope: Scope, filter: FileFilter, page: FilePage, now: number): Promise<FileList>;
  /** Completes an upload; false if the file is no longer pending. */
  complete(id: string, upload: Upload): Promise<boolean>;
  /** Fails a file permanently; false if it is no longer pending. */
  fail(id: string, error: string, now: number): Promise<boolean>;
  /**
   * Extends the window of an upload in progress to `until` at least; false if the file is no longer pending.
   */
  extendWindow(id: string, until: number): Promise<boolean>;
  /** Sets the window back to `until` after a failed upload, if it still ends at `was`. */
  restoreWindow(id: string, was: number, until: number): Promise<void>;
  /** Tombstones a user's file and returns its blob, if it has one; null when there is no such file. */
  remove(scope: Scope, id: string, now: number): Promise<Pick<StoredFile, "blobId" | "filename"> | null>;
  /**
   * Turns a worker's upload for a task into an artifact of the task; null if it does not exist or has expired
   * at this time.
   */
  adoptWorkerUpload(
    upload: { blobId: string; taskId: string; from: string },
    to: Pick<StoredFile, "accountId" | "clientId">,
    now: number,
  ): Promise<StoredFile | null>;
  /**
   * Moves the bytes of a user's upload into a task's file that has none, and deletes the upload. Returns what
   * is missing if the upload has no bytes at this time, or the file does not exist.
   */
  adoptUpload(
    scope: Scope,
    ids: { uploadId: string; fileId: string },
    now: number,
  ): Promise<{ blobId: string; bytes: number } | "no upload" | "no file">;
  /**
   * Deletes a worker's upload for a task and returns its blob; null if it does not exist or has expired at
   * this time.
   */
  deleteWorkerUpload(
    upload: { id: string; taskId: string; from: string },
    now: number,
  ): Promise<string | null>;
  /** Returns their blobs. */
  deleteArtifacts(taskId: string): Promise<readonly string[]>;
  /** Tombstones up to `max` expired files and returns their blobs. */
  expire(now: number, max: number): Promise<readonly string[]>;
  /** Fails up to `max` files whose window has passed without an upload; returns their number. */
  closeWindows(now: number, max: number): Promise<number>;
  /** Those that ended before a time; returns their number. */
  purge(before: number): Promise<number>;
}

/** A file as its event records it; its link is created at each read (spec/decisions.md 38). */
export interface Attachment {
  readonly fileId: string;
  /** How to show it (spec/api.md 7.4). */
  readonly type: "image" | "file" | "voice" | "slides";
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** The origin of a task's file: a part of a message, speech, or the agent. */
export type Origin = "user" | "voice" | "agent";

const presentations: ReadonlySet<string> = new Set([
  "application/vnd.ms-powerpoint",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
  "application/vnd.oasis.opendocument.presentation",
  "application/vnd.apple.keynote",
]);

/**
 * The attachment of an event for a kept file. Only an agent's presentation is `slides`; a user's is a `file`.
 */
export const attachmentOf = (
  { id, filename, contentType, bytes }: StoredFile,
  origin: Origin,
): Attachment => ({
  fileId: id,
  type: typeOf(contentType, origin),
  filename,
  contentType,
  bytes: bytes ?? 0,
});

function typeOf(contentType: string, origin: Origin): Attachment["type"] {
  if (origin === "voice") return "voice";
  if (contentType.startsWith("image/")) return "image";
  return origin === "agent" && presentations.has(contentType) ? "slides" : "file";
}
