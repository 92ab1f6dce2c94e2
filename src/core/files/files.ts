import { appOf, type Caller, keyOf } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import {
  type CursorBinding,
  decodeCursor,
  encodeCursor,
  type Page,
  type PageInput,
} from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import type { Blobs } from "./blob.ts";
import { createFileId, type FileFilter, fileAt, overQuota, type StoredFile } from "./file.ts";
import { checkFilename, contentTypeOf } from "./filename.ts";

/** Reads a file of a task, for its agent. @throws Failure `not_found` when it is deleted or expired. */
export type ReadFile = (fileId: string) => AsyncIterable<Uint8Array>;

export const fileReader = (store: Pick<Tx, "files">, blobs: Pick<Blobs, "read">, clock: Clock): ReadFile =>
  async function* (fileId) {
    const row = await store.files.byId(fileId);
    const file = row && fileAt(row, clock.now());
    if (file?.status !== "uploaded" || file.blobId === null) throw notFound("file");
    yield* await blobs.read(file.blobId);
  };

type FilesInput = Pick<PageInput, "limit" | "cursor">;

/** The files of a caller (spec/api.md 8.12 to 8.14). */
export interface Files {
  /**
   * Creates a pending file. @throws Failure `invalid_argument` for a refused name, `resource_exhausted` when
   * the quota is used up.
   */
  open(tx: Tx, caller: Caller, filename: string): Promise<StoredFile>;
  /** The file or its tombstone, as it is now. @throws Failure `not_found`. */
  get(tx: Tx, caller: Caller, id: string): Promise<StoredFile>;
  /**
   * The files that are not deleted, newest first. A page may be short although another follows (spec/api.md
   * 8.42).
   *
   * @throws Failure `not_found` for a task, `invalid_argument` for a cursor of another list.
   */
  list(tx: Tx, caller: Caller, filter: FileFilter, input: FilesInput): Promise<Page<StoredFile>>;
  /** Tombstones a file in any state. @throws Failure `not_found`, also for a deleted file. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
}

/** An upload must begin within this time, in milliseconds (spec/api.md 8.12). */
const windowMs = 3 * 60_000;

/** @param quota bytes of an account. */
export function files({
  clock,
  ids,
  quota,
}: {
  clock: Clock;
  ids: Pick<Ids, "short">;
  quota: number;
}): Files {
  return {
    async open(tx, caller, filename) {
      const name = checkFilename(filename);
      if ((await tx.blobs.usedBytes(caller.accountId)) >= quota) throw overQuota(quota);
      const file = pendingFile(createFileId(ids), caller, name, clock.now());
      await tx.files.insert(file);
      tx.audit.note({ subject: file.id, after: { filename: name } });
      return file;
    },
    async get(tx, caller, id) {
      const file = await tx.files.find(caller, id);
      if (!file) throw notFound("file");
      return fileAt(file, clock.now());
    },
    async list(tx, caller, filter, { limit, cursor }) {
      if (filter.taskId !== undefined && !(await tx.tasks.find(caller, filter.taskId)))
        throw notFound("task", "task_id");
      const { accountId, spaceId } = caller;
      const binding: CursorBinding = {
        accountId,
        spaceId,
        clientId: appOf(caller) ?? undefined,
        operation: "ListFiles",
        filter,
      };
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const now = clock.now();
      const page = { limit, after: after && { createdAt: after.value, id: after.id } };
      const { files, next } = await tx.files.list(caller, filter, page, now);
      return {
        items: files.map((file) => fileAt(file, now)),
        next: next && encodeCursor(binding, { value: next.createdAt, id: next.id }),
      };
    },
    async remove(tx, caller, id) {
      const removed = await tx.files.remove(caller, id, clock.now());
      if (!removed) throw notFound("file");
      if (removed.blobId !== null) await tx.blobs.drop([removed.blobId]);
      tx.audit.note({ subject: id, before: { filename: removed.filename } });
    },
  };
}

/** Deletes the artifacts of a deleted task; the sweep deletes their bytes (spec/decisions.md 14). */
export async function dropArtifacts(tx: Tx, taskId: string): Promise<void> {
  await tx.blobs.drop(await tx.files.deleteArtifacts(taskId));
}

/** A file before its upload. The window ends at a full second, because its address has seconds. */
const pendingFile = (id: string, caller: Caller, filename: string, now: number): StoredFile => ({
  id,
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  clientId: appOf(caller),
  apiKeyId: keyOf(caller),
  taskId: null,
  filename,
  contentType: contentTypeOf(filename),
  status: "pending",
  blobId: null,
  bytes: null,
  sha256: null,
  error: null,
  createdAt: now,
  uploadUntil: Math.ceil((now + windowMs) / 1000) * 1000,
  expiresAt: null,
  deletedAt: null,
});
