import type { Scope } from "../../core/accounts/caller.ts";
import { countedTasksMax, type ProjectRows, projectsMax } from "../../core/projects/project.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forShare, inTexts, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, countRows, integer, tables, text } from "../table.ts";

const project = tables.project.pick(
  "id",
  "accountId",
  "spaceId",
  "name",
  "instruction",
  "permissions",
  "createdAt",
);
const ids = tables.project.pick("id");
const detached = tables.task.pick("id", "lastSeq", "fence", "status", "spaceId", "accountId");

const taskCount = computedShape({
  id: text(sql`p.id`),
  tasks: integer(
    sql`(SELECT COUNT(*) FROM (SELECT 1 FROM task t WHERE t.project_id = p.id AND t.deleted_at IS NULL LIMIT ${raw(String(countedTasksMax))}) f)`,
  ),
});

const hasTasks = sql`EXISTS (SELECT 1 FROM task WHERE project_id = p.id)`;

const existing = (condition: Sql, lock: Sql = empty): Sql =>
  sql`SELECT ${project.of("project")} FROM project WHERE ${condition} AND deleted_at IS NULL ${lock}`;

/** Projects as rows. They belong to people: a token's client sees all of them (spec/decisions.md 16). */
export function projectRows(session: Session): ProjectRows {
  const byId = (id: string) => project.row(session)(existing(sql`id = ${id}`));
  const find = (scope: Scope, id: string) =>
    project.row(session)(existing(sql`id = ${id} AND ${ownedBy(scope)}`));
  return {
    async insert(row) {
      await session.execute(tables.project.insert(row));
    },
    list(scope, { limit, after } = { limit: projectsMax }) {
      const rest = after ? sql` AND (created_at, id) < (${after.value}, ${after.id})` : empty;
      return project.rows(session)(sql`
        ${existing(sql`${ownedBy(scope)}${rest}`)} ORDER BY created_at DESC, id DESC LIMIT ${limit}`);
    },
    async countTasks(of) {
      const rows = await taskCount.rows(session)(sql`
        SELECT ${taskCount.of("p")} FROM project p WHERE p.id ${inTexts(session.dialect, of)}`);
      return new Map(rows.map(({ id, tasks }) => [id, tasks]));
    },
    find,
    lock(scope, id) {
      changeOf(session);
      return project.row(session)(existing(sql`id = ${id} AND ${ownedBy(scope)}`, forShare(session.dialect)));
    },
    async lockIn(spaceId, id) {
      changeOf(session);
      return (
        (await project.row(session)(
          existing(sql`id = ${id} AND space_id = ${spaceId}`, forShare(session.dialect)),
        )) !== null
      );
    },
    byId,
    count: (spaceId) =>
      countRows(session, sql`FROM project WHERE space_id = ${spaceId} AND deleted_at IS NULL`),
    async update(scope, id, edit) {
      const where = sql`id = ${id} AND ${ownedBy(scope)} AND deleted_at IS NULL`;
      return project.row(session)(
        sql`UPDATE project SET ${join(tables.project.set(edit))} WHERE ${where} RETURNING ${project.of("project")}`,
      );
    },
    async tombstone(scope, id, now) {
      changeOf(session);
      const before = await find(scope, id);
      if (!before) return null;
      const blank = tables.project.set({ name: "", instruction: "", permissions: [], deletedAt: now });
      const changed = await session.execute(
        sql`UPDATE project SET ${join(blank)} WHERE id = ${id} AND deleted_at IS NULL`,
      );
      return changed === 0 ? null : before;
    },
    async findDeletedWithTasks() {
      const row = await ids.row(session)(sql`
        SELECT ${ids.of("p")} FROM project p WHERE deleted_at IS NOT NULL AND ${hasTasks} LIMIT 1`);
      return row?.id ?? null;
    },
    async detachTasks(id, max, now) {
      const { news } = changeOf(session);
      const changed = await detached.rows(session)(sql`
        UPDATE task SET project_id = NULL, type = CASE WHEN type = 'project' THEN 'standard' ELSE type END,
          updated_at = CASE WHEN deleted_at IS NULL THEN ${now} ELSE updated_at END
        WHERE id IN (SELECT id FROM task WHERE project_id = ${id} LIMIT ${max}) RETURNING ${detached.of("task")}`);
      for (const { id: taskId, ...row } of changed) news.set(taskId, { taskId, ...row });
      return changed.length;
    },
    purge: (before, max) =>
      session.execute(sql`
        DELETE FROM project WHERE id IN (
          SELECT id FROM project p WHERE deleted_at < ${before} AND NOT ${hasTasks} ORDER BY deleted_at LIMIT ${max})`),
  };
}

/** A key that is limited to projects has no others (spec/api.md 8.108). */
function ownedBy({ accountId, spaceId, within }: Scope): Sql {
  const owned = sql`account_id = ${accountId} AND space_id = ${spaceId}`;
  return within === undefined ? owned : sql`${owned} AND id IN (${join([...within.projectIds])})`;
}
