import { progressOf } from "../../core/tasks/latest.ts";
import type { TaskRows } from "../../core/tasks/task-rows.ts";
import { changeOf, type Session } from "../session.ts";
import { join, sql } from "../statements.ts";
import { tables } from "../table.ts";
import { appendEvents } from "./event.ts";
import { ownerOf } from "./task-advance.ts";
import { taskShape } from "./task-row.ts";

/** Writes imported tasks. No webhook and no parent is notified: what they report has happened elsewhere. */
export function taskImport(session: Session): Pick<TaskRows, "appendImported" | "addImportedSubtask"> {
  return {
    async appendImported({ id, lastSeq: after }, events) {
      const { news } = changeOf(session);
      const [last, lastSeq] = [events.at(-1), after + events.length];
      if (last === undefined) return;
      const { statusAt, ...progress } = progressOf(events);
      const message = events.findLastIndex(({ type }) => type === "user_message");
      const said = events.findLast(({ type }) => type === "user_message" || type === "assistant_message");
      const set = {
        ...progress,
        lastSeq,
        lastTimestamp: last.timestamp,
        consumedSeq: lastSeq,
        answeredSeq: lastSeq,
        ...(statusAt === undefined ? {} : { statusSeq: after + statusAt }),
        ...(progress.latestStatus == null
          ? {}
          : { status: progress.latestStatus.status === "error" ? ("error" as const) : ("stopped" as const) }),
        ...(message < 0 ? {} : { messageSeq: after + message + 1 }),
        ...(said === undefined ? {} : { lastMessageAt: said.timestamp }),
      };
      const indexed = sql`indexed_seq = CASE WHEN indexed_seq = last_seq THEN last_seq + ${events.length} ELSE indexed_seq END`;
      const row = await taskShape.row(session)(sql`
        UPDATE task SET ${join([...tables.task.set(set), indexed])}
        WHERE id = ${id} AND last_seq = ${after} AND deleted_at IS NULL RETURNING ${taskShape.of("task")}`);
      if (!row) throw new Error(`the task ${id} has changed although it is locked`);
      await appendEvents(session, row, events);
      news.set(id, { taskId: id, lastSeq, fence: row.fence, status: row.status, ...ownerOf(row) });
    },
    async addImportedSubtask(id) {
      await session.execute(sql`UPDATE task SET subtasks = subtasks + 1 WHERE id = ${id}`);
    },
  };
}
