import type { StepName } from "../../core/exports/export.ts";
import type { PackedSession, StepRows, WantedSteps } from "../../core/exports/step-rows.ts";
import type { EventType } from "../../core/tasks/event.ts";
import type { Session } from "../session.ts";
import { all, empty, join, numberOf, type Sql, sql, type Whole } from "../sql.ts";
import { eventPages } from "./event-page.ts";

interface SessionRow {
  readonly id: string;
  readonly account_id: string;
  readonly agent_profile: string;
  readonly created_at: Whole;
  readonly last_seq: Whole;
}

/** Which events may be steps of a kind. */
const eventsOf: Readonly<Record<StepName, readonly EventType[]>> = {
  user_chat: ["user_message"],
  agent_reply: ["assistant_message", "error_message"],
  tool_call: ["tool_used"],
  tool_result: ["tool_used"],
};

/** As the payload's JSON has it. */
const asks = sql`AND type = 'tool_used' AND payload LIKE '%"status":"pending_confirmation"%'`;

/** The sessions of a space, for archives of steps. */
export function stepRows(session: Session): StepRows {
  const { query } = session;
  const page = eventPages(session);
  return {
    async has(spaceId, taskId) {
      const found = await query(sql`SELECT 1 AS one FROM task WHERE id = ${taskId} AND space_id = ${spaceId} AND deleted_at IS NULL`);
      return found.length > 0;
    },
    async count(wanted) {
      const [row] = await query<{ readonly found: Whole }>(sql`SELECT COUNT(*) AS found FROM task t WHERE ${chosen(wanted)}`);
      return numberOf(row?.found ?? 0);
    },
    async sessions(wanted, after, limit) {
      const beyond = after === null ? empty : sql`AND ${later(wanted, after)}`;
      const rows = await query<SessionRow>(sql`
        SELECT t.id, t.account_id, t.agent_profile, t.created_at, t.last_seq FROM task t WHERE ${chosen(wanted)} ${beyond}
        ORDER BY t.account_id, t.created_at, t.id LIMIT ${limit}`);
      return rows.map((row) => ({
        ...{ id: row.id, accountId: row.account_id, agentProfile: row.agent_profile },
        ...{ createdAt: numberOf(row.created_at), lastSeq: numberOf(row.last_seq) },
      }));
    },
    events: (wanted, taskId, afterSeq, lastSeq) => page(taskId, afterSeq, lastSeq, within(wanted)),
    async asking({ startTime }, taskId, afterSeq, lastSeq) {
      return startTime === null ? [] : page(taskId, afterSeq, lastSeq, sql`${asks} AND timestamp < ${startTime}`);
    },
  };
}

/** One person's are gone through by a seek of their own: SQLite would read the person's from the first on each time. */
const later = ({ user }: WantedSteps, { accountId, createdAt, id }: PackedSession): Sql =>
  user === null
    ? sql`(t.account_id, t.created_at, t.id) > (${accountId}, ${createdAt}, ${id})`
    : sql`(t.created_at, t.id) > (${createdAt}, ${id})`;

/** A task's events come after its creation, and its last one's time is its own. */
function chosen({ spaceId, user, session, startTime, endTime }: WantedSteps): Sql {
  const conditions = [sql`t.space_id = ${spaceId}`, sql`t.deleted_at IS NULL`, sql`t.last_seq > 0`, sql`t.created_at < ${endTime}`];
  if (startTime !== null) conditions.push(sql`t.last_timestamp >= ${startTime}`);
  if (user !== null) conditions.push(sql`t.account_id = ${user}`);
  if (session !== null) conditions.push(sql`t.id = ${session}`);
  return all(conditions);
}

function within({ startTime, endTime, names }: WantedSteps): Sql {
  const types = [...new Set(names.flatMap((name) => eventsOf[name]))];
  const from = startTime === null ? empty : sql`AND timestamp >= ${startTime}`;
  return sql`AND type IN (${join(types)}) ${from} AND timestamp < ${endTime}`;
}
