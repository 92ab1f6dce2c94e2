import type { TaskEvent } from "../../core/tasks/event.ts";
import type { Session } from "../session.ts";
import { numberOf, type Sql, sql, type Whole } from "../sql.ts";
import { type EventRow, eventOf } from "./event.ts";

/** The events of one page: so many, and so many bytes of payload, save that one alone may have more. */
const eventsMax = 500;
const pageBytes = 1024 * 1024;

/** Reads the next events of a task, of those that `which` leaves. @param which begins with AND, or is empty. */
export type EventPages = (taskId: string, afterSeq: number, lastSeq: number, which: Sql) => Promise<readonly TaskEvent[]>;

/** First the sizes, which no database has to read payloads for; then as many payloads as fit. */
export const eventPages =
  ({ query }: Pick<Session, "query">): EventPages =>
  async (taskId, afterSeq, lastSeq, which) => {
    const sizes = await query<{ readonly seq: Whole; readonly size: Whole }>(sql`
      SELECT seq, octet_length(payload) AS size FROM task_event
      WHERE task_id = ${taskId} AND seq > ${afterSeq} AND seq <= ${lastSeq} ${which} ORDER BY seq LIMIT ${eventsMax}`);
    const end = fitting(sizes);
    if (end === null) return [];
    const rows = await query<EventRow>(sql`
      SELECT seq, type, timestamp, payload FROM task_event
      WHERE task_id = ${taskId} AND seq > ${afterSeq} AND seq <= ${end} ${which} ORDER BY seq`);
    return rows.map((row) => eventOf(taskId, row));
  };

/** The number of the last one that is still within the bytes; null for none. The first is always. */
function fitting(sizes: readonly { readonly seq: Whole; readonly size: Whole }[]): number | null {
  let [end, bytes]: [number | null, number] = [null, 0];
  for (const { seq, size } of sizes) {
    bytes += numberOf(size);
    if (end !== null && bytes > pageBytes) break;
    end = numberOf(seq);
  }
  return end;
}
