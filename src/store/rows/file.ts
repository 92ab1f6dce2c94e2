import type { Scope } from "../../core/accounts/caller.ts";
import {
  type FileFilter,
  type FileList,
  type FilePage,
  type FileRows,
  windowExpired,
} from "../../core/files/file.ts";
import type { Session } from "../session.ts";
import { allOf, escapeLike, join, likeIgnoringCase, type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";
import { visible } from "./task-row.ts";

const { file } = tables;
const removed = file.pick("blobId", "filename");
const freed = file.pick("blobId");
const files = sql`SELECT ${file.of("file")} FROM file`;

export function fileRows(session: Session): FileRows {
  const { execute } = session;
  const changed = async (statement: Sql): Promise<boolean> => (await execute(statement)) === 1;
  /** The blobs of the rows that a statement ends, read by its RETURNING. */
  const blobs = async (ending: Sql): Promise<string[]> => {
    const rows = await freed.rows(session)(sql`${ending} RETURNING ${freed.of("file")}`);
    return rows.flatMap(({ blobId }) => blobId ?? []);
  };

  return {
    async insert(row) {
      await execute(file.insert(row));
    },
    find: (scope, id) => file.row(session)(sql`${files} WHERE id = ${id} AND ${uploadedBy(scope)}`),
    byId: (id) => file.row(session)(sql`${files} WHERE id = ${id}`),
    list: (...query) => listFiles(session, ...query),
    complete: (id, { blobId, bytes, sha256, expiresAt }) =>
      changed(sql`
        UPDATE file SET ${join(file.set({ status: "uploaded", blobId, bytes, sha256, expiresAt }))}
        WHERE id = ${id} AND status = 'pending'`),
    fail: (id, error, now) =>
      changed(
        sql`UPDATE file SET status = 'error', error = ${error}, deleted_at = ${now} WHERE id = ${id} AND status = 'pending'`,
      ),
    extendWindow: (id, until) =>
      changed(sql`
        UPDATE file SET upload_until = CASE WHEN upload_until < ${until} THEN ${until} ELSE upload_until END
        WHERE id = ${id} AND status = 'pending'`),
    async restoreWindow(id, was, until) {
      await execute(
        sql`UPDATE file SET upload_until = ${until} WHERE id = ${id} AND status = 'pending' AND upload_until = ${was}`,
      );
    },
    remove: (scope, id, now) =>
      removed.row(session)(sql`
        UPDATE file SET status = 'deleted', deleted_at = ${now} WHERE id = ${id} AND ${uploadedBy(scope)} AND ${isAvailable(now)}
        RETURNING ${removed.of("file")}`),
    adoptWorkerUpload: ({ blobId, taskId, from }, { accountId, clientId }, now) =>
      file.row(session)(sql`
        UPDATE file SET account_id = ${accountId}, client_id = ${clientId}, expires_at = NULL
        WHERE task_id = ${taskId} AND blob_id = ${blobId} AND account_id = ${from} AND status = 'uploaded' AND expires_at > ${now}
        RETURNING ${file.of("file")}`),
    async adoptUpload(scope, { uploadId, fileId }, now) {
      const upload = await file.row(session)(sql`
        DELETE FROM file WHERE id = ${uploadId} AND ${uploadedBy(scope)} AND status = 'uploaded' AND expires_at > ${now}
        RETURNING ${file.of("file")}`);
      if (upload?.blobId == null || upload.bytes === null) return "no upload";
      const { blobId, bytes, sha256 } = upload;
      const filled = file.set({ status: "uploaded", blobId, bytes, sha256, error: null });
      const isFilled = await changed(sql`
        UPDATE file SET ${join(filled)} WHERE id = ${fileId} AND task_id IS NOT NULL AND status = 'error' AND blob_id IS NULL`);
      return isFilled ? { blobId, bytes } : "no file";
    },
    async deleteWorkerUpload({ id, taskId, from }, now) {
      const [blobId = null] = await blobs(sql`
        DELETE FROM file WHERE id = ${id} AND task_id = ${taskId} AND account_id = ${from} AND status = 'uploaded' AND expires_at > ${now}`);
      return blobId;
    },
    deleteArtifacts: (taskId) => blobs(sql`DELETE FROM file WHERE task_id = ${taskId}`),
    expire: (now, max) =>
      blobs(sql`
        UPDATE file SET status = 'deleted', deleted_at = expires_at WHERE status = 'uploaded' AND id IN (
          SELECT id FROM file WHERE status = 'uploaded' AND expires_at IS NOT NULL AND expires_at <= ${now} ORDER BY expires_at LIMIT ${max})`),
    closeWindows: (now, max) =>
      execute(sql`
        UPDATE file SET status = 'error', error = ${windowExpired}, deleted_at = upload_until
        WHERE status = 'pending' AND upload_until <= ${now} AND id IN (
          SELECT id FROM file WHERE status = 'pending' AND upload_until <= ${now} ORDER BY upload_until LIMIT ${max})`),
    purge: (before) => execute(sql`DELETE FROM file WHERE deleted_at IS NOT NULL AND deleted_at < ${before}`),
  };
}

/** The rows that a page examines. A page is short when fewer of them match. */
const examinedMax = 5_000;
const position = file.pick("createdAt", "id");

/** Lists files at a cost that does not depend on their number. */
async function listFiles(
  session: Session,
  scope: Scope,
  { taskId, origin, filenameContains = "" }: FileFilter,
  { limit, after }: FilePage,
  now: number,
): Promise<FileList> {
  const owned = taskId === undefined ? fromOrigin(scope, origin) : artifactsOf(scope, taskId);
  const beyond = after === undefined ? [] : [sql`(created_at, id) < (${after.createdAt}, ${after.id})`];
  const examined = sql`FROM file WHERE ${allOf([owned, ...beyond])} ORDER BY created_at DESC, id DESC LIMIT`;
  const named = likeIgnoringCase(session.dialect, sql`filename`, `%${escapeLike(filenameContains)}%`);
  const found = await file.rows(session)(sql`
    SELECT ${file.of("f")} FROM (SELECT * ${examined} ${examinedMax}) f
    WHERE ${allOf([isAvailable(now), ...(filenameContains === "" ? [] : [named])])} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`);
  if (found.length > limit) return { files: found.slice(0, limit), next: found[limit - 1] };
  const last = await position.row(session)(
    sql`SELECT ${position.of("file")} ${examined} 1 OFFSET ${examinedMax - 1}`,
  );
  return { files: found, ...(last === null ? {} : { next: last }) };
}

/** The caller has checked access to the task. A worker's uploads for it belong to the worker. */
const artifactsOf = ({ accountId, spaceId }: Scope, taskId: string): Sql =>
  sql`task_id = ${taskId} AND account_id = ${accountId} AND space_id = ${spaceId}`;

/** Artifacts are seen as their tasks are. */
function fromOrigin(scope: Scope, origin: FileFilter["origin"]): Sql {
  if (origin === undefined) return uploadedBy(scope);
  const { accountId, spaceId } = scope;
  const made = sql`account_id = ${accountId} AND space_id = ${spaceId} AND task_id IS NOT NULL
    AND EXISTS (SELECT 1 FROM task t WHERE t.id = file.task_id AND ${visible(scope)})`;
  // The owner again: it keeps the choice in the order of the index.
  return origin === "tasks"
    ? made
    : sql`account_id = ${accountId} AND space_id = ${spaceId} AND (${uploadedBy(scope)} OR ${made})`;
}

/**
 * An app and a key that is limited to projects see only the files that they uploaded (spec/decisions.md 26,
 * spec/api.md 8.108).
 */
function uploadedBy({ accountId, spaceId, clientId, within }: Scope): Sql {
  const conditions = [sql`account_id = ${accountId}`, sql`space_id = ${spaceId}`, sql`task_id IS NULL`];
  if (clientId !== undefined) conditions.push(sql`client_id = ${clientId}`);
  if (within !== undefined) conditions.push(sql`api_key_id = ${within.apiKeyId}`);
  return allOf(conditions);
}

/** Not deleted and not expired: an upload expires after 48 hours. */
const isAvailable = (now: number): Sql =>
  sql`status <> 'deleted' AND NOT (status = 'uploaded' AND expires_at IS NOT NULL AND expires_at <= ${now})`;
