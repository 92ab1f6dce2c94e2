import type { NodeRows } from "../core/nodes/node.ts";
import type { Session } from "./session.ts";
import { numberOf } from "./sql.ts";

/** Processes as rows. */
export function nodeRows({ db }: Session): NodeRows {
  return {
    async insert(node) {
      await db.node.create({ data: node });
    },
    async raiseBeat(id) {
      const { count } = await db.node.updateMany({ where: { id }, data: { beat: { increment: 1 } } });
      return count === 1;
    },
    async list() {
      const rows = await db.node.findMany({ orderBy: [{ startedAt: "asc" }, { id: "asc" }] });
      return rows.map((row) => ({ ...row, startedAt: numberOf(row.startedAt) }));
    },
    async remove(id) {
      await db.node.deleteMany({ where: { id } });
    },
  };
}
