import type { ArchiveQuery, ArchiveRows } from "../../core/exports/archive-rows.ts";
import type { Session } from "../session.ts";
import { allOf, type Dialect, inTexts, type Sql, sql } from "../statements.ts";
import { countRows, tables } from "../table.ts";

const packedSite = tables.website.pick(
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
  "deletedAt",
  "teamMax",
);
const siteFile = tables.checkpointFile.pick("path", "blobId", "bytes", "sha256", "contentType");

export function archivedWebsites(
  session: Session,
): Pick<ArchiveRows, "countWebsites" | "websites" | "siteFiles"> {
  const { dialect } = session;
  return {
    countWebsites: (query) =>
      countRows(session.scans, sql`FROM website w WHERE ${allOf(conditionsOf(dialect, query))}`),
    async websites(query, after, limit) {
      const conditions = conditionsOf(dialect, query);
      if (after !== null) conditions.push(sql`(w.created_at, w.id) > (${after.createdAt}, ${after.id})`);
      return packedSite.rows(session.scans)(sql`
        SELECT ${packedSite.of("w")} FROM website w WHERE ${allOf(conditions)} ORDER BY w.created_at, w.id LIMIT ${limit}`);
    },
    siteFiles: (checkpointId) =>
      siteFile.rows(session.scans)(sql`
        SELECT ${siteFile.of("f")} FROM checkpoint_file f WHERE f.checkpoint_id = ${checkpointId} ORDER BY f.path`),
  };
}

function conditionsOf(
  dialect: Dialect,
  { spaceId, accountId, includeDeleted, startTime, endTime, ids }: ArchiveQuery,
): Sql[] {
  return [
    sql`w.space_id = ${spaceId}`,
    sql`w.account_id = ${accountId}`,
    ...(includeDeleted ? [] : [sql`w.deleted_at IS NULL`]),
    ...(startTime === null ? [] : [sql`w.created_at >= ${startTime}`]),
    ...(endTime === null ? [] : [sql`w.created_at <= ${endTime}`]),
    ...(ids === null ? [] : [sql`w.id ${inTexts(dialect, ids)}`]),
  ];
}
