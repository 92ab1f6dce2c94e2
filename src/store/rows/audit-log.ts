import type { AuditFilter, AuditLogRows, AuditPage, LoggedRow } from "../../core/audit/log.ts";
import type { Session } from "../session.ts";
import { all, direction, numberOrNull, type Sql, sql, type Whole } from "../sql.ts";
import { type AuditEventRow, auditColumns, auditRowOf } from "./audit-chain.ts";

interface LoggedEventRow extends AuditEventRow {
  readonly seq: Whole | null;
  readonly hash: string | null;
}

/** The audit log as it is read. */
export const auditLogRows = ({ query }: Session): AuditLogRows => ({
  async list(spaceId, filter, page) {
    const rows = await query<LoggedEventRow>(sql`
      SELECT ${auditColumns}, seq, hash FROM audit_event
      WHERE ${all([sql`space_id = ${spaceId}`, ...chosen(filter), ...beyond(page)])}
      ORDER BY at ${direction(page.order)}, id ${direction(page.order)} LIMIT ${page.limit}`);
    return rows.map((row): LoggedRow => ({ ...auditRowOf(row), seq: numberOrNull(row.seq), hash: row.hash }));
  },
});

function chosen({ from, before, accountId, credential, operation, outcome, subject, requestId }: AuditFilter): Sql[] {
  return [
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(before === undefined ? [] : [sql`at < ${before}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(credential === undefined ? [] : [sql`credential = ${credential}`]),
    ...(operation === undefined ? [] : [sql`operation = ${operation}`]),
    ...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
    ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
    ...(requestId === undefined ? [] : [sql`request_id = ${requestId}`]),
  ];
}

function beyond({ after, order }: AuditPage): Sql[] {
  if (!after) return [];
  return [order === "asc" ? sql`(at, id) > (${after.at}, ${after.id})` : sql`(at, id) < (${after.at}, ${after.id})`];
}
