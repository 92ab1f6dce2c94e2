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
  /** Its bytes in the storage, once they are whole and until they go. */
  readonly blobId: string | null;
  readonly bytes: number | null;
  /** Of the bytes, in hex. */
  readonly sha256: string | null;
  /** What went wrong, with `error`. */
  readonly error: string | null;
  readonly createdAt: number;
  /** The end of the window in which an upload may begin. */
  readonly uploadUntil: number;
  /** 48 hours after the upload; null for an artefact and before the upload. */
  readonly expiresAt: number | null;
  readonly deletedAt: number | null;
}
