import {
  type EventRows,
  type EventWindow,
  type NewEvent,
  type TaskEvent,
  verboseTypes,
} from "../../core/tasks/event.ts";
import type { Task } from "../../core/tasks/task.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, direction, join, raw, type Sql, sql } from "../statements.ts";
import { integer, type RowOf, tables } from "../table.ts";
import {
  archivedSeqOf,
  archivedShape,
  deleteSegments,
  firstSegment,
  fitting,
  mayBeArchived,
  merge,
  readSegment,
  withArchived,
} from "./event-segment.ts";
import { eventShape } from "./event-shape.ts";
import { entries, textsOf } from "./task-text.ts";
import { deleteTranscripts } from "./transcript.ts";

const { task, taskEvent } = tables;

const taskIds = task.pick("id");

const verbose = [...verboseTypes];

/** Events as rows: read by windows, written only with their task (`appendEvents`). */
export function eventRows(session: Session): EventRows {
  const { execute } = session;
  return {
    async list(taskId, window) {
      const { afterSeq = 0, beforeSeq, order, limit, types } = window;
      // As for a client that asks whether there is something new.
      if (beforeSeq !== undefined && beforeSeq <= afterSeq + 1) return [];
      const which = sql`FROM task_event e WHERE ${allOf(conditions(taskId, window))} ORDER BY seq ${direction(order)} LIMIT ${limit}`;
      if (!mayBeArchived(types)) return eventShape.rows(session)(sql`SELECT ${eventShape.of("e")} ${which}`);
      const { rows, archivedSeq } = toRows(
        await archivedShape.rows(session)(
          sql`SELECT ${eventShape.of("e")}, ${archivedSeqOf(taskId)} ${which}`,
        ),
      );
      return archivedSeq > afterSeq ? withArchived(session, taskId, window, rows) : rows;
    },
    async setAttachmentBytes(taskId, seq, fileId, bytes) {
      changeOf(session);
      const event = await eventShape.row(session)(sql`
        SELECT ${eventShape.of("e")} FROM task_event e WHERE task_id = ${taskId} AND seq = ${seq}`);
      if (event?.type !== "user_message" && event?.type !== "assistant_message") return;
      const attachments = event.payload.attachments?.map((each) =>
        each.fileId === fileId ? { ...each, bytes } : each,
      );
      const payload = taskEvent.set({
        payload: { ...event.payload, ...(attachments ? { attachments } : {}) },
      });
      await execute(sql`UPDATE task_event SET ${join(payload)} WHERE task_id = ${taskId} AND seq = ${seq}`);
    },
    async deleteOfTask(taskId) {
      await execute(sql`DELETE FROM task_event WHERE task_id = ${taskId}`);
      await deleteSegments(session, sql`${taskId}`);
    },
    async purge(before, max) {
      const found = await taskIds.rows(session)(sql`
        SELECT ${taskIds.of("task")} FROM task
        WHERE deleted_at < ${before} AND (${hasRows("task_event")} OR ${hasRows("task_text")} OR ${hasRows("event_segment")} OR ${hasRows("transcript")}) LIMIT ${max}`);
      if (found.length === 0) return 0;
      const ids = join(found.map(({ id }) => id));
      await execute(sql`DELETE FROM task_event WHERE task_id IN (${ids})`);
      await deleteSegments(session, ids);
      // Processes of an earlier release delete tasks without these.
      await execute(sql`DELETE FROM task_text WHERE task_id IN (${ids})`);
      await deleteTranscripts(session, sql`IN (${ids})`);
      return found.length;
    },
  };
}

const hasRows = (table: "task_event" | "task_text" | "event_segment" | "transcript"): Sql =>
  sql`EXISTS (SELECT 1 FROM ${raw(table)} WHERE task_id = task.id)`;

/**
 * Writes the events that set a task's current `lastSeq` and `lastTimestamp`: these are the number and time of
 * the last event, and each earlier event is one less. Imported events have the times of their source.
 *
 * @param title a new title. Its words and those of the events are added to the search index.
 */
export async function appendEvents(
  { write, dialect }: Session,
  of: EventsOf,
  added: readonly (NewEvent & { readonly timestamp?: number })[],
  title?: string,
): Promise<void> {
  const { id: taskId, spaceId, lastSeq, lastTimestamp } = of;
  const titles = title === undefined ? [] : [{ seq: 0, text: title }];
  const indexed = entries(dialect, of, [...titles, ...textsOf(added, lastSeq - added.length + 1)]);
  if (added.length === 0) return void (indexed && (await write(indexed)));
  const rows = added.map(({ type, payload, timestamp }, index) => {
    const before = added.length - 1 - index;
    return {
      taskId,
      seq: lastSeq - before,
      spaceId,
      type,
      timestamp: timestamp ?? lastTimestamp - before,
      payload,
    };
  });
  const events = taskEvent.insertAll(rows);
  // PostgreSQL is on a network: both need one round trip there.
  if (indexed && dialect === "postgresql")
    return void (await write(sql`WITH indexed AS (${indexed}) ${events}`));
  await write(events);
  if (indexed) await write(indexed);
}

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

/**
 * Which events a page has: a condition for rows, which begins with AND or is empty, and for archived events.
 */
export interface EventsWanted {
  readonly where: Sql;
  /** Absent when events of these types are never archived. */
  readonly isWanted?: (event: TaskEvent) => boolean;
}

/** Reads the next wanted events of a task: at least one, unless there is none up to `lastSeq`. */
export type EventPages = (
  taskId: string,
  afterSeq: number,
  lastSeq: number,
  wanted: EventsWanted,
) => Promise<readonly TaskEvent[]>;

/** Pages of rows and, with these, of one segment at a time. */
export const eventPages =
  (session: Session): EventPages =>
  async (taskId, afterSeq, lastSeq, { where, isWanted }) => {
    for (let after = afterSeq; after < lastSeq; ) {
      const { rows, archivedSeq, upTo } = await rowPage(session, taskId, after, lastSeq, where);
      if (isWanted === undefined || archivedSeq <= after) return rows;
      const segment = await firstSegment(session, taskId, after, upTo);
      if (segment === null) return rows;
      const [from, end] = [after, Math.min(upTo, segment.lastSeq)];
      const archived = (await readSegment(session, segment)).filter(
        (event) => event.seq > from && isWanted(event),
      );
      const found = merge(rows, archived, "asc").filter(({ seq }) => seq <= end);
      if (found.length > 0) return fitting(found.slice(0, eventsMax), sizeOf, pageBytes);
      after = end;
    }
    return [];
  };

const sizeOf = ({ payload }: TaskEvent): number => Buffer.byteLength(JSON.stringify(payload));

/**
 * Reads the sizes first, for which no database reads payloads, then as many payloads as fit.
 *
 * @returns the rows, which are complete up to `upTo`.
 */
async function rowPage(session: Session, taskId: string, afterSeq: number, lastSeq: number, where: Sql) {
  const sizes = await sizeShape.rows(session)(sql`
    SELECT ${sizeShape.of("e")} FROM task_event e
    WHERE task_id = ${taskId} AND seq > ${afterSeq} AND seq <= ${lastSeq} ${where} ORDER BY seq LIMIT ${eventsMax}`);
  const fit = fitting(sizes, ({ size }) => size, pageBytes);
  const end = fit.at(-1)?.seq;
  if (end === undefined) return { ...toRows([]), upTo: lastSeq };
  const read = await archivedShape.rows(session)(sql`
    SELECT ${eventShape.of("e")}, ${archivedSeqOf(taskId)} FROM task_event e
    WHERE task_id = ${taskId} AND seq > ${afterSeq} AND seq <= ${end} ${where} ORDER BY seq`);
  return { ...toRows(read), upTo: fit.length < sizes.length || sizes.length === eventsMax ? end : lastSeq };
}

/** The rows, and the number of the last archived event: infinite when no row says it. */
function toRows(read: readonly RowOf<typeof archivedShape>[]) {
  const archivedSeq = read[0]?.archivedSeq ?? Infinity;
  return {
    archivedSeq,
    rows: read.map(
      ({ taskId, seq, type, timestamp, payload }) => ({ taskId, seq, type, timestamp, payload }) as TaskEvent,
    ),
  };
}
