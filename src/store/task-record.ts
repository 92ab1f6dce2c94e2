import type { TaskRecord, TaskRecordFilter, TaskRecordRows } from "../core/exports/task-record.ts";
import type { TaskStatus, Visibility } from "../core/tasks/task.ts";
import type { Dialect, Session } from "./session.ts";
import { all, numberOf, numberOrNull, raw, type Sql, sql, type Truth, truthOf, type Whole } from "./sql.ts";

interface RecordRow extends RecordColumns {
  readonly total: Whole;
  /** How many tasks that have not begun come before the window. */
  readonly before: Whole;
  readonly begun: Truth;
}

/** `recordColumns` of a row. */
export interface RecordColumns {
  /** Null where the window is empty. */
  readonly id: string | null;
  readonly account_id: string;
  readonly space_id: string;
  readonly project_id: string | null;
  readonly title: string;
  readonly status: string;
  readonly share_visibility: string;
  readonly created_at: Whole;
  readonly updated_at: Whole;
  readonly last_message_at: Whole;
  readonly deleted_at: Whole | null;
}

/**
 * Tasks as exports see them. Number and page are one statement, so they are of one moment; both are read from an
 * index alone, and only the page's rows are looked up.
 *
 * What has not begun is not listed, but stands in the index: agents' main tasks, of which an account has a few. To test
 * each of a million rows for that would cost as much again, so the index is read with them, in a window that is wider by their
 * number; then they are taken off the total, and what stands before the window off its start.
 */
export function taskRecordRows({ query, dialect }: Session): TaskRecordRows {
  return {
    async tasks(of, filter, { limit, offset }) {
      const where = chosen(of, filter);
      const rows = await query<RecordRow>(sql`
        WITH unbegun AS MATERIALIZED (
          SELECT t.created_at, t.id FROM agent a JOIN task t ON t.id = a.task_id
          WHERE a.space_id = ${of.spaceId} AND a.account_id = ${of.accountId} AND t.last_seq = 0 AND ${where}
        ), slot AS MATERIALIZED (
          SELECT t.created_at, t.id FROM ${index(dialect, filter)} WHERE ${where}
          ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit} + (SELECT COUNT(*) FROM unbegun) OFFSET ${offset}
        )
        SELECT counted.total - (SELECT COUNT(*) FROM unbegun) AS total,
          (SELECT COUNT(*) FROM unbegun u WHERE (u.created_at, u.id) > (SELECT s.created_at, s.id FROM slot s
            ORDER BY s.created_at DESC, s.id DESC LIMIT 1)) AS before,
          (t.agent_id IS NULL OR t.last_seq > 0) AS begun, ${recordColumns}
        FROM (SELECT COUNT(*) AS total FROM ${index(dialect, filter)} WHERE ${where}) counted
        LEFT JOIN slot ON 1 = 1 LEFT JOIN task t ON t.id = slot.id ORDER BY slot.created_at DESC, slot.id DESC`);
      const [first] = rows;
      const skipped = numberOf(first?.before ?? 0);
      const items = rows.filter(({ id, begun }) => id !== null && truthOf(begun)).slice(skipped, skipped + limit);
      return { items: items.map(recordOf), total: numberOf(first?.total ?? 0) };
    },
  };
}

export const recordColumns = sql`t.id, t.account_id, t.space_id, t.project_id, t.title, t.status, t.share_visibility,
  t.created_at, t.updated_at, t.last_message_at, t.deleted_at`;

function chosen({ spaceId, accountId }: { readonly spaceId: string; readonly accountId: string }, filter: TaskRecordFilter): Sql {
  const conditions = [sql`t.space_id = ${spaceId}`, sql`t.account_id = ${accountId}`];
  if (!filter.includeDeleted) conditions.push(sql`t.deleted_at IS NULL`);
  if (filter.startTime !== null) conditions.push(sql`t.created_at >= ${filter.startTime}`);
  if (filter.endTime !== null) conditions.push(sql`t.created_at <= ${filter.endTime}`);
  return all(conditions);
}

/** The tasks as `t`, by the index that has all that is asked. SQLite's planner does not always see which. */
function index(dialect: Dialect, { includeDeleted }: TaskRecordFilter): Sql {
  if (dialect === "postgresql") return raw("task t");
  return raw(`task t INDEXED BY ${includeDeleted ? "task_space_id_account_id_created_at_id_idx" : "task_present"}`);
}

/** Words that decide something were written by this program, so they are believed. */
export const recordOf = (row: RecordColumns): TaskRecord => ({
  id: row.id ?? "",
  accountId: row.account_id,
  spaceId: row.space_id,
  projectId: row.project_id,
  title: row.title,
  status: row.status as TaskStatus,
  shareVisibility: row.share_visibility as Visibility,
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
  lastMessageAt: numberOf(row.last_message_at),
  deletedAt: numberOrNull(row.deleted_at),
});
