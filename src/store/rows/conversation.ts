import type { Scope } from "../../core/accounts/caller.ts";
import {
  type ConversationFilter,
  type ConversationPage,
  type ConversationRows,
  conversationTypes,
  messageTypes,
} from "../../core/tasks/conversations.ts";
import type { Session } from "../session.ts";
import {
  allOf,
  type Dialect,
  direction,
  escapeLike,
  inTexts,
  join,
  likeIgnoringCase,
  type Sql,
  sql,
} from "../statements.ts";
import { eventShape } from "./event-shape.ts";
import { begun, byChange, changedAt, taskViewShape, visible } from "./task-row.ts";

const types = join([...conversationTypes]);
const searched = join([...messageTypes]);

/** Tasks and their messages, with two statements for any number of tasks. */
export function conversationRows(session: Session): ConversationRows {
  const { dialect } = session;
  const view = (from: Sql) => taskViewShape.rows(session)(sql`SELECT ${taskViewShape.of("t")} FROM ${from}`);
  return {
    list(scope: Scope, filter, page) {
      const conditions = [visible(scope), begun, ...filterConditions(dialect, filter)];
      const where = (at: Sql) => allOf([...conditions, ...beyond(at, page)]);
      const order = (at: Sql) =>
        sql`ORDER BY ${at} ${direction(page.order)}, t.id ${direction(page.order)} LIMIT ${page.limit}`;
      if (page.orderBy === "createdAt")
        return view(sql`task t WHERE ${where(createdAt)} ${order(createdAt)}`);
      return view(sql`${byChange(scope, where, order)} ${order(changedAt)}`);
    },
    async listMessages(taskIds, max) {
      if (taskIds.length === 0) return [];
      // Finds the first of a task's newest messages once per task, so that no older event is read.
      return eventShape.rows(session)(sql`
        WITH wanted AS MATERIALIZED (SELECT t.id, ${firstOf(max)} AS first_seq FROM task t WHERE t.id ${inTexts(dialect, taskIds)})
        SELECT ${eventShape.of("e")}
        FROM wanted w JOIN task_event e ON e.task_id = w.id AND e.seq >= w.first_seq
        WHERE e.type IN (${types}) ORDER BY e.task_id, e.seq`);
    },
  };
}

const createdAt = sql`t.created_at`;

/** The number of the message that `max - 1` newer ones follow; 0 where there are fewer. */
const firstOf = (max: number): Sql => sql`
  COALESCE((SELECT m.seq FROM task_event m WHERE m.task_id = t.id AND m.type IN (${types}) ORDER BY m.seq DESC LIMIT 1 OFFSET ${max - 1}), 0)`;

function filterConditions(
  dialect: Dialect,
  { query, statuses = [], createdAfter, createdBefore, projectId }: ConversationFilter,
): Sql[] {
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

/**
 * A text in the title or in a message. Only the content is searched, because the rest of a payload is not
 * text of a message.
 */
function mentions(dialect: Dialect, text: string): Sql {
  const like = (found: Sql) => likeIgnoringCase(dialect, found, `%${escapeLike(text)}%`);
  return sql`(${like(sql`t.title`)} OR EXISTS (
    SELECT 1 FROM task_event m WHERE m.task_id = t.id AND m.type IN (${searched}) AND ${like(contentOf(dialect))}))`;
}

/**
 * PostgreSQL refuses to read text with U+0000 or a lone surrogate in it, which agents may
 * write: their escapes are replaced by one that it can read, also after a backslash.
 */
const contentOf = (dialect: Dialect): Sql =>
  dialect === "sqlite"
    ? sql`m.payload ->> 'content'`
    : sql`CAST(regexp_replace(m.payload, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\f', 'g') AS json) ->> 'content'`;
