import type { PackedSession, StepQuery, StepRows } from "../../core/exports/archive-rows.ts";
import type { StepName } from "../../core/exports/export.ts";
import type { EventType, TaskEvent } from "../../core/tasks/event.ts";
import type { Session } from "../session.ts";
import { allOf, empty, join, type Sql, sql } from "../statements.ts";
import { countRows, tables } from "../table.ts";
import { type EventsWanted, eventPages } from "./event.ts";
import { mayBeArchived } from "./event-segment.ts";

const packed = tables.task.pick("id", "accountId", "agentProfile", "createdAt", "lastSeq");

/** The types of events that may be steps of a kind. */
const eventsOf: Readonly<Record<StepName, readonly EventType[]>> = {
  user_chat: ["user_message"],
  agent_reply: ["assistant_message", "error_message"],
  tool_call: ["tool_used"],
  tool_result: ["tool_used"],
};

/** Events that ask for a confirmation, matched by the payload's JSON text. */
const asks = sql`AND type = 'tool_used' AND payload LIKE '%"status":"pending_confirmation"%'`;
const isAsking = ({ type, payload }: TaskEvent): boolean =>
  type === "tool_used" && JSON.stringify(payload).includes('"status":"pending_confirmation"');

/** The sessions of a space, for step archives. */
export function stepRows(session: Session): StepRows {
  const { query } = session;
  const page = eventPages({ ...session, query: session.scans.query });
  return {
    async has(spaceId, taskId) {
      const found = await query(
        sql`SELECT 1 AS one FROM task WHERE id = ${taskId} AND space_id = ${spaceId} AND deleted_at IS NULL`,
      );
      return found.length > 0;
    },
    count: (stepQuery) => countRows(session.scans, sql`FROM task t WHERE ${conditions(stepQuery)}`),
    async sessions(stepQuery, after, limit) {
      const beyond = after === null ? empty : sql`AND ${later(stepQuery, after)}`;
      return packed.rows(session.scans)(sql`
        SELECT ${packed.of("t")} FROM task t WHERE ${conditions(stepQuery)} ${beyond}
        ORDER BY t.account_id, t.created_at, t.id LIMIT ${limit}`);
    },
    events: (stepQuery, taskId, afterSeq, lastSeq) => page(taskId, afterSeq, lastSeq, isStepIn(stepQuery)),
    async approvalRequests({ startTime }, taskId, afterSeq, lastSeq) {
      if (startTime === null) return [];
      const isWanted = (event: TaskEvent) => isAsking(event) && event.timestamp < startTime;
      return page(taskId, afterSeq, lastSeq, { where: sql`${asks} AND timestamp < ${startTime}`, isWanted });
    },
  };
}

/**
 * The sessions of one person use a seek without the account: otherwise SQLite would read them from the first
 * one each time.
 */
const later = ({ user }: StepQuery, { accountId, createdAt, id }: PackedSession): Sql =>
  user === null
    ? sql`(t.account_id, t.created_at, t.id) > (${accountId}, ${createdAt}, ${id})`
    : sql`(t.created_at, t.id) > (${createdAt}, ${id})`;

/** A task's events are later than its creation, and `last_timestamp` is the time of its last event. */
function conditions({ spaceId, user, session, startTime, endTime }: StepQuery): Sql {
  const found = [
    sql`t.space_id = ${spaceId}`,
    sql`t.deleted_at IS NULL`,
    sql`t.last_seq > 0`,
    sql`t.created_at < ${endTime}`,
  ];
  if (startTime !== null) found.push(sql`t.last_timestamp >= ${startTime}`);
  if (user !== null) found.push(sql`t.account_id = ${user}`);
  if (session !== null) found.push(sql`t.id = ${session}`);
  return allOf(found);
}

function isStepIn({ startTime, endTime, names }: StepQuery): EventsWanted {
  const types = [...new Set(names.flatMap((name) => eventsOf[name]))];
  const from = startTime === null ? empty : sql`AND timestamp >= ${startTime}`;
  const isWanted = ({ type, timestamp }: TaskEvent) =>
    types.includes(type) && timestamp >= (startTime ?? 0) && timestamp < endTime;
  return {
    where: sql`AND type IN (${join(types)}) ${from} AND timestamp < ${endTime}`,
    ...(mayBeArchived(types) ? { isWanted } : {}),
  };
}
