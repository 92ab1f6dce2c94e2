import type { Paged, PageOf } from "../../core/exports/paged.ts";
import type { TaskRecord, TaskRecordFilter, TaskRecordRows } from "../../core/exports/task-record.ts";
import type { TaskStatus } from "../../core/tasks/task.ts";
import { capped, type Visibility } from "../../core/visibility.ts";
import type { Dialect, Session } from "../session.ts";
import { all, numberOf, numberOrNull, raw, type Sql, sql, type Truth, truthOf, type Whole } from "../sql.ts";

interface RecordRow extends RecordColumns {
  /** With those that have not begun, and how many these are. */
  readonly total: Whole;
  readonly unbegun: Whole;
  /** How many tasks that have not begun come before the window. */
  readonly before: Whole;
  readonly begun: Truth;
}

/** What `recordColumns` gives. */
export interface RecordColumns {
  /** Null where the window is empty. */
  readonly id: string | null;
  readonly account_id: string;
  readonly space_id: string;
  readonly project_id: string | null;
  readonly title: string;
  readonly status: string;
  readonly share_visibility: string;
  readonly max_visibility: string | null;
  readonly created_at: Whole;
  readonly updated_at: Whole;
  readonly last_message_at: Whole;
  readonly deleted_at: Whole | null;
}

/**
 * Tasks as exports see them. Number and page are one statement, so they are of one moment; both are read from an
 * index alone, and only the page's rows are looked up.
 *
 * What has not begun is not listed, but stands in the index: main tasks of agents, of which an account has a few, and
 * none of which is ever deleted (found through their agents first: SQLite keeps the order of a CROSS JOIN). To test
 * each of a million rows for that would cost as much again, so the index is read with them, in a window that is wider by their
 * number at least; then they are taken off the total, and what stands before the window off its start.
 */
export function taskRecordRows({ query, dialect }: Session): TaskRecordRows {
  async function read(of: Owner, filter: TaskRecordFilter, page: PageOf, room: number): Promise<Paged<TaskRecord>> {
    const { limit, offset } = page;
    const where = chosen(of, filter);
    const rows = await query<RecordRow>(sql`
        WITH unbegun AS MATERIALIZED (
          SELECT t.created_at, t.id FROM agent a CROSS JOIN task t
          WHERE a.space_id = ${of.spaceId} AND a.account_id = ${of.accountId} AND t.id = a.task_id AND t.last_seq = 0 AND ${where}
        ), slot AS MATERIALIZED (
          SELECT t.created_at, t.id FROM ${index(dialect, filter)} WHERE ${where}
          ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit + room} OFFSET ${offset}
        )
        SELECT counted.total, (SELECT COUNT(*) FROM unbegun) AS unbegun,
          (SELECT COUNT(*) FROM unbegun u WHERE (u.created_at, u.id) > (SELECT s.created_at, s.id FROM slot s
            ORDER BY s.created_at DESC, s.id DESC LIMIT 1)) AS before,
          (t.agent_id IS NULL OR t.last_seq > 0) AS begun, ${recordColumns}
        FROM (SELECT COUNT(*) AS total FROM ${index(dialect, filter)} WHERE ${where}) counted
        LEFT JOIN slot ON 1 = 1 LEFT JOIN task t ON t.id = slot.id ORDER BY slot.created_at DESC, slot.id DESC`);
    const [first] = rows;
    const unbegun = numberOf(first?.unbegun ?? 0);
    if (unbegun > room) return read(of, filter, page, unbegun);
    const skipped = numberOf(first?.before ?? 0);
    const items = rows.filter(({ id, begun }) => id !== null && truthOf(begun)).slice(skipped, skipped + limit);
    return { items: items.map(recordOf), total: numberOf(first?.total ?? 0) - unbegun };
  }

  return { tasks: (of, filter, page) => read(of, filter, page, usualRoom) };
}

/** A window is wider by a number that stands in the statement: PostgreSQL sorts everything where it cannot see where to stop. */
const usualRoom = 4;

type Owner = Parameters<TaskRecordRows["tasks"]>[0];

export const recordColumns = sql`t.id, t.account_id, t.space_id, t.project_id, t.title, t.status, t.share_visibility, t.max_visibility,
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
  shareVisibility: capped(row.share_visibility as Visibility, row.max_visibility as Visibility | null),
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
  lastMessageAt: numberOf(row.last_message_at),
  deletedAt: numberOrNull(row.deleted_at),
});
