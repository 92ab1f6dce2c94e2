import type { ModelRows } from "../../core/installation/models.ts";
import type { Session } from "../session.ts";
import { join, sql } from "../statements.ts";
import { tables } from "../table.ts";

const { model } = tables;

/** The models that operators have set, as rows. */
export function modelRows(session: Session): ModelRows {
  return {
    list: () => model.rows(session)(sql`SELECT ${model.of("model")} FROM model ORDER BY name`),
    async put(row) {
      const { name: _, ...changes } = row;
      await session.execute(
        sql`${model.insert(row)} ON CONFLICT (name) DO UPDATE SET ${join(model.set(changes))}`,
      );
    },
    remove: async (name) => (await session.execute(sql`DELETE FROM model WHERE name = ${name}`)) === 1,
  };
}
