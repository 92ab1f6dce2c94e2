import { type EventRows, type EventWindow, type NewEvent, type TaskEvent, verboseTypes } from "../../core/tasks/event.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { Session } from "../session.ts";
import { all, direction, insertInto, join, numberOf, type Sql, sql, type Whole } from "../sql.ts";

/** A row of `task_event` as a statement gives it. */
export interface EventRow {
  readonly seq: Whole;
  readonly type: string;
  readonly timestamp: Whole;
  readonly payload: string;
}

const verbose = [...verboseTypes];

/** Events as rows: read by windows, written only with their task (`appendEvents`). */
export function eventRows({ query, execute }: Session): EventRows {
  return {
    async list(taskId, window) {
      const found = await query<EventRow>(sql`
        SELECT seq, type, timestamp, payload FROM task_event WHERE ${all(conditions(taskId, window))}
        ORDER BY seq ${direction(window.order)} LIMIT ${window.limit}`);
      return found.map((row) => eventOf(taskId, row));
    },
    async erase(taskId) {
      await execute(sql`DELETE FROM task_event WHERE task_id = ${taskId}`);
    },
    async eraseDeleted(before, max) {
      const found = await query<{ readonly id: string }>(sql`
        SELECT id FROM task WHERE deleted_at < ${before} AND EXISTS (SELECT 1 FROM task_event WHERE task_id = task.id) LIMIT ${max}`);
      if (found.length > 0) await execute(sql`DELETE FROM task_event WHERE task_id IN (${join(found.map(({ id }) => id))})`);
      return found.length;
    },
  };
}

/**
 * Writes the events that brought a task to its present `lastSeq` and `lastTimestamp`:
 * those are the last one's number and time, the others lie one apart before them.
 */
export async function appendEvents({ execute }: Session, task: Task, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const before = { seq: task.lastSeq - events.length, timestamp: task.lastTimestamp - events.length };
  const rows = events.map(({ type, payload }, index) => ({
    task_id: task.id,
    seq: before.seq + index + 1,
    space_id: task.spaceId,
    type,
    timestamp: before.timestamp + index + 1,
    payload: JSON.stringify(payload),
  }));
  await execute(insertInto("task_event", rows));
}

function conditions(taskId: string, window: EventWindow): Sql[] {
  const found = [sql`task_id = ${taskId}`];
  if (window.afterSeq !== undefined) found.push(sql`seq > ${window.afterSeq}`);
  if (window.beforeSeq !== undefined) found.push(sql`seq < ${window.beforeSeq}`);
  if (!window.verbose) found.push(sql`type NOT IN (${join(verbose)})`);
  return found;
}

/** The payload was written as its type's, by `appendEvents`. */
export const eventOf = (taskId: string, { seq, type, timestamp, payload }: EventRow): TaskEvent => {
  const event = { type, payload: JSON.parse(payload) as unknown } as NewEvent;
  return { ...event, taskId, seq: numberOf(seq), timestamp: numberOf(timestamp) };
};
