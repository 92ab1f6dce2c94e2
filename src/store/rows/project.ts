import type { Scope } from "../../core/accounts/caller.ts";
import { type ProjectRows, projectsMax } from "../../core/projects/project.ts";
import { changeOf, type Session } from "../session.ts";
import { join, type Sql, sql } from "../statements.ts";
import { computedShape, integer, tables } from "../table.ts";

const project = tables.project.omit("deletedAt");
const counted = computedShape({ count: integer(sql`COUNT(*)`) });
const ids = tables.project.pick("id");

const hasTasks = sql`EXISTS (SELECT 1 FROM task WHERE project_id = p.id)`;

const existing = (condition: Sql): Sql => sql`SELECT ${project.of("project")} FROM project WHERE ${condition} AND deleted_at IS NULL`;

/** Projects as rows. They belong to people: a token's client sees all of them (spec/decisions.md 16). */
export function projectRows(session: Session): ProjectRows {
  const byId = (id: string) => project.row(session)(existing(sql`id = ${id}`));
  const find = (scope: Scope, id: string) => project.row(session)(existing(sql`id = ${id} AND ${ownedBy(scope)}`));
  return {
    async insert(row) {
      await session.execute(tables.project.insert(row));
    },
    list: (scope) =>
      project.rows(session)(sql`
        ${existing(ownedBy(scope))} ORDER BY created_at DESC, id DESC LIMIT ${projectsMax}`),
    find,
    isIn: async (spaceId, id) => (await byId(id))?.spaceId === spaceId,
    byId,
    async count(spaceId) {
      const row = await counted.row(session)(
        sql`SELECT ${counted.of("project")} FROM project WHERE space_id = ${spaceId} AND deleted_at IS NULL`,
      );
      return row?.count ?? 0;
    },
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
      const blank = tables.project.set({ name: "", instruction: "", deletedAt: now });
      const changed = await session.execute(sql`UPDATE project SET ${join(blank)} WHERE id = ${id} AND deleted_at IS NULL`);
      return changed === 0 ? null : before;
    },
    async findDeletedWithTasks() {
      const row = await ids.row(session)(sql`
        SELECT ${ids.of("p")} FROM project p WHERE deleted_at IS NOT NULL AND ${hasTasks} LIMIT 1`);
      return row?.id ?? null;
    },
    detachTasks: (id, max) =>
      session.execute(sql`
        UPDATE task SET project_id = NULL, type = CASE WHEN type = 'project' THEN 'standard' ELSE type END
        WHERE id IN (SELECT id FROM task WHERE project_id = ${id} LIMIT ${max})`),
    purge: (before, max) =>
      session.execute(sql`
        DELETE FROM project WHERE id IN (
          SELECT id FROM project p WHERE deleted_at < ${before} AND NOT ${hasTasks} ORDER BY deleted_at LIMIT ${max})`),
  };
}

const ownedBy = ({ accountId, spaceId }: Scope): Sql => sql`account_id = ${accountId} AND space_id = ${spaceId}`;
