import type { PublishStatus, SiteVisibility, Website, WebsiteRows } from "../../core/websites/website.ts";
import { changeOf, type Session } from "../session.ts";
import { assignments, empty, insertInto, join, numberOf, numberOrNull, type Row, raw, type Sql, sql, type Whole } from "../sql.ts";

interface WebsiteRow {
  readonly id: string;
  readonly space_id: string;
  readonly account_id: string;
  readonly task_id: string;
  readonly label: string;
  readonly title: string;
  readonly visibility: SiteVisibility;
  readonly max_visibility: SiteVisibility | null;
  readonly status: PublishStatus;
  readonly status_at: Whole | null;
  readonly live_id: string | null;
  readonly publishing_id: string | null;
  readonly publishing_as: SiteVisibility | null;
  readonly created_at: Whole;
  readonly updated_at: Whole;
  readonly team_max: SiteVisibility | null;
}

const columns = sql`id, space_id, account_id, task_id, label, title, visibility, max_visibility, status, status_at, live_id,
  publishing_id, publishing_as, created_at, updated_at, team_max`;

/** Websites as rows. */
export function websiteRows(session: Session): WebsiteRows {
  const { dialect, query, execute } = session;
  const lockRow = dialect === "sqlite" ? empty : sql`FOR UPDATE`;

  async function one(where: Sql, lock: Sql = empty): Promise<Website | null> {
    const [row] = await query<WebsiteRow>(sql`SELECT ${columns} FROM website WHERE ${where} AND deleted_at IS NULL ${lock}`);
    return row ? websiteOf(row) : null;
  }
  const set = (id: string, row: Row, and: Sql = empty) =>
    execute(sql`UPDATE website SET ${join(assignments(row))} WHERE id = ${id} ${and}`);

  /** What was live is dead; that it was shared, and as what, stays. */
  const bury = (id: string, now: number) =>
    execute(sql`
      UPDATE website SET deleted_at = ${now}, updated_at = ${now}, status = 'unpublished', status_at = ${now}, live_id = NULL,
        publishing_id = NULL, publishing_as = NULL, shared_at = COALESCE(shared_at, created_at)
      WHERE id = ${id}`);

  return {
    async insert(site) {
      await execute(insertInto("website", [columnsOf(site)]));
    },
    byId: (id) => one(sql`id = ${id}`),
    byLabel: (label) => one(sql`label = ${label}`),
    async ofTask(taskId) {
      const [row] = await query<WebsiteRow>(sql`
        SELECT ${columns} FROM website WHERE task_id = ${taskId} AND deleted_at IS NULL ORDER BY created_at, id LIMIT 1`);
      return row ? websiteOf(row) : null;
    },
    async lock(id) {
      changeOf(session);
      return one(sql`id = ${id}`, lockRow);
    },
    async begin(id, { checkpointId, visibility }, now) {
      const begun = { status: "publishing", status_at: now, publishing_id: checkpointId, publishing_as: visibility, updated_at: now };
      await set(id, begun);
    },
    async goLive(id, checkpointId, now) {
      const count = await execute(sql`
        UPDATE website SET status = 'published', status_at = ${now}, updated_at = ${now}, live_id = publishing_id, visibility = publishing_as,
          publishing_id = NULL, publishing_as = NULL,
          shared_at = COALESCE(shared_at, CASE WHEN live_id IS NULL THEN ${now} ELSE created_at END)
        WHERE id = ${id} AND status = 'publishing' AND publishing_id = ${checkpointId}`);
      return count === 1;
    },
    async fail(id, checkpointId, now) {
      const failed = { status: "failed", status_at: now, updated_at: now, publishing_id: null, publishing_as: null };
      return (await set(id, failed, sql`AND status = 'publishing' AND publishing_id = ${checkpointId}`)) === 1;
    },
    async edit(id, { title, visibility }, now) {
      await set(id, { updated_at: now, ...(title === undefined ? {} : { title }), ...(visibility === undefined ? {} : { visibility }) });
      if (visibility !== undefined) await set(id, { publishing_as: visibility }, sql`AND publishing_id IS NOT NULL`);
    },
    async cap(id, most, now) {
      return (await set(id, { max_visibility: most, updated_at: now })) === 1;
    },
    async capByTeam(id, most, now) {
      await set(id, { team_max: most, updated_at: now });
    },
    async eraseOf(taskId, now, personal) {
      changeOf(session);
      const erased = await query<Pick<WebsiteRow, "id" | "live_id">>(sql`
        SELECT id, live_id FROM website WHERE task_id = ${taskId} AND deleted_at IS NULL ${lockRow}`);
      for (const { id, live_id } of erased) {
        await eraseContents(session, id);
        if (personal || live_id === null) await execute(sql`DELETE FROM website WHERE id = ${id}`);
        else await bury(id, now);
      }
    },
  };
}

/** By statements that grow with no number of files. An artefact's blob is in nobody's sum. */
async function eraseContents({ execute }: Session, websiteId: string): Promise<void> {
  const files = sql`checkpoint_id IN (SELECT id FROM checkpoint WHERE website_id = ${websiteId})`;
  await execute(sql`
    UPDATE blob SET state = 'dropped', lease_until = 0
    WHERE state = 'kept' AND id IN (SELECT blob_id FROM checkpoint_file WHERE ${files})`);
  await execute(sql`DELETE FROM checkpoint_file WHERE ${files}`);
  for (const table of ["checkpoint", "site_visit"]) await execute(sql`DELETE FROM ${raw(table)} WHERE website_id = ${websiteId}`);
}

const columnsOf = (site: Website): Row => ({
  id: site.id,
  space_id: site.spaceId,
  account_id: site.accountId,
  task_id: site.taskId,
  label: site.label,
  title: site.title,
  visibility: site.visibility,
  max_visibility: site.maxVisibility,
  status: site.status,
  status_at: site.statusAt,
  live_id: site.liveId,
  publishing_id: site.publishingId,
  publishing_as: site.publishingAs,
  created_at: site.createdAt,
  updated_at: site.updatedAt,
  team_max: site.teamMax,
});

const websiteOf = (row: WebsiteRow): Website => ({
  id: row.id,
  spaceId: row.space_id,
  accountId: row.account_id,
  taskId: row.task_id,
  label: row.label,
  title: row.title,
  visibility: row.visibility,
  maxVisibility: row.max_visibility,
  status: row.status,
  statusAt: numberOrNull(row.status_at),
  liveId: row.live_id,
  publishingId: row.publishing_id,
  publishingAs: row.publishing_as,
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
  teamMax: row.team_max,
});
