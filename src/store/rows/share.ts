import type { Share, ShareFilter, ShareRows, ShareType } from "../../core/assets/share.ts";
import { lowerCap, type Visibility } from "../../core/visibility.ts";
import { changeOf, type Session } from "../session.ts";
import {
  allOf,
  type Dialect,
  escapeLike,
  forUpdate,
  likeIgnoringCase,
  raw,
  type Sql,
  sql,
} from "../statements.ts";
import { boolean, integer, type Shape, tables, text } from "../table.ts";

type ShareRow = Omit<Share, "type">;
/** A row of a page, with the total. An empty page has one row, without a share. */
type PageRow = ShareRow & { readonly total: number; readonly isThere: boolean };

/**
 * The table of a share type. The condition is exactly that of an index. Older releases did not write the
 * times.
 */
interface Source {
  readonly name: Sql;
  readonly index: Sql;
  readonly shared: Sql;
  readonly visibility: Sql;
  readonly one: Shape<ShareRow>;
  readonly listed: Shape<PageRow>;
}

const sharedAt = sql`COALESCE(t.shared_at, t.created_at)`;
const both = {
  name: text(sql`t.title`),
  sharedAt: integer(sharedAt),
  exists: boolean(sql`(t.deleted_at IS NULL)`),
};
const page = { total: integer(sql`counted.total`), isThere: boolean(sql`(t.id IS NOT NULL)`) };

const sharedTask = tables.task.pick("id", "accountId", "maxVisibility").with({
  ...both,
  taskId: text(sql`t.id`),
  visibility: text<Visibility>(sql`t.share_visibility`),
  changedAt: integer(sql`COALESCE(t.share_changed_at, t.created_at)`),
});

const sharedWebsite = tables.website
  .pick("id", "accountId", "taskId", "visibility", "maxVisibility", "teamMax")
  .with({ ...both, changedAt: integer(sql`t.updated_at`) })
  .derive("maxVisibility", ["maxVisibility", "teamMax"], lowerCap);

const sources: Readonly<Record<ShareType, Source>> = {
  task: {
    name: raw("task t"),
    index: raw("task_shared"),
    shared: sql`(t.share_visibility <> 'private' OR t.shared_at IS NOT NULL)`,
    visibility: sql`t.share_visibility`,
    one: sharedTask,
    listed: sharedTask.with(page),
  },
  website: {
    name: raw("website t"),
    index: raw("website_shared"),
    shared: sql`(t.live_id IS NOT NULL OR t.shared_at IS NOT NULL)`,
    visibility: sql`t.visibility`,
    one: sharedWebsite,
    listed: sharedWebsite.with(page),
  },
};

/** Shares, read from the rows of the shared objects. */
export function shareRows(session: Session): ShareRows {
  const { dialect } = session;
  return {
    async list(spaceId, type, filter, { limit, offset }) {
      const source = sources[type];
      // One statement reads total and page, so they are consistent. Only the page's rows are looked up,
      // except for a filter by name, owner or visibility.
      const rows = await source.listed.rows(session)(sql`
        WITH found AS MATERIALIZED (SELECT t.id, ${sharedAt} AS at FROM ${indexed(dialect, source)} WHERE ${conditions(dialect, source, spaceId, filter)}),
        slot AS (SELECT id, at FROM found ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${offset})
        SELECT ${source.listed.of("t")} FROM (SELECT COUNT(*) AS total FROM found) counted
        LEFT JOIN slot ON 1 = 1 LEFT JOIN ${source.name} ON t.id = slot.id ORDER BY slot.at DESC, slot.id DESC`);
      return {
        items: rows.filter(({ isThere }) => isThere).map((row) => shareOf(type, row)),
        total: rows[0]?.total ?? 0,
      };
    },
    async lock(spaceId, id) {
      changeOf(session);
      for (const type of ["task", "website"] as const) {
        const { name, shared, one } = sources[type];
        const row = await one.row(session)(sql`
          SELECT ${one.of("t")} FROM ${name} WHERE t.id = ${id} AND t.space_id = ${spaceId} AND ${shared} ${forUpdate(dialect, "t")}`);
        if (row) return shareOf(type, row);
      }
      return null;
    },
  };
}

/** SQLite's planner does not always choose the index that covers the query. */
const indexed = (dialect: Dialect, { name, index }: Source): Sql =>
  dialect === "postgresql" ? name : sql`${name} INDEXED BY ${index}`;

function conditions(
  dialect: Dialect,
  { shared, visibility }: Source,
  spaceId: string,
  filter: ShareFilter,
): Sql {
  const found = [sql`t.space_id = ${spaceId}`, shared];
  if (filter.prefix !== undefined)
    found.push(likeIgnoringCase(dialect, sql`t.title`, `${escapeLike(filter.prefix)}%`));
  if (filter.accountId !== undefined) found.push(sql`t.account_id = ${filter.accountId}`);
  if (filter.visibility !== undefined) found.push(sql`${visibility} = ${filter.visibility}`);
  if (filter.from !== undefined) found.push(sql`${sharedAt} >= ${filter.from}`);
  if (filter.until !== undefined) found.push(sql`${sharedAt} <= ${filter.until}`);
  return allOf(found);
}

const shareOf = (type: ShareType, row: ShareRow): Share => {
  const { id, name, accountId, taskId, visibility, maxVisibility, sharedAt, changedAt, exists } = row;
  return { id, type, name, accountId, taskId, visibility, maxVisibility, sharedAt, changedAt, exists };
};
