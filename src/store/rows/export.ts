import type {
  ComplianceExport,
  DataExport,
  Export,
  ExportKind,
  ExportOf,
  ExportRows,
  ExportScope,
  NewExport,
} from "../../core/exports/export.ts";
import { type ExportStatus, type ExportStep, exportSteps } from "../../core/exports/lifecycle.ts";
import type { Session } from "../session.ts";
import { insertInto, join, numberOf, numberOrNull, type Sql, sql, type Whole } from "../sql.ts";
import { subjectRows } from "./export-subject.ts";
import { taskRecordRows } from "./task-record.ts";

interface ExportRow {
  readonly id: string;
  readonly space_id: string;
  readonly kind: string;
  readonly account_id: string;
  readonly requested_by: string;
  readonly status: string;
  readonly scope: string;
  readonly filter: string;
  readonly reason: string;
  readonly done: Whole;
  readonly total: Whole;
  readonly claims: Whole;
  readonly fence: Whole;
  readonly lease_until: Whole | null;
  readonly blob_id: string | null;
  readonly bytes: Whole | null;
  readonly sha256: string | null;
  readonly event_count: Whole | null;
  readonly error: string | null;
  readonly created_at: Whole;
  readonly completed_at: Whole | null;
  readonly purged_at: Whole | null;
}

/** A page without exports: a row of nulls beside their number. */
interface Empty {
  readonly id: null;
}

const columns = sql`id, space_id, kind, account_id, requested_by, status, scope, filter, reason, done, total, claims, fence, lease_until,
  blob_id, bytes, sha256, event_count, error, created_at, completed_at, purged_at`;

/** Exports as rows: what is written of a making is guarded by its claim. */
export function exportRows(session: Session): ExportRows {
  const { query, execute } = session;
  const one = async (statement: Sql): Promise<Export | null> => {
    const [row] = await query<ExportRow>(statement);
    return row ? exportOf(row) : null;
  };
  const changed = async (statement: Sql): Promise<boolean> => (await execute(statement)) === 1;

  return {
    ...subjectRows(session),
    ...taskRecordRows(session),
    async insert(wanted) {
      const inserted = await execute(sql`
        ${insertInto("export", [columnsOf(wanted)])} ON CONFLICT (space_id) WHERE kind = 'compliance' AND completed_at IS NULL DO NOTHING`);
      return inserted === 1;
    },
    find: <K extends ExportKind>(kind: K, spaceId: string, id: string) =>
      // The statement asks for the kind.
      one(sql`SELECT ${columns} FROM export WHERE id = ${id} AND space_id = ${spaceId} AND kind = ${kind}`) as Promise<ExportOf<K> | null>,
    byId: (id) => one(sql`SELECT ${columns} FROM export WHERE id = ${id}`),
    async list(spaceId, accountId, { limit, offset }) {
      const theirs = sql`space_id = ${spaceId} AND account_id = ${accountId} AND kind = 'data'`;
      const rows = await query<(ExportRow | Empty) & { readonly found: Whole }>(sql`
        SELECT counted.found, e.* FROM (SELECT COUNT(*) AS found FROM export WHERE ${theirs}) counted
        LEFT JOIN (SELECT ${columns} FROM export WHERE ${theirs} ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}) e ON 1 = 1
        ORDER BY e.created_at DESC, e.id DESC`);
      return { items: rows.flatMap((row) => (row.id === null ? [] : dataExportOf(row))), total: numberOf(rows[0]?.found ?? 0) };
    },
    claim: (id, now, leaseUntil) =>
      one(sql`
        UPDATE export SET status = ${exportSteps.claim.to}, claims = claims + 1, fence = fence + 1, lease_until = ${leaseUntil}
        WHERE id = ${id} AND ${may("claim")} AND (lease_until IS NULL OR lease_until <= ${now}) RETURNING ${columns}`),
    progress: (id, fence, { done, total }, leaseUntil) =>
      changed(sql`UPDATE export SET done = ${done}, total = ${total}, lease_until = ${leaseUntil} WHERE ${held(id, fence)}`),
    complete: (id, fence, { blobId, bytes, sha256, eventCount }, now) =>
      changed(sql`
        UPDATE export SET ${ended("complete", now)}, blob_id = ${blobId}, bytes = ${bytes}, sha256 = ${sha256}, event_count = ${eventCount}, done = total
        WHERE ${held(id, fence)}`),
    fail: (id, fence, error, now) => changed(sql`UPDATE export SET ${ended("fail", now)}, error = ${error} WHERE ${held(id, fence)}`),
    release: (id, fence) => changed(sql`UPDATE export SET lease_until = NULL, claims = claims - 1 WHERE ${held(id, fence)}`),
    cancel: (id, now) => changed(sql`UPDATE export SET ${ended("cancel", now)}, fence = fence + 1 WHERE id = ${id} AND ${may("cancel")}`),
    async loose(now, max) {
      const rows = await query<Pick<ExportRow, "id">>(sql`
        SELECT id FROM export WHERE completed_at IS NULL AND (lease_until IS NULL OR lease_until <= ${now}) ORDER BY created_at, id LIMIT ${max}`);
      return rows.map(({ id }) => id);
    },
    async purge(until, now, max) {
      const rows = await query<Pick<ExportRow, "blob_id">>(sql`
        UPDATE export SET purged_at = ${now} WHERE status = 'completed' AND purged_at IS NULL AND id IN (
          SELECT id FROM export WHERE status = 'completed' AND purged_at IS NULL AND completed_at <= ${until} ORDER BY completed_at LIMIT ${max})
        RETURNING blob_id`);
      return rows.flatMap(({ blob_id }) => blob_id ?? []);
    },
  };
}

const may = (step: keyof typeof exportSteps): Sql => {
  const { from }: ExportStep = exportSteps[step];
  return sql`status IN (${join([...from])})`;
};

/** By whoever claimed it last, and has not given it back. */
const held = (id: string, fence: number): Sql => sql`id = ${id} AND fence = ${fence} AND lease_until IS NOT NULL AND ${may("complete")}`;

const ended = (step: "complete" | "fail" | "cancel", now: number): Sql =>
  sql`status = ${exportSteps[step].to}, completed_at = ${now}, lease_until = NULL`;

const columnsOf = (wanted: NewExport) => ({
  id: wanted.id,
  space_id: wanted.spaceId,
  kind: wanted.kind,
  account_id: wanted.kind === "data" ? wanted.accountId : wanted.requestedBy,
  requested_by: wanted.requestedBy,
  status: "pending" satisfies ExportStatus,
  scope: wanted.kind === "data" ? wanted.scope : "steps",
  filter: JSON.stringify(wanted.filter),
  reason: wanted.reason,
  created_at: wanted.createdAt,
});

const exportOf = (row: ExportRow): Export => (row.kind === "data" ? dataExportOf(row) : complianceExportOf(row));

/** Words and JSON were written by this program, so they are believed. */
const dataExportOf = (row: ExportRow): DataExport => ({
  ...madeOf(row),
  kind: "data",
  accountId: row.account_id,
  scope: row.scope as ExportScope,
  filter: JSON.parse(row.filter) as DataExport["filter"],
});

const complianceExportOf = (row: ExportRow): ComplianceExport => ({
  ...madeOf(row),
  kind: "compliance",
  filter: JSON.parse(row.filter) as ComplianceExport["filter"],
});

/** What exports of all kinds have. */
const madeOf = (row: ExportRow): Omit<ComplianceExport, "kind" | "filter"> => ({
  id: row.id,
  spaceId: row.space_id,
  requestedBy: row.requested_by,
  status: row.status as ExportStatus,
  reason: row.reason,
  progress: { done: numberOf(row.done), total: numberOf(row.total) },
  claims: numberOf(row.claims),
  fence: numberOf(row.fence),
  leaseUntil: numberOrNull(row.lease_until),
  archive: archiveOf(row),
  error: row.error,
  createdAt: numberOf(row.created_at),
  completedAt: numberOrNull(row.completed_at),
  purgedAt: numberOrNull(row.purged_at),
});

const archiveOf = ({ blob_id: blobId, bytes, sha256, event_count: count }: ExportRow): Export["archive"] =>
  blobId === null || bytes === null || sha256 === null ? null : { blobId, bytes: numberOf(bytes), sha256, eventCount: numberOrNull(count) };
