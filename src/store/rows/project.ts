import type { Scope } from "../../core/caller.ts";
import { type Project, type ProjectRows, projectsMax } from "../../core/projects/project.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import type { Session } from "../session.ts";
import { numberOf } from "../sql.ts";

/** Projects as rows. They belong to people: a token's client sees them all (contract/decisions.md 16). */
export function projectRows({ db }: Session): ProjectRows {
  return {
    async insert(project) {
      await db.project.create({ data: project });
    },
    async list(scope) {
      const rows = await db.project.findMany({
        where: ownedBy(scope),
        orderBy: [{ createdAt: "desc" }, { id: "desc" }],
        take: projectsMax,
      });
      return rows.map(projectOf);
    },
    async find(scope, id) {
      const row = await db.project.findFirst({ where: { id, ...ownedBy(scope) } });
      return row && projectOf(row);
    },
    isIn: async (spaceId, id) => (await db.project.findFirst({ where: { id, spaceId } })) !== null,
    async byId(id) {
      const row = await db.project.findFirst({ where: { id } });
      return row && projectOf(row);
    },
    count: (spaceId) => db.project.count({ where: { spaceId } }),
  };
}

const ownedBy = ({ accountId, spaceId }: Scope) => ({ accountId, spaceId });

const projectOf = (row: Rows.Project): Project => ({ ...row, createdAt: numberOf(row.createdAt) });
