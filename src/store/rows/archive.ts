import type { ArchiveQuery, ArchiveRows } from "../../core/exports/archive-rows.ts";
import type { PermissionRule } from "../../core/permissions/rule.ts";
import type { Metadata } from "../../core/tasks/metadata.ts";
import type { TurnRequest } from "../../core/tasks/turn-request.ts";
import type { Session } from "../session.ts";
import { allOf, type Dialect, empty, inTexts, type Sql, sql } from "../statements.ts";
import { countRows, integer, integerOrNull, json, tables, text, textOrNull } from "../table.ts";
import { archivedDeliveries } from "./archive-delivery.ts";
import { archivedWebsites } from "./archive-website.ts";
import { eventPages } from "./event.ts";
import { eventsTogether } from "./events-together.ts";
import { skillShape, skillsFrom } from "./skill.ts";
import { recordShape } from "./task-record.ts";
import { begun } from "./task-row.ts";

const { file } = tables;
const packedTask = recordShape.with({
  lastSeq: integer(sql`t.last_seq`),
  metadata: json<Metadata>(sql`t.metadata`),
  turnRequest: json<TurnRequest | null>(sql`t.turn_request`),
  permissions: json<readonly PermissionRule[]>(sql`t.permissions`),
});
const withEvents = tables.taskEvent.pick("taskId");
const packedSkill = skillShape.with({ deletedAt: integerOrNull(sql`s.deleted_at`) });
const packedMember = tables.membership
  .pick("id", "teamId", "accountId", "email", "originalEmail", "role", "status", "createdAt", "removedAt")
  .with({
    teamName: text(sql`t.name`),
    locale: textOrNull(sql`CASE WHEN m.signed_in_at IS NOT NULL THEN a.locale END`),
    name: textOrNull(sql`COALESCE(m.name, CASE WHEN m.signed_in_at IS NOT NULL THEN a.name END)`),
    issuer: textOrNull(sql`CASE WHEN m.signed_in_at IS NOT NULL THEN a.issuer END`),
    subject: textOrNull(sql`a.subject`),
  })
  .derive("identity", ["issuer", "subject"], (issuer, subject) =>
    issuer === null || subject === null ? null : { issuer, subject },
  );

/** Events that may have attachments. */
const attaches = sql`AND type IN ('user_message', 'assistant_message') AND payload LIKE '%"attachments":[{%'`;

/** The contents of archives. Each page uses one statement, or two where rows may be large. */
export function archiveRows(session: Session): ArchiveRows {
  const { dialect } = session;
  const page = eventPages({ ...session, query: session.scans.query });
  return {
    ...archivedWebsites(session),
    ...archivedDeliveries(session),
    count: (selection) => countRows(session.scans, sql`FROM task t WHERE ${matches(dialect, selection)}`),
    async tasks(selection, after, limit) {
      const beyond =
        after === null ? empty : sql`AND (t.created_at, t.id) > (${after.createdAt}, ${after.id})`;
      return packedTask.rows(session.scans)(sql`
        SELECT ${packedTask.of("t")} FROM task t WHERE ${matches(dialect, selection)} ${beyond}
        ORDER BY t.created_at, t.id LIMIT ${limit}`);
    },
    eventsTogether: eventsTogether(session),
    events: (taskId, afterSeq, lastSeq) =>
      page(taskId, afterSeq, lastSeq, { where: empty, isWanted: () => true }),
    eventsWithFiles: (taskId, afterSeq, lastSeq) => page(taskId, afterSeq, lastSeq, { where: attaches }),
    async tasksWithFiles(taskIds) {
      const rows = await withEvents.rows(session.scans)(sql`
        SELECT DISTINCT ${withEvents.of("task_event")} FROM task_event WHERE task_id ${inTexts(dialect, taskIds)} ${attaches}`);
      return new Set(rows.map(({ taskId }) => taskId));
    },
    files: (ids) =>
      file.rows(session.scans)(sql`SELECT ${file.of("file")} FROM file WHERE id ${inTexts(dialect, ids)}`),
    async skills({ spaceId, accountId, includeDeleted, startTime, endTime }, after, limit) {
      const projects = sql`SELECT p.id FROM project p WHERE p.space_id = ${spaceId} AND p.account_id = ${accountId}`;
      const conditions = [
        sql`s.space_id = ${spaceId}`,
        sql`(s.account_id = ${accountId} OR s.project_id IN (${projects}))`,
      ];
      if (!includeDeleted) conditions.push(sql`s.deleted_at IS NULL`);
      if (startTime !== null) conditions.push(sql`s.created_at >= ${startTime}`);
      if (endTime !== null) conditions.push(sql`s.created_at <= ${endTime}`);
      if (after !== null) conditions.push(sql`(s.created_at, s.id) > (${after.createdAt}, ${after.id})`);
      return packedSkill.rows(session.scans)(sql`
        SELECT ${packedSkill.of("s")} ${skillsFrom} WHERE ${allOf(conditions)} ORDER BY s.created_at, s.id LIMIT ${limit}`);
    },
    memberships: (spaceId, accountId) =>
      packedMember.rows(session.scans)(sql`
        SELECT ${packedMember.of("m")}
        FROM membership m JOIN team t ON t.id = m.team_id LEFT JOIN account a ON a.id = m.account_id
        WHERE m.space_id = ${spaceId} AND m.account_id = ${accountId} ORDER BY m.created_at, m.id`),
  };
}

function matches(
  dialect: Dialect,
  { spaceId, accountId, includeDeleted, startTime, endTime, ids }: ArchiveQuery,
): Sql {
  const conditions = [sql`t.space_id = ${spaceId}`, sql`t.account_id = ${accountId}`, begun];
  if (!includeDeleted) conditions.push(sql`t.deleted_at IS NULL`);
  if (startTime !== null) conditions.push(sql`t.created_at >= ${startTime}`);
  if (endTime !== null) conditions.push(sql`t.created_at <= ${endTime}`);
  if (ids !== null) conditions.push(sql`t.id ${inTexts(dialect, ids)}`);
  return allOf(conditions);
}
