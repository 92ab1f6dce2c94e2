import type { TaskRecord, TaskRecordFilter, TaskRecordRows } from "../../core/exports/task-record.ts";
import type { CountedPage, OffsetPage } from "../../core/pagination/page.ts";
import { applyCaps } from "../../core/visibility.ts";
import type { Session } from "../session.ts";
import { allOf, type Dialect, raw, type Sql, sql } from "../statements.ts";
import { boolean, integer, type RowOf, tables } from "../table.ts";
import { later } from "./task-row.ts";

export const recordShape = tables.task
  .pick(
    "id",
    "accountId",
    "spaceId",
    "projectId",
    "scheduleId",
    "title",
    "status",
    "shareVisibility",
    "maxVisibility",
    "createdAt",
    "updatedAt",
    "touchedAt",
    "lastMessageAt",
    "deletedAt",
  )
  .derive("shareVisibility", ["shareVisibility", "maxVisibility"], applyCaps)
  .derive("updatedAt", ["updatedAt", "touchedAt"], later);

/** A row of the window, with the counts of the statement. */
const windowed = recordShape.with({
  /** All tasks, including those that have not begun, and the number of these. */
  total: integer(sql`counted.total`),
  unbegun: integer(sql`(SELECT COUNT(*) FROM unbegun)`),
  /** The number of tasks before the window that have not begun. */
  before: integer(sql`
    (SELECT COUNT(*) FROM unbegun u WHERE (u.created_at, u.id) > (SELECT s.created_at, s.id FROM slot s
      ORDER BY s.created_at DESC, s.id DESC LIMIT 1))`),
  /** False for an empty window: then the row has only counts. */
  begun: boolean(sql`(t.id IS NOT NULL AND (t.agent_id IS NULL OR t.last_seq > 0))`),
});

/**
 * Tasks for exports. One statement reads total and page, so they are consistent. Both are read from an index
 * only, and only the page's rows are looked up.
 *
 * Tasks that have not begun are not listed, but the index contains them. They are main tasks of agents: an
 * account has few of them, and they are never deleted. They are found through their agents (SQLite keeps the
 * order of a CROSS JOIN). A test of each of a million rows would double the cost, so the index is read with
 * them, in a window that is wider by at least their number. Then they are subtracted from the total, and
 * those before the window from its start.
 */
export function taskRecordRows(session: Session): TaskRecordRows {
  const { dialect } = session;

  async function read(
    of: Owner,
    filter: TaskRecordFilter,
    page: OffsetPage,
    extra: number,
  ): Promise<CountedPage<TaskRecord>> {
    const { limit, offset } = page;
    const where = conditions(of, filter);
    const rows = await windowed.rows(session.scans)(sql`
        WITH unbegun AS MATERIALIZED (
          SELECT t.created_at, t.id FROM agent a CROSS JOIN task t
          WHERE a.space_id = ${of.spaceId} AND a.account_id = ${of.accountId} AND t.id = a.task_id AND t.last_seq = 0 AND ${where}
        ), slot AS MATERIALIZED (
          SELECT t.created_at, t.id FROM ${index(dialect, filter)} WHERE ${where}
          ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit + extra} OFFSET ${offset}
        )
        SELECT ${windowed.of("t")}
        FROM (SELECT COUNT(*) AS total FROM ${index(dialect, filter)} WHERE ${where}) counted
        LEFT JOIN slot ON 1 = 1 LEFT JOIN task t ON t.id = slot.id ORDER BY slot.created_at DESC, slot.id DESC`);
    const [first] = rows;
    const unbegun = first?.unbegun ?? 0;
    if (unbegun > extra) return read(of, filter, page, unbegun);
    const skipped = first?.before ?? 0;
    const items = rows.filter(({ begun }) => begun).slice(skipped, skipped + limit);
    return { items: items.map(recordOf), total: (first?.total ?? 0) - unbegun };
  }

  return { tasks: (of, filter, page) => read(of, filter, page, usualExtra) };
}

const recordOf = ({ total, unbegun, before, begun, ...record }: RowOf<typeof windowed>): TaskRecord => record;

/**
 * The extra rows are a fixed number in the statement: PostgreSQL sorts everything if it does not know the
 * limit.
 */
const usualExtra = 4;

type Owner = Parameters<TaskRecordRows["tasks"]>[0];

function conditions(
  { spaceId, accountId }: { readonly spaceId: string; readonly accountId: string },
  filter: TaskRecordFilter,
): Sql {
  const found = [sql`t.space_id = ${spaceId}`, sql`t.account_id = ${accountId}`];
  if (!filter.includeDeleted) found.push(sql`t.deleted_at IS NULL`);
  if (filter.startTime !== null) found.push(sql`t.created_at >= ${filter.startTime}`);
  if (filter.endTime !== null) found.push(sql`t.created_at <= ${filter.endTime}`);
  return allOf(found);
}

/** The tasks as `t`, by the index that covers the query. SQLite's planner does not always choose it. */
function index(dialect: Dialect, { includeDeleted }: TaskRecordFilter): Sql {
  if (dialect === "postgresql") return raw("task t");
  return raw(
    `task t INDEXED BY ${includeDeleted ? "task_space_id_account_id_created_at_id_idx" : "task_present"}`,
  );
}
