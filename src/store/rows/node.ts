import type { NodeRows } from "../../core/nodes/node.ts";
import type { Session } from "../session.ts";
import { numberOf, sql } from "../sql.ts";

/** Processes as rows. */
export function nodeRows({ db, execute }: Session): NodeRows {
  return {
    async insert(node) {
      await db.node.create({ data: node });
    },
    async raiseBeat(id) {
      return (await execute(sql`UPDATE node SET beat = beat + 1 WHERE id = ${id}`)) === 1;
    },
    async setAddress(id, address) {
      await db.node.updateMany({ where: { id }, data: { address } });
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
