import type { Checkpoint, CheckpointFile, CheckpointRows, CheckpointStatus } from "../../core/websites/checkpoint.ts";
import type { Session } from "../session.ts";
import { insertInto, memberOf, numberOf, sql, type Whole } from "../sql.ts";

interface CheckpointRow {
  readonly id: string;
  readonly website_id: string;
  readonly space_id: string;
  readonly message: string;
  readonly status: CheckpointStatus;
  readonly hash: string;
  readonly created_at: Whole;
}

interface FileRow {
  readonly path: string;
  readonly blob_id: string;
  readonly bytes: Whole;
  readonly sha256: string;
  readonly content_type: string;
}

const columns = sql`id, website_id, space_id, message, status, hash, created_at`;
/** Rows in one statement: each has six parameters. */
const batch = 200;

/** Checkpoints of websites as rows. */
export function checkpointRows({ dialect, query, execute }: Session): CheckpointRows {
  return {
    async insert({ websiteId, spaceId, createdAt, ...checkpoint }, files) {
      await execute(insertInto("checkpoint", [{ ...checkpoint, website_id: websiteId, space_id: spaceId, created_at: createdAt }]));
      for (let at = 0; at < files.length; at += batch) {
        const rows = files.slice(at, at + batch).map(({ blobId, contentType, ...file }) => ({
          ...file,
          ...{ checkpoint_id: checkpoint.id, blob_id: blobId, content_type: contentType },
        }));
        await execute(insertInto("checkpoint_file", rows));
      }
    },
    async list(websiteId) {
      const rows = await query<CheckpointRow>(sql`
        SELECT ${columns} FROM checkpoint WHERE website_id = ${websiteId} ORDER BY created_at DESC, id DESC`);
      return rows.map(checkpointOf);
    },
    async latest(websiteId) {
      const [row] = await query<CheckpointRow>(sql`
        SELECT ${columns} FROM checkpoint WHERE website_id = ${websiteId} AND status = 'success' ORDER BY created_at DESC, id DESC LIMIT 1`);
      return row ? checkpointOf(row) : null;
    },
    async file(checkpointId, paths) {
      const rows = await query<FileRow>(sql`
        SELECT path, blob_id, bytes, sha256, content_type FROM checkpoint_file
        WHERE checkpoint_id = ${checkpointId} AND path ${memberOf(dialect, paths)}`);
      const found = rows.map(fileOf);
      return paths.flatMap((path) => found.find((file) => file.path === path) ?? [])[0] ?? null;
    },
    async blobsOf(websiteId, hashes) {
      const rows = await query<Pick<FileRow, "sha256" | "blob_id">>(sql`
        SELECT f.sha256, MIN(f.blob_id) AS blob_id FROM checkpoint_file f
        JOIN checkpoint c ON c.id = f.checkpoint_id JOIN blob b ON b.id = f.blob_id AND b.state = 'kept'
        WHERE c.website_id = ${websiteId} AND f.sha256 ${memberOf(dialect, hashes)} GROUP BY f.sha256`);
      return new Map(rows.map(({ sha256, blob_id }) => [sha256, blob_id]));
    },
    async isWhole(checkpointId) {
      const [row] = await query<{ readonly files: Whole; readonly kept: Whole }>(sql`
        SELECT COUNT(*) AS files, COUNT(b.id) AS kept FROM checkpoint_file f
        LEFT JOIN blob b ON b.id = f.blob_id AND b.state = 'kept' WHERE f.checkpoint_id = ${checkpointId}`);
      return row !== undefined && numberOf(row.files) > 0 && numberOf(row.files) === numberOf(row.kept);
    },
    async erase(websiteId, checkpointId) {
      await execute(sql`
        UPDATE blob SET state = 'dropped', lease_until = 0
        WHERE state = 'kept' AND id IN (SELECT blob_id FROM checkpoint_file WHERE checkpoint_id = ${checkpointId})
          AND NOT EXISTS (SELECT 1 FROM checkpoint_file f JOIN checkpoint c ON c.id = f.checkpoint_id
            WHERE f.blob_id = blob.id AND c.website_id = ${websiteId} AND c.id <> ${checkpointId})`);
      await execute(sql`DELETE FROM checkpoint_file WHERE checkpoint_id = ${checkpointId}`);
      await execute(sql`DELETE FROM checkpoint WHERE id = ${checkpointId} AND website_id = ${websiteId}`);
    },
  };
}

const checkpointOf = ({ website_id: websiteId, space_id: spaceId, created_at, ...row }: CheckpointRow): Checkpoint => ({
  ...row,
  ...{ websiteId, spaceId, createdAt: numberOf(created_at) },
});

const fileOf = ({ blob_id: blobId, content_type: contentType, bytes, ...row }: FileRow): CheckpointFile => ({
  ...row,
  ...{ blobId, contentType, bytes: numberOf(bytes) },
});
