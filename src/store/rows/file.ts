import type { Scope } from "../../core/caller.ts";
import { type FileRows, type FileStatus, type StoredFile, windowExpired } from "../../core/files/file.ts";
import type { Session } from "../session.ts";
import { all, insertInto, numberOf, numberOrNull, type Sql, sql, type Whole } from "../sql.ts";

export interface FileRow {
  readonly id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly client_id: string | null;
  readonly task_id: string | null;
  readonly filename: string;
  readonly content_type: string;
  readonly status: FileStatus;
  readonly blob_id: string | null;
  readonly bytes: Whole | null;
  readonly sha256: string | null;
  readonly error: string | null;
  readonly created_at: Whole;
  readonly upload_until: Whole;
  readonly expires_at: Whole | null;
  readonly deleted_at: Whole | null;
}

export const fileColumns = sql`id, account_id, space_id, client_id, task_id, filename, content_type, status, blob_id, bytes, sha256, error,
  created_at, upload_until, expires_at, deleted_at`;

/** Files as rows. */
export function fileRows({ query, execute }: Session): FileRows {
  const changed = async (statement: Sql): Promise<boolean> => (await execute(statement)) === 1;
  const blobs = async (statement: Sql): Promise<string[]> =>
    (await query<Pick<FileRow, "blob_id">>(statement)).flatMap(({ blob_id }) => blob_id ?? []);

  return {
    async insert(file) {
      await execute(insertInto("file", [columnsOf(file)]));
    },
    async find(scope, id) {
      const [row] = await query<FileRow>(sql`SELECT ${fileColumns} FROM file WHERE id = ${id} AND ${broughtBy(scope)}`);
      return row ? fileOf(row) : null;
    },
    async byId(id) {
      const [row] = await query<FileRow>(sql`SELECT ${fileColumns} FROM file WHERE id = ${id}`);
      return row ? fileOf(row) : null;
    },
    async list(scope, now, limit) {
      const rows = await query<FileRow>(sql`
        SELECT ${fileColumns} FROM file WHERE ${broughtBy(scope)} AND ${living(now)} ORDER BY created_at DESC, id DESC LIMIT ${limit}`);
      return rows.map(fileOf);
    },
    complete: (id, { blobId, bytes, sha256, expiresAt }) =>
      changed(sql`
        UPDATE file SET status = 'uploaded', blob_id = ${blobId}, bytes = ${bytes}, sha256 = ${sha256}, expires_at = ${expiresAt}
        WHERE id = ${id} AND status = 'pending'`),
    fail: (id, error, now) =>
      changed(sql`UPDATE file SET status = 'error', error = ${error}, deleted_at = ${now} WHERE id = ${id} AND status = 'pending'`),
    await: (id, until) =>
      changed(sql`
        UPDATE file SET upload_until = CASE WHEN upload_until < ${until} THEN ${until} ELSE upload_until END
        WHERE id = ${id} AND status = 'pending'`),
    async unawait(id, was, until) {
      await execute(sql`UPDATE file SET upload_until = ${until} WHERE id = ${id} AND status = 'pending' AND upload_until = ${was}`);
    },
    async remove(scope, id, now) {
      const [row] = await query<Pick<FileRow, "blob_id" | "filename">>(sql`
        UPDATE file SET status = 'deleted', deleted_at = ${now} WHERE id = ${id} AND ${broughtBy(scope)} AND ${living(now)} RETURNING blob_id, filename`);
      return row ? { blobId: row.blob_id, filename: row.filename } : null;
    },
    async adopt({ blobId, taskId, from }, { accountId, clientId }, now) {
      const [row] = await query<FileRow>(sql`
        UPDATE file SET account_id = ${accountId}, client_id = ${clientId}, expires_at = NULL
        WHERE task_id = ${taskId} AND blob_id = ${blobId} AND account_id = ${from} AND status = 'uploaded' AND expires_at > ${now}
        RETURNING ${fileColumns}`);
      return row ? fileOf(row) : null;
    },
    async take({ id, taskId, from }, now) {
      const [blobId = null] = await blobs(sql`
        DELETE FROM file WHERE id = ${id} AND task_id = ${taskId} AND account_id = ${from} AND status = 'uploaded' AND expires_at > ${now}
        RETURNING blob_id`);
      return blobId;
    },
    eraseOf: (taskId) => blobs(sql`DELETE FROM file WHERE task_id = ${taskId} RETURNING blob_id`),
    expire: (now, max) =>
      blobs(sql`
        UPDATE file SET status = 'deleted', deleted_at = expires_at WHERE status = 'uploaded' AND id IN (
          SELECT id FROM file WHERE status = 'uploaded' AND expires_at IS NOT NULL AND expires_at <= ${now} ORDER BY expires_at LIMIT ${max})
        RETURNING blob_id`),
    closeWindows: (now, max) =>
      execute(sql`
        UPDATE file SET status = 'error', error = ${windowExpired}, deleted_at = upload_until
        WHERE status = 'pending' AND upload_until <= ${now} AND id IN (
          SELECT id FROM file WHERE status = 'pending' AND upload_until <= ${now} ORDER BY upload_until LIMIT ${max})`),
    purge: (before) => execute(sql`DELETE FROM file WHERE deleted_at IS NOT NULL AND deleted_at < ${before}`),
  };
}

/** To an app only what it brought itself, where it sees no more (contract/decisions.md 26). */
function broughtBy({ accountId, spaceId, clientId }: Scope): Sql {
  const conditions = [sql`account_id = ${accountId}`, sql`space_id = ${spaceId}`, sql`task_id IS NULL`];
  if (clientId !== undefined) conditions.push(sql`client_id = ${clientId}`);
  return all(conditions);
}

/** Not deleted, and its 48 hours not over. */
const living = (now: number): Sql => sql`status <> 'deleted' AND NOT (status = 'uploaded' AND expires_at <= ${now})`;

const columnsOf = (file: StoredFile) => ({
  id: file.id,
  account_id: file.accountId,
  space_id: file.spaceId,
  client_id: file.clientId,
  task_id: file.taskId,
  filename: file.filename,
  content_type: file.contentType,
  status: file.status,
  blob_id: file.blobId,
  bytes: file.bytes,
  sha256: file.sha256,
  error: file.error,
  created_at: file.createdAt,
  upload_until: file.uploadUntil,
  expires_at: file.expiresAt,
  deleted_at: file.deletedAt,
});

export const fileOf = (row: FileRow): StoredFile => ({
  id: row.id,
  accountId: row.account_id,
  spaceId: row.space_id,
  clientId: row.client_id,
  taskId: row.task_id,
  filename: row.filename,
  contentType: row.content_type,
  status: row.status,
  blobId: row.blob_id,
  bytes: numberOrNull(row.bytes),
  sha256: row.sha256,
  error: row.error,
  createdAt: numberOf(row.created_at),
  uploadUntil: numberOf(row.upload_until),
  expiresAt: numberOrNull(row.expires_at),
  deletedAt: numberOrNull(row.deleted_at),
});
