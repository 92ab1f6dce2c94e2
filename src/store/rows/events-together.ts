import type { ArchiveRows, PackedTask } from "../../core/exports/archive-rows.ts";
import type { TaskEvent } from "../../core/tasks/event.ts";
import type { Session } from "../session.ts";
import { inTexts, sql } from "../statements.ts";
import { integer, type RowOf, tables } from "../table.ts";
import { eventShape } from "./event-shape.ts";

/** The limits of one read: events, and bytes of payloads. */
const eventsMax = 500;
const bytesMax = 1024 * 1024;

const sizeShape = tables.taskEvent.pick("taskId").with({
  events: integer(sql`COUNT(*)`),
  bytes: integer(sql`CAST(SUM(octet_length(e.payload)) AS BIGINT)`),
});

/**
 * Reads the events of small tasks together: two statements for up to 500 events instead of two for each task.
 */
export const eventsTogether =
  ({ dialect, scans }: Session): ArchiveRows["eventsTogether"] =>
  async (tasks) => {
    const few = firstFew(tasks);
    if (few.length === 0) return new Map();
    const sizes = await sizeShape.rows(scans)(sql`
      SELECT ${sizeShape.of("e")} FROM task_event e
      WHERE e.task_id ${inTexts(dialect, idsOf(few))} GROUP BY e.task_id`);
    const found = fitting(few, new Map(sizes.map((size) => [size.taskId, size])));
    const wanted = [...found].flatMap(([task, isWhole]) => (isWhole ? [task] : []));
    const events = await eventShape.rows(scans)(sql`
      SELECT ${eventShape.of("e")} FROM task_event e
      WHERE e.task_id ${inTexts(dialect, idsOf(wanted))} ORDER BY e.task_id, e.seq LIMIT ${eventsMax}`);
    const byTask = Map.groupBy(events, ({ taskId }) => taskId);
    return new Map([...found.keys()].map((task) => [task.id, whole(task, byTask.get(task.id))]));
  };

/** The first tasks with at most 500 events together. */
function firstFew(tasks: readonly PackedTask[]): readonly PackedTask[] {
  let events = 0;
  const end = tasks.findIndex(({ lastSeq }) => {
    events += lastSeq;
    return events > eventsMax;
  });
  return end === -1 ? tasks : tasks.slice(0, end);
}

/**
 * The tasks that fit into one read, at least one. False for a task that is too large, or that has not all of
 * its events here.
 */
function fitting(
  few: readonly PackedTask[],
  sizes: ReadonlyMap<string, RowOf<typeof sizeShape>>,
): ReadonlyMap<PackedTask, boolean> {
  const found = new Map<PackedTask, boolean>();
  let total = 0;
  for (const task of few) {
    const { events = 0, bytes = 0 } = sizes.get(task.id) ?? {};
    const isWhole = events === task.lastSeq && bytes <= bytesMax;
    if (isWhole && total + bytes > bytesMax) break;
    if (isWhole) total += bytes;
    found.set(task, isWhole);
  }
  return found;
}

const idsOf = (tasks: readonly PackedTask[]): readonly string[] => tasks.map(({ id }) => id);

/** Null if the task has lost events between the two statements; events that it has got are left out. */
function whole({ lastSeq }: PackedTask, events: readonly TaskEvent[] = []): readonly TaskEvent[] | null {
  const known = events.filter(({ seq }) => seq <= lastSeq);
  return known.length === lastSeq ? known : null;
}
