import type { Share, ShareFilter, ShareRows, ShareType } from "../../core/assets/share.ts";
import { lowest, type Visibility } from "../../core/visibility.ts";
import { changeOf, type Dialect, type Session } from "../session.ts";
import { all, forUpdate, likeFolded, literally, numberOf, raw, type Sql, sql, type Truth, truthOf, type Whole } from "../sql.ts";

interface ShareRow {
  /** Null where the page is empty. */
  readonly id: string | null;
  readonly name: string;
  readonly account_id: string;
  readonly task_id: string;
  readonly visibility: string;
  readonly one_max: string | null;
  readonly other_max: string | null;
  readonly shared_at: Whole;
  readonly changed_at: Whole;
  readonly present: Truth;
}

/** Where a type's shares stand. The condition is that of an index, word for word; older releases left times out. */
interface Table {
  readonly name: Sql;
  readonly index: Sql;
  readonly shared: Sql;
  readonly visibility: Sql;
  /** What a `ShareRow` has beside what both tables call the same. */
  readonly columns: Sql;
}

const sharedAt = sql`COALESCE(t.shared_at, t.created_at)`;
const both = sql`t.id, t.title AS name, t.account_id, ${sharedAt} AS shared_at, (t.deleted_at IS NULL) AS present`;

const tables: Readonly<Record<ShareType, Table>> = {
  task: {
    name: raw("task t"),
    index: raw("task_shared"),
    shared: sql`(t.share_visibility <> 'private' OR t.shared_at IS NOT NULL)`,
    visibility: sql`t.share_visibility`,
    columns: sql`${both}, t.id AS task_id, t.share_visibility AS visibility, t.max_visibility AS one_max, NULL AS other_max,
      COALESCE(t.share_changed_at, t.created_at) AS changed_at`,
  },
  website: {
    name: raw("website t"),
    index: raw("website_shared"),
    shared: sql`(t.live_id IS NOT NULL OR t.shared_at IS NOT NULL)`,
    visibility: sql`t.visibility`,
    columns: sql`${both}, t.task_id, t.visibility, t.max_visibility AS one_max, t.team_max AS other_max, t.updated_at AS changed_at`,
  },
};

/** Shares, read from the rows of what is shared. */
export function shareRows(session: Session): ShareRows {
  const { dialect, query } = session;
  return {
    async list(spaceId, type, filter, { limit, offset }) {
      const table = tables[type];
      // Number and page are one statement, so they are of one moment; only the page's rows are looked up but by name, owner or scope.
      const rows = await query<ShareRow & { readonly total: Whole }>(sql`
        WITH found AS MATERIALIZED (SELECT t.id, ${sharedAt} AS at FROM ${indexed(dialect, table)} WHERE ${chosen(dialect, table, spaceId, filter)}),
        slot AS (SELECT id, at FROM found ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${offset})
        SELECT counted.total, ${table.columns} FROM (SELECT COUNT(*) AS total FROM found) counted
        LEFT JOIN slot ON 1 = 1 LEFT JOIN ${table.name} ON t.id = slot.id ORDER BY slot.at DESC, slot.id DESC`);
      return { items: rows.flatMap((row) => shareOf(type, row)), total: numberOf(rows[0]?.total ?? 0) };
    },
    async lock(spaceId, id) {
      changeOf(session);
      for (const type of ["task", "website"] as const) {
        const { name, shared, columns } = tables[type];
        const [row] = await query<ShareRow>(sql`
          SELECT ${columns} FROM ${name} WHERE t.id = ${id} AND t.space_id = ${spaceId} AND ${shared} ${forUpdate(dialect, "t")}`);
        if (row) return shareOf(type, row)[0] ?? null;
      }
      return null;
    },
  };
}

/** SQLite's planner does not always see which index has it all. */
const indexed = (dialect: Dialect, { name, index }: Table): Sql => (dialect === "postgresql" ? name : sql`${name} INDEXED BY ${index}`);

function chosen(dialect: Dialect, { shared, visibility }: Table, spaceId: string, filter: ShareFilter): Sql {
  const conditions = [sql`t.space_id = ${spaceId}`, shared];
  if (filter.prefix !== undefined) conditions.push(likeFolded(dialect, sql`t.title`, `${literally(filter.prefix)}%`));
  if (filter.accountId !== undefined) conditions.push(sql`t.account_id = ${filter.accountId}`);
  if (filter.visibility !== undefined) conditions.push(sql`${visibility} = ${filter.visibility}`);
  if (filter.from !== undefined) conditions.push(sql`${sharedAt} >= ${filter.from}`);
  if (filter.until !== undefined) conditions.push(sql`${sharedAt} <= ${filter.until}`);
  return all(conditions);
}

/** Words were written by this program, so they are believed. */
function shareOf(type: ShareType, row: ShareRow): Share[] {
  if (row.id === null) return [];
  return [
    {
      id: row.id,
      type,
      name: row.name,
      accountId: row.account_id,
      taskId: row.task_id,
      visibility: row.visibility as Visibility,
      maxVisibility: lowest(row.one_max as Visibility | null, row.other_max as Visibility | null),
      sharedAt: numberOf(row.shared_at),
      changedAt: numberOf(row.changed_at),
      exists: truthOf(row.present),
    },
  ];
}
