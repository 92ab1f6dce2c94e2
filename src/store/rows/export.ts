import {
  type ComplianceExport,
  type Export,
  type ExportKind,
  type ExportOf,
  type ExportRows,
  type ExportStatus,
  type ExportTransition,
  exportTransitions,
  type NewExport,
  type SubjectRef,
  type SubjectRows,
} from "../../core/exports/export.ts";
import type { CountedPage, OffsetPage } from "../../core/pagination/page.ts";
import type { Session } from "../session.ts";
import { join, type Sql, sql } from "../statements.ts";
import { boolean, integer, type RowOf, tables } from "../table.ts";
import { taskRecordRows } from "./task-record.ts";

const subject = tables.membership.pick("accountId", "teamId");

/** People as memberships: the tombstone of a removed membership keeps account and address. */
function subjectRows(session: Session): SubjectRows {
  return {
    subject: (spaceId, ref) =>
      subject.row(session)(sql`
        SELECT ${subject.of("membership")} FROM membership WHERE space_id = ${spaceId} AND ${matchesSubject(ref)}
        ORDER BY CASE WHEN status = 'removed' THEN 2 WHEN ${matchesCurrent(ref)} THEN 0 ELSE 1 END, removed_at DESC, created_at DESC, id LIMIT 1`),
  };
}

function matchesSubject(ref: SubjectRef): Sql {
  if ("accountId" in ref) return sql`account_id = ${ref.accountId}`;
  if ("email" in ref) return hasAddress(ref.email);
  return sql`(account_id = ${ref.either} OR ${hasAddress(ref.either)})`;
}

/** Matches the membership's current address. An id always matches. */
function matchesCurrent(ref: SubjectRef): Sql {
  if ("accountId" in ref) return sql`1 = 1`;
  if ("email" in ref) return sql`lower(email) = ${ref.email.toLowerCase()}`;
  return sql`(account_id = ${ref.either} OR lower(email) = ${ref.either.toLowerCase()})`;
}

const hasAddress = (address: string): Sql => {
  const folded = address.toLowerCase();
  return sql`(lower(email) = ${folded} OR lower(original_email) = ${folded})`;
};

const { export: archives } = tables;
const ids = archives.pick("id");
const blobs = archives.pick("blobId");
const stored = archives.pick("id", "blobId", "bytes");
const removed = archives.pick("blobId", "purgedAt");
/** An export `e` of a page, with the number of all exports. An empty page has one row, without an export. */
const listed = archives.with({
  found: integer(sql`counted.found`),
  isThere: boolean(sql`(e.id IS NOT NULL)`),
});
const found = sql`SELECT ${archives.of("export")} FROM export`;

/** Exports as rows. Writes of a process that makes an archive are conditional on its claim. */
export function exportRows(session: Session): ExportRows {
  const { execute } = session;
  const one = async (statement: Sql): Promise<Export | null> => {
    const row = await archives.row(session)(statement);
    return row && exportOf(row);
  };
  async function listPage<K extends ExportKind>(
    kind: K,
    of: Sql,
    { limit, offset }: OffsetPage,
  ): Promise<CountedPage<ExportOf<K>>> {
    const theirs = sql`${of} AND kind = ${kind}`;
    const rows = await listed.rows(session)(sql`
      SELECT ${listed.of("e")} FROM (SELECT COUNT(*) AS found FROM export WHERE ${theirs}) counted
      LEFT JOIN (${found} WHERE ${theirs} ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}) e ON 1 = 1
      ORDER BY e.created_at DESC, e.id DESC`);
    const made = rows.filter(({ isThere }) => isThere).map(exportOf);
    return { items: made.filter((each) => isOf(kind, each)), total: rows[0]?.found ?? 0 };
  }
  const changed = async (statement: Sql): Promise<boolean> => (await execute(statement)) === 1;

  return {
    ...subjectRows(session),
    ...taskRecordRows(session),
    async insert(requested) {
      const inserted = await execute(sql`
        ${archives.insert(newRow(requested))} ON CONFLICT (space_id) WHERE kind = 'compliance' AND completed_at IS NULL DO NOTHING`);
      return inserted === 1;
    },
    async find(kind, spaceId, id) {
      const made = await one(sql`${found} WHERE id = ${id} AND space_id = ${spaceId} AND kind = ${kind}`);
      return made && isOf(kind, made) ? made : null;
    },
    byId: (id) => one(sql`${found} WHERE id = ${id}`),
    list: (spaceId, accountId, page) =>
      listPage("data", sql`space_id = ${spaceId} AND account_id = ${accountId}`, page),
    listCompliance: (spaceId, page) => listPage("compliance", sql`space_id = ${spaceId}`, page),
    claim: (id, now, leaseUntil) =>
      one(sql`
        UPDATE export SET status = ${exportTransitions.claim.to}, claims = claims + 1, fence = fence + 1, lease_until = ${leaseUntil}
        WHERE id = ${id} AND ${may("claim")} AND (lease_until IS NULL OR lease_until <= ${now}) RETURNING ${archives.of("export")}`),
    progress: (id, fence, { done, total }, leaseUntil) =>
      changed(
        sql`UPDATE export SET done = ${done}, total = ${total}, lease_until = ${leaseUntil} WHERE ${held(id, fence)}`,
      ),
    complete: (id, fence, { blobId, bytes, sha256, eventCount }, now) =>
      changed(sql`
        UPDATE export SET ${ended("complete", now)}, blob_id = ${blobId}, bytes = ${bytes}, sha256 = ${sha256}, event_count = ${eventCount}, done = total
        WHERE ${held(id, fence)}`),
    fail: (id, fence, error, now) =>
      changed(sql`UPDATE export SET ${ended("fail", now)}, error = ${error} WHERE ${held(id, fence)}`),
    release: (id, fence) =>
      changed(sql`UPDATE export SET lease_until = NULL, claims = claims - 1 WHERE ${held(id, fence)}`),
    cancel: (id, now) =>
      changed(
        sql`UPDATE export SET ${ended("cancel", now)}, fence = fence + 1 WHERE id = ${id} AND ${may("cancel")}`,
      ),
    async remove(id) {
      const row = await removed.row(session)(sql`
        DELETE FROM export WHERE id = ${id} AND completed_at IS NOT NULL RETURNING ${removed.of("export")}`);
      if (!row) return null;
      return row.blobId === null || row.purgedAt !== null ? [] : [row.blobId];
    },
    async unclaimed(now, max) {
      const rows = await ids.rows(session)(sql`
        SELECT ${ids.of("export")} FROM export WHERE completed_at IS NULL AND (lease_until IS NULL OR lease_until <= ${now}) ORDER BY created_at, id LIMIT ${max}`);
      return rows.map(({ id }) => id);
    },
    async purge(until, now, max) {
      const rows = await blobs.rows(session)(sql`
        UPDATE export SET purged_at = ${now} WHERE status = 'completed' AND purged_at IS NULL AND id IN (
          SELECT id FROM export WHERE status = 'completed' AND purged_at IS NULL AND completed_at <= ${until} ORDER BY completed_at LIMIT ${max})
        RETURNING ${blobs.of("export")}`);
      return rows.flatMap(({ blobId }) => blobId ?? []);
    },
    async listArchives() {
      const rows = await stored.rows(session)(sql`
        SELECT ${stored.of("e")} FROM export e WHERE status = 'completed' AND purged_at IS NULL ORDER BY id`);
      return rows.flatMap(({ id, blobId, bytes }) =>
        blobId === null || bytes === null ? [] : [{ exportId: id, blobId, bytes }],
      );
    },
  };
}

const may = (step: keyof typeof exportTransitions): Sql => {
  const { from }: ExportTransition = exportTransitions[step];
  return sql`status IN (${join([...from])})`;
};

/** The export is held by its last claim, and was not released. */
const held = (id: string, fence: number): Sql =>
  sql`id = ${id} AND fence = ${fence} AND lease_until IS NOT NULL AND ${may("complete")}`;

const ended = (step: "complete" | "fail" | "cancel", now: number): Sql =>
  sql`status = ${exportTransitions[step].to}, completed_at = ${now}, lease_until = NULL`;

const newRow = (requested: NewExport) => {
  const status: ExportStatus = "pending";
  if (requested.kind === "data") return { ...requested, status };
  return { ...requested, status, accountId: requested.requestedBy, scope: "steps" as const };
};

type ExportRow = RowOf<typeof archives>;

/** Only the filter of a `compliance` export has names; its scope is `steps`. */
function exportOf(row: ExportRow): Export {
  const { accountId, scope, filter } = row;
  if ("names" in filter) return { ...commonOf(row), kind: "compliance", filter };
  if (scope === "steps") throw new Error(`the export ${row.id} has no scope`);
  return { ...commonOf(row), kind: "data", accountId, scope, filter };
}

function commonOf(row: ExportRow): Omit<ComplianceExport, "kind" | "filter"> {
  const {
    id,
    spaceId,
    requestedBy,
    status,
    reason,
    done,
    total,
    claims,
    fence,
    leaseUntil,
    error,
    createdAt,
    completedAt,
    purgedAt,
  } = row;
  const request = { id, spaceId, requestedBy, reason, createdAt };
  const state = {
    status,
    progress: { done, total },
    claims,
    fence,
    leaseUntil,
    error,
    completedAt,
    purgedAt,
  };
  return { ...request, ...state, archive: archiveOf(row) };
}

const archiveOf = ({ blobId, bytes, sha256, eventCount }: ExportRow): Export["archive"] =>
  blobId === null || bytes === null || sha256 === null ? null : { blobId, bytes, sha256, eventCount };

const isOf = <K extends ExportKind>(kind: K, made: Export): made is ExportOf<K> => made.kind === kind;
