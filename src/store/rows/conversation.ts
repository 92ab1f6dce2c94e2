import type { Scope } from "../../core/caller.ts";
import { type ConversationFilter, type ConversationPage, type ConversationRows, saidTypes } from "../../core/tasks/conversations.ts";
import type { Dialect, Session } from "../session.ts";
import { all, direction, join, likeFolded, literally, memberOf, type Sql, sql } from "../sql.ts";
import { type EventRow, eventOf } from "./event.ts";
import { type TaskViewRow, taskViewOf } from "./task-row.ts";
import { begun, views, visible } from "./task-view.ts";

const types = join([...saidTypes]);

/** Tasks and what was said in them, by two statements however many tasks there are. */
export function conversationRows({ query, dialect }: Session): ConversationRows {
  return {
    async list(scope: Scope, filter, page) {
      const at = timeColumns[page.orderBy];
      const rows = await query<TaskViewRow>(sql`
        ${views} WHERE ${all([visible(scope), begun, ...chosen(dialect, filter), ...beyond(at, page)])}
        ORDER BY ${at} ${direction(page.order)}, t.id ${direction(page.order)} LIMIT ${page.limit}`);
      return rows.map(taskViewOf);
    },
    async said(taskIds, max) {
      if (taskIds.length === 0) return [];
      // Where a task's newest messages begin is found once for each, and nothing older is read.
      const rows = await query<EventRow & { readonly task_id: string }>(sql`
        WITH wanted AS MATERIALIZED (SELECT t.id, ${firstOf(max)} AS first_seq FROM task t WHERE t.id ${memberOf(dialect, taskIds)})
        SELECT e.task_id, e.seq, e.type, e.timestamp, e.payload
        FROM wanted w JOIN task_event e ON e.task_id = w.id AND e.seq >= w.first_seq
        WHERE e.type IN (${types}) ORDER BY e.task_id, e.seq`);
      return rows.map((row) => eventOf(row.task_id, row));
    },
  };
}

const timeColumns = { createdAt: sql`t.created_at`, updatedAt: sql`t.updated_at` } as const;

/** The number of the message that `max - 1` newer ones follow; 0 where there are fewer. */
const firstOf = (max: number): Sql => sql`
  COALESCE((SELECT m.seq FROM task_event m WHERE m.task_id = t.id AND m.type IN (${types}) ORDER BY m.seq DESC LIMIT 1 OFFSET ${max - 1}), 0)`;

function chosen(dialect: Dialect, { query, statuses = [], createdAfter, createdBefore, projectId }: ConversationFilter): Sql[] {
  const conditions: Sql[] = [];
  if (statuses.length > 0) conditions.push(sql`t.status IN (${join([...statuses])})`);
  if (createdAfter !== undefined) conditions.push(sql`t.created_at > ${createdAfter}`);
  if (createdBefore !== undefined) conditions.push(sql`t.created_at < ${createdBefore}`);
  if (projectId !== undefined) conditions.push(sql`t.project_id = ${projectId}`);
  if (query !== undefined) conditions.push(mentions(dialect, query));
  return conditions;
}

function beyond(at: Sql, { order, after }: ConversationPage): Sql[] {
  if (!after) return [];
  const operator = order === "asc" ? sql`>` : sql`<`;
  return [sql`(${at}, t.id) ${operator} (${after.at}, ${after.id})`];
}

/** A text in the title or in what was said. Only the content itself is searched: the rest of a payload is nobody's words. */
function mentions(dialect: Dialect, text: string): Sql {
  const like = (found: Sql) => likeFolded(dialect, found, `%${literally(text)}%`);
  return sql`(${like(sql`t.title`)} OR EXISTS (
    SELECT 1 FROM task_event m WHERE m.task_id = t.id AND m.type IN (${types}) AND ${like(contentOf(dialect))}))`;
}

/**
 * PostgreSQL refuses to read text with U+0000 or a lone surrogate in it, which agents
 * may say: their escapes are replaced by one that it can read, also behind a backslash.
 */
const contentOf = (dialect: Dialect): Sql =>
  dialect === "sqlite"
    ? sql`m.payload ->> 'content'`
    : sql`CAST(regexp_replace(m.payload, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\f', 'g') AS json) ->> 'content'`;
