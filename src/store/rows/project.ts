import type { Scope } from "../../core/accounts/caller.ts";
import { type ProjectRows, projectsMax } from "../../core/projects/project.ts";
import type { Session } from "../session.ts";
import { type Sql, sql } from "../statements.ts";
import { computedShape, integer, tables } from "../table.ts";

const { project } = tables;
const counted = computedShape({ count: integer(sql`COUNT(*)`) });
const projects = sql`SELECT ${project.of("project")} FROM project`;

/** Projects as rows. They belong to people: a token's client sees all of them (spec/decisions.md 16). */
export function projectRows(session: Session): ProjectRows {
  const byId = (id: string) => project.row(session)(sql`${projects} WHERE id = ${id}`);
  return {
    async insert(row) {
      await session.execute(project.insert(row));
    },
    list: (scope) =>
      project.rows(session)(sql`
        ${projects} WHERE ${ownedBy(scope)} ORDER BY created_at DESC, id DESC LIMIT ${projectsMax}`),
    find: (scope, id) => project.row(session)(sql`${projects} WHERE id = ${id} AND ${ownedBy(scope)}`),
    isIn: async (spaceId, id) => (await byId(id))?.spaceId === spaceId,
    byId,
    async count(spaceId) {
      const row = await counted.row(session)(sql`SELECT ${counted.of("project")} FROM project WHERE space_id = ${spaceId}`);
      return row?.count ?? 0;
    },
  };
}

const ownedBy = ({ accountId, spaceId }: Scope): Sql => sql`account_id = ${accountId} AND space_id = ${spaceId}`;
