import { type ImportedKey, type ImportedRows, sourcesMax } from "../../core/imports/imported-object.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, empty, forUpdate, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, tables, text } from "../table.ts";

const { importedObject } = tables;
const sourceId = importedObject.pick("sourceId");
const objects = sql`SELECT ${importedObject.of("t")} FROM imported_object t`;

const countOf = (condition: string) => integer(raw(`COUNT(CASE WHEN ${condition} THEN 1 END)`));
const reports = computedShape({
  origin: text(sql`t.origin`),
  projects: countOf("t.kind = 'project'"),
  tasks: countOf("t.kind = 'task' AND t.complete"),
  openTasks: countOf("t.kind = 'task' AND NOT t.complete"),
  events: integer(sql`CAST(SUM(CASE WHEN t.kind = 'task' THEN t.seq ELSE 0 END) AS BIGINT)`),
  files: countOf("t.kind = 'file' AND t.complete"),
  missingFiles: countOf("t.kind = 'file' AND NOT t.complete"),
  webhooks: countOf("t.kind = 'webhook'"),
  startedAt: integer(sql`MIN(t.created_at)`),
});

export function importedRows(session: Session): ImportedRows {
  const { execute, dialect } = session;
  return {
    insert: async (object) =>
      (await execute(sql`${importedObject.insert(object)} ON CONFLICT DO NOTHING`)) === 1,
    find: (key) => importedObject.row(session)(sql`${objects} WHERE ${is(key)}`),
    async lock(key) {
      changeOf(session);
      return importedObject.row(session)(sql`${objects} WHERE ${is(key)} ${forUpdate(dialect, "t")}`);
    },
    async update(key, progress) {
      await execute(
        sql`UPDATE imported_object AS t SET ${join(importedObject.set(progress))} WHERE ${is(key)}`,
      );
    },
    async listMissingFiles(taskId, max) {
      const rows = await sourceId.rows(session)(sql`
        SELECT ${sourceId.of("t")} FROM imported_object t WHERE t.task_id = ${taskId} AND NOT t.complete ORDER BY t.seq, t.source_id LIMIT ${max}`);
      return rows.map((row) => row.sourceId);
    },
    listReports: ({ spaceId, accountId }, origin) =>
      reports.rows(session)(sql`
        SELECT ${reports.of("t")} FROM imported_object t
        WHERE ${allOf([sql`t.space_id = ${spaceId}`, sql`t.account_id = ${accountId}`])} ${origin === undefined ? empty : sql`AND t.origin = ${origin}`}
        GROUP BY t.origin ORDER BY t.origin LIMIT ${sourcesMax}`),
  };
}

const is = ({ spaceId, accountId, origin, kind, sourceId: id }: ImportedKey): Sql =>
  allOf([
    sql`t.space_id = ${spaceId}`,
    sql`t.account_id = ${accountId}`,
    sql`t.origin = ${origin}`,
    sql`t.kind = ${kind}`,
    sql`t.source_id = ${id}`,
  ]);
