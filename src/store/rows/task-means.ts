import type { MeansRows, TaskMeans } from "../../core/tasks/means.ts";
import type { Session } from "../session.ts";
import { assignments, insertInto, join, type Row, sql } from "../sql.ts";
import { textsIn } from "./app.ts";

interface MeansRow {
  readonly skills: string | null;
  readonly forced: string;
  readonly connectors: string;
  readonly browser_id: string | null;
}

/** What tasks may use, as rows. */
export function meansRows({ query, execute }: Session): MeansRows {
  return {
    async find(taskId) {
      const [row] = await query<MeansRow>(sql`SELECT skills, forced, connectors, browser_id FROM task_means WHERE task_id = ${taskId}`);
      return row ? meansOf(row) : null;
    },
    async set({ id, spaceId }, means) {
      const columns = columnsOf(means);
      const row = insertInto("task_means", [{ task_id: id, space_id: spaceId, ...columns }]);
      await execute(sql`${row} ON CONFLICT (task_id) DO UPDATE SET ${join(assignments(columns))}`);
    },
    async erase(taskId) {
      await execute(sql`DELETE FROM task_means WHERE task_id = ${taskId}`);
    },
  };
}

const columnsOf = ({ browserId, ...lists }: Partial<TaskMeans>): Row => ({
  ...Object.fromEntries(Object.entries(lists).map(([column, ids]) => [column, ids && JSON.stringify(ids)])),
  ...(browserId === undefined ? {} : { browser_id: browserId }),
});

const meansOf = ({ skills, forced, connectors, browser_id }: MeansRow): TaskMeans => ({
  skills: skills === null ? null : textsIn(skills),
  forced: textsIn(forced),
  connectors: textsIn(connectors),
  browserId: browser_id,
});
