import { type EventRows, type EventWindow, type NewEvent, type TaskEvent, verboseTypes } from "../../core/tasks/event.ts";
import type { Task } from "../../core/tasks/task.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, direction, join, raw, type Sql, sql } from "../statements.ts";
import { integer, type RowOf, type Shape, tables } from "../table.ts";
import { entries, textsOf } from "./task-text.ts";

const { task, taskEvent } = tables;

/** Events. `appendEvents` wrote type and payload together, which the types of the columns do not express. */
export const eventShape = taskEvent.omit("spaceId") as Shape<TaskEvent>;
const taskIds = task.pick("id");

const verbose = [...verboseTypes];

/** Events as rows: read by windows, written only with their task (`appendEvents`). */
export function eventRows(session: Session): EventRows {
  const { execute } = session;
  return {
    list: (taskId, window) =>
      eventShape.rows(session)(sql`
        SELECT ${eventShape.of("e")} FROM task_event e WHERE ${allOf(conditions(taskId, window))}
        ORDER BY seq ${direction(window.order)} LIMIT ${window.limit}`),
    async setAttachmentBytes(taskId, seq, fileId, bytes) {
      changeOf(session);
      const event = await eventShape.row(session)(sql`
        SELECT ${eventShape.of("e")} FROM task_event e WHERE task_id = ${taskId} AND seq = ${seq}`);
      if (event?.type !== "user_message" && event?.type !== "assistant_message") return;
      const attachments = event.payload.attachments?.map((each) => (each.fileId === fileId ? { ...each, bytes } : each));
      const payload = taskEvent.set({ payload: { ...event.payload, ...(attachments ? { attachments } : {}) } });
      await execute(sql`UPDATE task_event SET ${join(payload)} WHERE task_id = ${taskId} AND seq = ${seq}`);
    },
    async deleteOfTask(taskId) {
      await execute(sql`DELETE FROM task_event WHERE task_id = ${taskId}`);
    },
    async deleteOfDeletedTasks(before, max) {
      const found = await taskIds.rows(session)(sql`
        SELECT ${taskIds.of("task")} FROM task WHERE deleted_at < ${before} AND (${hasRows("task_event")} OR ${hasRows("task_text")}) LIMIT ${max}`);
      if (found.length === 0) return 0;
      const ids = join(found.map(({ id }) => id));
      await execute(sql`DELETE FROM task_event WHERE task_id IN (${ids})`);
      // Processes of an earlier release delete tasks without their search entries.
      await execute(sql`DELETE FROM task_text WHERE task_id IN (${ids})`);
      return found.length;
    },
  };
}

const hasRows = (table: "task_event" | "task_text"): Sql => sql`EXISTS (SELECT 1 FROM ${raw(table)} WHERE task_id = task.id)`;

/**
 * Writes the events that set a task's current `lastSeq` and `lastTimestamp`:
 * these are the number and time of the last event, and each earlier event is one less. Imported events have the times of their source.
 *
 * @param title a new title. Its words and those of the events are added to the search index.
 */
export async function appendEvents(
  { execute, dialect }: Session,
  of: EventsOf,
  added: readonly (NewEvent & { readonly timestamp?: number })[],
  title?: string,
): Promise<void> {
  const { id: taskId, spaceId, lastSeq, lastTimestamp } = of;
  const titles = title === undefined ? [] : [{ seq: 0, text: title }];
  const indexed = entries(dialect, of, [...titles, ...textsOf(added, lastSeq - added.length + 1)]);
  if (added.length === 0) return void (indexed && (await execute(indexed)));
  const rows = added.map(({ type, payload, timestamp }, index) => {
    const before = added.length - 1 - index;
    return { taskId, seq: lastSeq - before, spaceId, type, timestamp: timestamp ?? lastTimestamp - before, payload };
  });
  const events = taskEvent.insertAll(rows);
  // PostgreSQL is on a network: both need one round trip there.
  if (indexed && dialect === "postgresql") return void (await execute(sql`WITH indexed AS (${indexed}) ${events}`));
  await execute(events);
  if (indexed) await execute(indexed);
}

/** The fields of a task that its events use. */
type EventsOf = Pick<Task, "id" | "spaceId" | "accountId" | "clientId" | "lastSeq" | "lastTimestamp">;

function conditions(taskId: string, window: EventWindow): Sql[] {
  const found = [sql`task_id = ${taskId}`];
  if (window.afterSeq !== undefined) found.push(sql`seq > ${window.afterSeq}`);
  if (window.beforeSeq !== undefined) found.push(sql`seq < ${window.beforeSeq}`);
  if (!window.verbose) found.push(sql`type NOT IN (${join(verbose)})`);
  if (window.types !== undefined) found.push(sql`type IN (${join([...window.types])})`);
  return found;
}

const sizeShape = tables.taskEvent.pick("seq").with({ size: integer(sql`octet_length(payload)`) });

/** The limits of one page: events, and bytes of payload. A single event may have more bytes. */
const eventsMax = 500;
const pageBytes = 1024 * 1024;

/** Reads the next events of a task that match `which`. @param which begins with AND, or is empty. */
export type EventPages = (taskId: string, afterSeq: number, lastSeq: number, which: Sql) => Promise<readonly TaskEvent[]>;

/** Reads the sizes first, for which no database reads payloads, then as many payloads as fit. */
export const eventPages =
  (session: Pick<Session, "query">): EventPages =>
  async (taskId, afterSeq, lastSeq, which) => {
    const sizes = await sizeShape.rows(session)(sql`
      SELECT ${sizeShape.of("e")} FROM task_event e
      WHERE task_id = ${taskId} AND seq > ${afterSeq} AND seq <= ${lastSeq} ${which} ORDER BY seq LIMIT ${eventsMax}`);
    const end = lastFitting(sizes);
    if (end === null) return [];
    return eventShape.rows(session)(sql`
      SELECT ${eventShape.of("e")} FROM task_event e
      WHERE task_id = ${taskId} AND seq > ${afterSeq} AND seq <= ${end} ${which} ORDER BY seq`);
  };

/** The number of the last event within the byte limit; null without events. The first event always fits. */
function lastFitting(sizes: readonly RowOf<typeof sizeShape>[]): number | null {
  let [end, bytes]: [number | null, number] = [null, 0];
  for (const { seq, size } of sizes) {
    bytes += size;
    if (end !== null && bytes > pageBytes) break;
    end = seq;
  }
  return end;
}
