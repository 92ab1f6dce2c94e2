import type { TaskRows } from "../../core/tasks/task-rows.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, forUpdate, inTexts, sql } from "../statements.ts";
import { countRows, type RowOf, tables } from "../table.ts";
import { eventPages } from "./event.ts";
import { visible, visibleToTeam } from "./task-row.ts";
import { entries, isSearched, textsOf } from "./task-text.ts";

/** Pages of events that are read of one task in one change: a task with more continues in a later one. */
const pagesMax = 4;

const behind = tables.task.pick("id", "spaceId", "accountId", "clientId", "title", "lastSeq", "indexedSeq");
const idOf = tables.task.pick("id");

const isBehind = sql`t.texts_behind AND t.deleted_at IS NULL`;

/**
 * Texts that are not in the search index: of tasks of an earlier release, and of changes by processes of an
 * earlier release. `indexed_seq` has how far a task is indexed, so that the work continues after a process
 * ends.
 */
export function textIndex(session: Session): Pick<TaskRows, "isIndexed" | "listNotIndexed" | "indexTexts"> {
  return {
    async isIndexed(scope, { view, creatorId }) {
      const creator = creatorId === undefined ? [] : [sql`t.account_id = ${creatorId}`];
      const seen = view === "team" ? [visibleToTeam(scope.spaceId), ...creator] : [visible(scope)];
      const one = sql`SELECT 1 FROM task t WHERE ${allOf([...seen, isBehind])} LIMIT 1`;
      return (await countRows(session, sql`FROM (${one}) f`)) === 0;
    },
    async listNotIndexed(max) {
      const rows = await idOf.rows(session)(
        sql`SELECT ${idOf.of("t")} FROM task t WHERE ${isBehind} LIMIT ${max}`,
      );
      return rows.map(({ id }) => id);
    },
    async indexTexts(ids) {
      changeOf(session);
      const found = await behind.rows(session)(sql`
        SELECT ${behind.of("t")} FROM task t WHERE t.id ${inTexts(session.dialect, ids)} AND ${isBehind} ORDER BY t.id ${forUpdate(session.dialect, "t")}`);
      for (const task of found) await indexTask(session, task);
    },
  };
}

/**
 * Adds the next texts of a task to the index. Its row is locked, so that it is not deleted at the same time.
 */
async function indexTask(session: Session, task: RowOf<typeof behind>): Promise<void> {
  const pages = eventPages(session);
  const title = task.indexedSeq < 0 ? [{ seq: 0, text: task.title }] : [];
  const write = async (texts: Parameters<typeof entries>[2]) => {
    const statement = entries(session.dialect, task, texts);
    if (statement) await session.execute(statement);
  };
  await write(title);
  let indexed = Math.max(0, task.indexedSeq);
  for (let read = 0; read < pagesMax && indexed < task.lastSeq; read += 1) {
    const events = await pages(task.id, indexed, task.lastSeq, { where: sql`AND ${isSearched}` });
    await write(events.flatMap((event) => textsOf([event], event.seq)));
    indexed = events.at(-1)?.seq ?? task.lastSeq;
  }
  await session.execute(
    sql`UPDATE task SET indexed_seq = ${indexed}, texts_behind = (last_seq > ${indexed}) WHERE id = ${task.id}`,
  );
}
