import type { MemberStatus, Role } from "../../core/accounts/account.ts";
import type { ArchiveRows, Packed, PackedMember } from "../../core/exports/archive-rows.ts";
import type { Dialect, Session } from "../session.ts";
import { all, empty, memberOf, numberOf, numberOrNull, type Sql, sql, type Whole } from "../sql.ts";
import { eventPages } from "./event-page.ts";
import { type FileRow, fileColumns, fileOf } from "./file.ts";
import { type SkillRow, skillOf, skillsFrom } from "./skill.ts";
import { type RecordColumns, recordColumns, recordOf } from "./task-record.ts";
import { begun } from "./task-view.ts";

/** What may bring files. */
const attaches = sql`AND type IN ('user_message', 'assistant_message') AND payload LIKE '%"attachments":[{%'`;

/** What archives are made of, each page by one statement, or two where rows may be large. */
export function archiveRows({ query, dialect }: Session): ArchiveRows {
  const page = eventPages({ query });
  return {
    async count(wanted) {
      const [row] = await query<{ readonly found: Whole }>(sql`SELECT COUNT(*) AS found FROM task t WHERE ${chosen(dialect, wanted)}`);
      return numberOf(row?.found ?? 0);
    },
    async tasks(wanted, after, limit) {
      const beyond = after === null ? empty : sql`AND (t.created_at, t.id) > (${after.createdAt}, ${after.id})`;
      const rows = await query<RecordColumns & { readonly last_seq: Whole }>(sql`
        SELECT ${recordColumns}, t.last_seq FROM task t WHERE ${chosen(dialect, wanted)} ${beyond}
        ORDER BY t.created_at, t.id LIMIT ${limit}`);
      return rows.map((row) => ({ ...recordOf(row), lastSeq: numberOf(row.last_seq) }));
    },
    events: (taskId, afterSeq, lastSeq) => page(taskId, afterSeq, lastSeq, empty),
    attaching: (taskId, afterSeq, lastSeq) => page(taskId, afterSeq, lastSeq, attaches),
    async attached(taskIds) {
      const rows = await query<{ readonly task_id: string }>(sql`
        SELECT DISTINCT task_id FROM task_event WHERE task_id ${memberOf(dialect, taskIds)} ${attaches}`);
      return new Set(rows.map(({ task_id }) => task_id));
    },
    async files(ids) {
      return (await query<FileRow>(sql`SELECT ${fileColumns} FROM file WHERE id ${memberOf(dialect, ids)}`)).map(fileOf);
    },
    async skills({ spaceId, accountId, includeDeleted, startTime, endTime }, after, limit) {
      const projects = sql`SELECT p.id FROM project p WHERE p.space_id = ${spaceId} AND p.account_id = ${accountId}`;
      const conditions = [sql`s.space_id = ${spaceId}`, sql`(s.account_id = ${accountId} OR s.project_id IN (${projects}))`];
      if (!includeDeleted) conditions.push(sql`s.deleted_at IS NULL`);
      if (startTime !== null) conditions.push(sql`s.created_at >= ${startTime}`);
      if (endTime !== null) conditions.push(sql`s.created_at <= ${endTime}`);
      if (after !== null) conditions.push(sql`(s.created_at, s.id) > (${after.createdAt}, ${after.id})`);
      const rows = await query<SkillRow & { readonly deleted_at: Whole | null }>(sql`
        ${skillsFrom} WHERE ${all(conditions)} ORDER BY s.created_at, s.id LIMIT ${limit}`);
      return rows.map((row) => ({ ...skillOf(row), deletedAt: numberOrNull(row.deleted_at) }));
    },
    async memberships(spaceId, accountId) {
      const rows = await query<MemberRow>(sql`
        SELECT m.id, m.team_id, t.name AS team_name, m.account_id, m.email, m.original_email, m.role, m.status, m.created_at, m.removed_at,
          COALESCE(m.name, CASE WHEN m.signed_in_at IS NOT NULL THEN a.name END) AS name,
          CASE WHEN m.signed_in_at IS NOT NULL THEN a.issuer END AS issuer, a.subject
        FROM membership m JOIN team t ON t.id = m.team_id LEFT JOIN account a ON a.id = m.account_id
        WHERE m.space_id = ${spaceId} AND m.account_id = ${accountId} ORDER BY m.created_at, m.id`);
      return rows.map(memberOfRow);
    },
  };
}

function chosen(dialect: Dialect, { spaceId, accountId, includeDeleted, startTime, endTime, ids }: Packed): Sql {
  const conditions = [sql`t.space_id = ${spaceId}`, sql`t.account_id = ${accountId}`, begun];
  if (!includeDeleted) conditions.push(sql`t.deleted_at IS NULL`);
  if (startTime !== null) conditions.push(sql`t.created_at >= ${startTime}`);
  if (endTime !== null) conditions.push(sql`t.created_at <= ${endTime}`);
  if (ids !== null) conditions.push(sql`t.id ${memberOf(dialect, ids)}`);
  return all(conditions);
}

interface MemberRow {
  readonly id: string;
  readonly team_id: string;
  readonly team_name: string;
  readonly account_id: string;
  readonly email: string;
  readonly original_email: string | null;
  readonly name: string | null;
  readonly role: string;
  readonly status: string;
  readonly created_at: Whole;
  readonly removed_at: Whole | null;
  readonly issuer: string | null;
  readonly subject: string | null;
}

/** Words were written by this program, so they are believed. */
const memberOfRow = (row: MemberRow): PackedMember => ({
  ...{ id: row.id, teamId: row.team_id, teamName: row.team_name, accountId: row.account_id },
  ...{ email: row.email, originalEmail: row.original_email, name: row.name },
  role: row.role as Role,
  status: row.status as MemberStatus,
  createdAt: numberOf(row.created_at),
  removedAt: numberOrNull(row.removed_at),
  identity: row.issuer === null || row.subject === null ? null : { issuer: row.issuer, subject: row.subject },
});
