import { type EventType, type EventWindow, type TaskEvent, verboseTypes } from "../../core/tasks/event.ts";
import {
  archivedTypes,
  type EventSegment,
  isArchivedType,
  type SegmentRows,
  segmentMax,
} from "../../core/tasks/segment.ts";
import { changeOf, type Session } from "../session.ts";
import { direction, inTexts, join, type Sql, sql } from "../statements.ts";
import { computedShape, countRows, integer, tables, text } from "../table.ts";
import { blobRows } from "./blob.ts";
import { eventShape } from "./event-shape.ts";

const { eventSegment, task } = tables;
const taskIds = task.pick("id");
const sized = tables.taskEvent.pick("seq").with({ size: integer(sql`octet_length(payload)`) });
const blobIds = computedShape({ blobId: text(sql`blob_id`) });

const archived = sql`type IN (${join([...archivedTypes])})`;

/** The largest number of an event. */
const seqMax = 2 ** 31 - 1;

/**
 * The number of a task's last archived event, or 0: a member of `archivedShape`. It is computed once per
 * statement.
 */
export const archivedSeqOf = (taskId: string): Sql =>
  sql`(SELECT COALESCE(MAX(last_seq), 0) FROM event_segment WHERE task_id = ${taskId}) AS "archivedSeq"`;

/** An event, with the number of the last archived event of its task. */
export const archivedShape = eventShape.with({ archivedSeq: integer(sql`archived_seq`) });

export function segmentRows(session: Session): SegmentRows {
  const { execute, dialect } = session;
  const drop = (ids: readonly { readonly blobId: string }[]) =>
    blobRows(session).drop(ids.map(({ blobId }) => blobId));
  return {
    async findArchivable(ids, bytesMin) {
      const found = await taskIds.rows(session)(sql`
        SELECT task_id AS id FROM task_event WHERE task_id ${inTexts(dialect, ids)} AND ${archived}
        GROUP BY task_id HAVING SUM(octet_length(payload)) >= ${bytesMin}`);
      return new Set(found.map(({ id }) => id));
    },
    async nextRows(taskId) {
      const sizes = await sized.rows(session)(sql`
        SELECT ${sized.of("e")} FROM task_event e WHERE task_id = ${taskId} AND ${archived} ORDER BY seq LIMIT ${segmentMax.events}`);
      const end = fitting(sizes, ({ size }) => size, segmentMax.bytes).at(-1)?.seq;
      if (end === undefined) return [];
      return eventShape.rows(session)(sql`
        SELECT ${eventShape.of("e")} FROM task_event e WHERE task_id = ${taskId} AND ${archived} AND seq <= ${end} ORDER BY seq`);
    },
    async insert(added) {
      changeOf(session);
      const { taskId, firstSeq, lastSeq } = added;
      const those = sql`FROM task_event WHERE task_id = ${taskId} AND seq >= ${firstSeq} AND seq <= ${lastSeq} AND ${archived}`;
      if ((await countRows(session, those)) !== added.events) return false;
      await execute(sql`DELETE ${those}`);
      await execute(eventSegment.insert(added));
      return true;
    },
    list: (taskId, afterSeq, max) =>
      eventSegment.rows(session)(sql`
        SELECT ${eventSegment.of("s")} FROM event_segment s WHERE task_id = ${taskId} AND first_seq > ${afterSeq} ORDER BY first_seq LIMIT ${max}`),
    async replace({ taskId, firstSeq, blobId }, after) {
      changeOf(session);
      const that = sql`task_id = ${taskId} AND first_seq = ${firstSeq} AND blob_id = ${blobId}`;
      const changed = await execute(
        after === null
          ? sql`DELETE FROM event_segment WHERE ${that}`
          : sql`UPDATE event_segment SET ${join(eventSegment.set(after))} WHERE ${that}`,
      );
      if (changed === 1) await drop([{ blobId }]);
      return changed === 1;
    },
    async deleteSome(taskIds, max) {
      changeOf(session);
      const deleted = await blobIds.rows(session)(sql`
        DELETE FROM event_segment WHERE (task_id, first_seq) IN (
          SELECT task_id, first_seq FROM event_segment WHERE task_id ${inTexts(dialect, taskIds)} LIMIT ${max}) RETURNING ${blobIds.of("event_segment")}`);
      await drop(deleted);
      return deleted.length;
    },
  };
}

/** Deletes all segments of tasks, and drops their bytes. @param ids a list of values */
export async function deleteSegments(session: Session, ids: Sql): Promise<void> {
  const deleted = await blobIds.rows(session)(sql`
    DELETE FROM event_segment WHERE task_id IN (${ids}) RETURNING ${blobIds.of("event_segment")}`);
  await blobRows(session).drop(deleted.map(({ blobId }) => blobId));
}

/**
 * Adds archived events to the rows of a window that were read before: in this order no event can be missed,
 * because a segment is inserted in the change that deletes its rows. An event that is read twice counts once.
 * Reads one segment at a time.
 */
export async function withArchived(
  session: Session,
  taskId: string,
  window: EventWindow,
  rows: readonly TaskEvent[],
): Promise<readonly TaskEvent[]> {
  const { order, limit, afterSeq = 0, beforeSeq = seqMax } = window;
  const segments = await eventSegment.rows(session)(sql`
    SELECT ${eventSegment.of("s")} FROM event_segment s
    WHERE task_id = ${taskId} AND last_seq > ${afterSeq} AND first_seq < ${beforeSeq} ORDER BY first_seq ${direction(order)}`);
  let found = rows;
  for (const each of segments) {
    const last = found[limit - 1]?.seq;
    if (last !== undefined && (order === "asc" ? each.firstSeq > last : each.lastSeq < last)) break;
    const events = (await readSegment(session, each)).filter((event) => isIn(window, event));
    found = merge(found, events, order).slice(0, limit);
  }
  return found;
}

/** The first segment with events after a number, up to another one; null without one. */
export const firstSegment = (
  session: Session,
  taskId: string,
  afterSeq: number,
  upTo: number,
): Promise<EventSegment | null> =>
  eventSegment.row(session)(sql`
    SELECT ${eventSegment.of("s")} FROM event_segment s
    WHERE task_id = ${taskId} AND last_seq > ${afterSeq} AND first_seq <= ${upTo} ORDER BY first_seq LIMIT 1`);

/**
 * Reads a segment. It may have been rewritten or deleted since its row was read: then its bytes may be gone.
 */
export async function readSegment(session: Session, each: EventSegment): Promise<readonly TaskEvent[]> {
  try {
    return await session.readSegment(each);
  } catch (thrown) {
    const now = await eventSegment.row(session)(sql`
      SELECT ${eventSegment.of("s")} FROM event_segment s WHERE task_id = ${each.taskId} AND first_seq = ${each.firstSeq}`);
    if (now === null) return [];
    if (now.blobId === each.blobId) throw thrown;
    return readSegment(session, now);
  }
}

/** Whether events of these types can be archived. */
export const mayBeArchived = (types: readonly EventType[] | undefined): boolean =>
  types === undefined || types.some(isArchivedType);

function isIn(
  { afterSeq = 0, beforeSeq = seqMax, verbose, types }: EventWindow,
  { seq, type }: TaskEvent,
): boolean {
  return (
    seq > afterSeq &&
    seq < beforeSeq &&
    (verbose || !verboseTypes.has(type)) &&
    (types === undefined || types.includes(type))
  );
}

/** Events of both lists by number, each once. */
export function merge(
  some: readonly TaskEvent[],
  others: readonly TaskEvent[],
  order: "asc" | "desc",
): readonly TaskEvent[] {
  const bySeq = new Map([...others, ...some].map((event) => [event.seq, event]));
  return [...bySeq.values()].toSorted((a, b) => (order === "asc" ? a.seq - b.seq : b.seq - a.seq));
}

/** The first items whose bytes fit; the first item always does. */
export function fitting<T>(items: readonly T[], sizeOf: (item: T) => number, bytesMax: number): readonly T[] {
  let bytes = 0;
  const over = items.findIndex((item, index) => {
    bytes += sizeOf(item);
    return index > 0 && bytes > bytesMax;
  });
  return over < 0 ? items : items.slice(0, over);
}
