import type { RetentionRows } from "../../core/retention/retention.ts";
import { verboseTypes } from "../../core/tasks/event.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, inTexts, join, type Sql, sql } from "../statements.ts";
import { boolean, tables } from "../table.ts";
import { later } from "./task-row.ts";
import { deleteTranscripts } from "./transcript.ts";

const isHeld = (...subjects: readonly Sql[]): Sql =>
  sql`EXISTS (SELECT 1 FROM legal_hold h WHERE ${join([...subjects], " OR ")})`;
const ofSpace = (id: Sql): Sql => sql`(h.kind = 'space' AND h.subject = ${id})`;
const ofPerson = (id: Sql): Sql => sql`(h.kind = 'person' AND h.subject = ${id})`;

const heldTask = isHeld(ofSpace(sql`t.space_id`), ofPerson(sql`t.account_id`));
const changed = ["updatedAt", "touchedAt"] as const;
const agedTask = tables.task
  .pick("id", "spaceId", "accountId", "status", ...changed)
  .derive("updatedAt", changed, later)
  .with({
    isDeleted: boolean(sql`(t.deleted_at IS NOT NULL)`),
    isOfAgent: boolean(sql`(t.agent_id IS NOT NULL)`),
    hasLivingSubtasks: boolean(sql`(t.subtasks > 0 AND EXISTS (
    SELECT 1 FROM task c WHERE (c.parent_id = t.id OR c.root_id = t.id) AND c.status IN ('running', 'waiting') AND c.deleted_at IS NULL))`),
    isHeld: boolean(heldTask),
    isPersonal: boolean(sql`NOT EXISTS (SELECT 1 FROM team m WHERE m.space_id = t.space_id)`),
  });
const aged = sql`SELECT ${agedTask.of("t")} FROM task t`;
const space = tables.space.pick("id").with({
  // The hold of a member keeps what the team has about the person.
  isHeld: boolean(
    isHeld(
      ofSpace(sql`s.id`),
      sql`(h.kind = 'person' AND h.subject IN (SELECT m.account_id FROM membership m WHERE m.space_id = s.id))`,
      sql`(h.kind = 'person' AND h.subject = s.account_id)`,
    ),
  ),
});
const states = tables.task.pick("id", "status", ...changed).derive("updatedAt", changed, later);
const idsOf = (tasks: readonly { readonly id: string }[]): readonly string[] => tasks.map(({ id }) => id);
const verbose = join([...verboseTypes]);

/** What retention reads and deletes, as rows. */
export function retentionRows(session: Session): RetentionRows {
  const { dialect, execute } = session;
  return {
    walkTasks: (after, max) =>
      agedTask.rows(session.scans)(sql`${aged} WHERE t.id > ${after} ORDER BY t.id LIMIT ${max}`),
    async lockTasks(seen) {
      changeOf(session);
      const rows = await states.rows(session)(sql`
        SELECT ${states.of("t")} FROM task t
        WHERE t.id ${inTexts(dialect, idsOf(seen))} AND t.deleted_at IS NULL ORDER BY t.id ${forUpdate(dialect, "t")}`);
      const now = new Map(rows.map((row) => [row.id, row]));
      return seen.filter(
        ({ id, updatedAt, status }) => now.get(id)?.updatedAt === updatedAt && now.get(id)?.status === status,
      );
    },
    async deleteEvents(taskIds, which, max) {
      const some = (table: Sql, only: Sql, limit: number): Sql => sql`
        DELETE FROM ${table} WHERE (task_id, seq) IN (
          SELECT task_id, seq FROM ${table} WHERE task_id ${inTexts(dialect, taskIds)} ${only} LIMIT ${limit})`;
      // A transcript has the uses of tools too. A run that begins in the meantime must not find a part of it.
      await deleteTranscripts(session, inTexts(dialect, taskIds));
      if (which === "verbose") return execute(some(sql`task_event`, sql`AND type IN (${verbose})`, max));
      // The words of a title have the number 0, and stay.
      const texts = await execute(some(sql`task_text`, sql`AND seq > 0`, max));
      return texts === max ? max : texts + (await execute(some(sql`task_event`, empty, max - texts)));
    },
    deleteTombstones: (before, max) =>
      execute(sql`
        DELETE FROM task WHERE id IN (
          SELECT t.id FROM task t WHERE t.deleted_at < ${before} AND NOT ${heldTask}
            AND NOT EXISTS (SELECT 1 FROM task_event e WHERE e.task_id = t.id) AND NOT EXISTS (SELECT 1 FROM task_text x WHERE x.task_id = t.id) AND NOT EXISTS (SELECT 1 FROM event_segment s WHERE s.task_id = t.id)
          ORDER BY t.deleted_at LIMIT ${max})`),
    walkSpaces: (after, max) =>
      space.rows(session.scans)(
        sql`SELECT ${space.of("s")} FROM space s WHERE s.id > ${after} ORDER BY s.id LIMIT ${max}`,
      ),
    deleteUsage: (spaceId, before, max) =>
      execute(sql`
        DELETE FROM usage_entry WHERE id IN (
          SELECT id FROM usage_entry WHERE space_id = ${spaceId} AND at < ${before} ORDER BY at, id LIMIT ${max})`),
  };
}
