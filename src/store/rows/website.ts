import type { CheckpointRows } from "../../core/websites/checkpoint.ts";
import type { Website, WebsiteRows } from "../../core/websites/website.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, inTexts, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, type RowOf, tables, text } from "../table.ts";

const { checkpoint: checkpointShape, checkpointFile } = tables;
const fileShape = checkpointFile.pick("path", "blobId", "bytes", "sha256", "contentType");
const blobOfHash = checkpointFile.pick("sha256").with({ blobId: text(sql`MIN(f.blob_id)`) });
const counted = computedShape({ files: integer(sql`COUNT(*)`), kept: integer(sql`COUNT(b.id)`) });
const checkpoints = sql`SELECT ${checkpointShape.of("checkpoint")} FROM checkpoint`;
/** Rows per statement: each has six parameters. */
const batchRows = 200;

export function checkpointRows(session: Session): CheckpointRows {
  const { dialect, execute } = session;
  return {
    async insert(checkpoint, files) {
      await execute(checkpointShape.insert(checkpoint));
      for (let at = 0; at < files.length; at += batchRows) {
        const rows = files
          .slice(at, at + batchRows)
          .map((file) => ({ ...file, checkpointId: checkpoint.id }));
        await execute(checkpointFile.insertAll(rows));
      }
    },
    list: (websiteId) =>
      checkpointShape.rows(session)(sql`
        ${checkpoints} WHERE website_id = ${websiteId} ORDER BY created_at DESC, id DESC`),
    latest: (websiteId) =>
      checkpointShape.row(session)(sql`
        ${checkpoints} WHERE website_id = ${websiteId} AND status = 'success' ORDER BY created_at DESC, id DESC LIMIT 1`),
    async file(checkpointId, paths) {
      const found = await fileShape.rows(session)(sql`
        SELECT ${fileShape.of("checkpoint_file")} FROM checkpoint_file
        WHERE checkpoint_id = ${checkpointId} AND path ${inTexts(dialect, paths)}`);
      return paths.flatMap((path) => found.find((file) => file.path === path) ?? [])[0] ?? null;
    },
    async findBlobs(websiteId, hashes) {
      const rows = await blobOfHash.rows(session)(sql`
        SELECT ${blobOfHash.of("f")} FROM checkpoint_file f
        JOIN checkpoint c ON c.id = f.checkpoint_id JOIN blob b ON b.id = f.blob_id AND b.state = 'kept'
        WHERE c.website_id = ${websiteId} AND f.sha256 ${inTexts(dialect, hashes)} GROUP BY f.sha256`);
      return new Map(rows.map(({ sha256, blobId }) => [sha256, blobId]));
    },
    async isComplete(checkpointId) {
      const row = await counted.row(session)(sql`
        SELECT ${counted.of("f")} FROM checkpoint_file f
        LEFT JOIN blob b ON b.id = f.blob_id AND b.state = 'kept' WHERE f.checkpoint_id = ${checkpointId}`);
      return row !== null && row.files > 0 && row.files === row.kept;
    },
    async delete(websiteId, checkpointId) {
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

const { website } = tables;
const siteShape = website.pick(
  "id",
  "spaceId",
  "accountId",
  "taskId",
  "label",
  "title",
  "visibility",
  "maxVisibility",
  "status",
  "statusAt",
  "liveId",
  "publishingId",
  "publishingAs",
  "createdAt",
  "updatedAt",
  "teamMax",
);
const erased = website.pick("id", "liveId", "sharedAt");

export function websiteRows(session: Session): WebsiteRows {
  const { dialect, execute } = session;
  const lockRow = dialect === "sqlite" ? empty : sql`FOR UPDATE`;

  const one = (where: Sql, tail: Sql = empty): Promise<Website | null> =>
    siteShape.row(session)(sql`
      SELECT ${siteShape.of("website")} FROM website WHERE ${where} AND deleted_at IS NULL ${tail}`);
  const set = (id: string, members: Parameters<typeof website.set>[0], and: Sql = empty) =>
    execute(sql`UPDATE website SET ${join(website.set(members))} WHERE id = ${id} ${and}`);

  /**
   * Older releases did not write `shared_at`. It keeps the share of a site that was online, which has no live
   * checkpoint afterwards.
   */
  const takeOffline = (id: string, now: number, and: Sql) =>
    execute(sql`
      UPDATE website SET ${and}, updated_at = ${now}, status = 'unpublished', status_at = ${now},
        shared_at = CASE WHEN live_id IS NULL THEN shared_at ELSE COALESCE(shared_at, created_at) END,
        live_id = NULL, publishing_id = NULL, publishing_as = NULL
      WHERE id = ${id}`);

  /** Deletes a site whose row is locked. A tombstone has its share: title, time and visibility. */
  async function erase(
    { id, liveId, sharedAt }: RowOf<typeof erased>,
    now: number,
    personal: boolean,
  ): Promise<void> {
    await eraseContents(session, id);
    if (personal || (liveId === null && sharedAt === null))
      await execute(sql`DELETE FROM website WHERE id = ${id}`);
    else await takeOffline(id, now, sql`deleted_at = ${now}`);
  }

  const lockErased = (where: Sql) =>
    erased.rows(session)(
      sql`SELECT ${erased.of("website")} FROM website WHERE ${where} AND deleted_at IS NULL ${lockRow}`,
    );

  return {
    async insert(site) {
      await execute(website.insert(site));
    },
    list: ({ accountId, spaceId }, { limit, after }) =>
      siteShape.rows(session)(sql`
        SELECT ${siteShape.of("website")} FROM website
        WHERE space_id = ${spaceId} AND account_id = ${accountId} AND deleted_at IS NULL
          ${after ? sql`AND (created_at, id) < (${after.createdAt}, ${after.id})` : empty}
        ORDER BY created_at DESC, id DESC LIMIT ${limit}`),
    byId: (id) => one(sql`id = ${id}`),
    byLabel: (label) => one(sql`label = ${label}`),
    ofTask: (taskId) => one(sql`task_id = ${taskId}`, sql`ORDER BY created_at, id LIMIT 1`),
    async lock(id) {
      changeOf(session);
      return one(sql`id = ${id}`, lockRow);
    },
    async begin(id, { checkpointId, visibility }, now) {
      await set(id, {
        status: "publishing",
        statusAt: now,
        publishingId: checkpointId,
        publishingAs: visibility,
        updatedAt: now,
      });
    },
    async goLive(id, checkpointId, now) {
      const count = await execute(sql`
        UPDATE website SET status = 'published', status_at = ${now}, updated_at = ${now}, live_id = publishing_id, visibility = publishing_as,
          publishing_id = NULL, publishing_as = NULL,
          shared_at = COALESCE(shared_at, CASE WHEN live_id IS NULL THEN ${now} ELSE created_at END)
        WHERE id = ${id} AND status = 'publishing' AND publishing_id = ${checkpointId}`);
      return count === 1;
    },
    async fail(id, checkpointId, now) {
      const failed: Partial<Website> = {
        status: "failed",
        statusAt: now,
        updatedAt: now,
        publishingId: null,
        publishingAs: null,
      };
      return (
        (await set(id, failed, sql`AND status = 'publishing' AND publishing_id = ${checkpointId}`)) === 1
      );
    },
    async unpublish(id, now) {
      await takeOffline(id, now, sql`visibility = 'private'`);
    },
    async edit(id, { title, visibility }, now) {
      await set(id, { title, visibility, updatedAt: now });
      if (visibility !== undefined)
        await set(id, { publishingAs: visibility }, sql`AND publishing_id IS NOT NULL`);
    },
    async setOperatorCap(id, most, now) {
      return (await set(id, { maxVisibility: most, updatedAt: now })) === 1;
    },
    async setTeamCap(id, most, now) {
      await set(id, { teamMax: most, updatedAt: now });
    },
    async delete(id, now, personal) {
      changeOf(session);
      for (const site of await lockErased(sql`id = ${id}`)) await erase(site, now, personal);
    },
    async deleteOfTask(taskId, now, personal) {
      changeOf(session);
      for (const site of await lockErased(sql`task_id = ${taskId}`)) await erase(site, now, personal);
    },
  };
}

/**
 * Uses statements whose size does not depend on the number of files. An artifact's blob counts toward no
 * account's total.
 */
async function eraseContents({ execute }: Session, websiteId: string): Promise<void> {
  const files = sql`checkpoint_id IN (SELECT id FROM checkpoint WHERE website_id = ${websiteId})`;
  await execute(sql`
    UPDATE blob SET state = 'dropped', lease_until = 0
    WHERE state = 'kept' AND id IN (SELECT blob_id FROM checkpoint_file WHERE ${files})`);
  await execute(sql`DELETE FROM checkpoint_file WHERE ${files}`);
  for (const table of ["checkpoint", "site_visit", "website_viewer", "site_domain"])
    await execute(sql`DELETE FROM ${raw(table)} WHERE website_id = ${websiteId}`);
}
