import { dayOf, dayStart } from "../../core/usage/day.ts";
import type { SpentDay, UsageKind, UsageRecord, UsageRows } from "../../core/usage/usage.ts";
import { changeOf, type Session } from "../session.ts";
import { all, empty, insertInto, numberOf, raw, type Sql, sql, type Whole } from "../sql.ts";
import { peopleOf, personName } from "./usage-people.ts";

interface RecordRow {
  readonly id: string;
  readonly task_id: string | null;
  readonly title: string | null;
  readonly kind: string;
  readonly credits: Whole;
  readonly updated_at: Whole;
}

interface SpentRow {
  readonly credits: Whole;
  readonly at: Whole;
  readonly account_id: string;
  readonly space_id: string;
  readonly client_id: string | null;
  readonly project_id: string | null;
  readonly profile: string;
}

/** Credits that moved, and their sums, as rows. */
export function usageRows(session: Session): UsageRows {
  const { dialect, query, execute } = session;
  const lock = raw(dialect === "postgresql" ? "FOR UPDATE" : "");
  return {
    async ahead(taskId) {
      changeOf(session);
      const [row] = await query<{ readonly ahead: Whole }>(sql`SELECT ahead FROM usage_record WHERE id = ${taskId} ${lock}`);
      return numberOf(row?.ahead ?? 0);
    },
    async move({ id, taskId, accountId, spaceId, kind, credits, ahead, now }) {
      const row = { id, space_id: spaceId, account_id: accountId, task_id: taskId, kind, credits, ahead: ahead ?? 0, updated_at: now };
      // What is given back wholly is a refund; a cost after it makes it one again.
      await execute(sql`${insertInto("usage_record", [row])}
        ON CONFLICT (id) DO UPDATE SET credits = usage_record.credits + excluded.credits,
          ${ahead === undefined ? empty : sql`ahead = excluded.ahead,`}
          kind = CASE WHEN usage_record.credits + excluded.credits < 0 THEN 'cost' ELSE excluded.kind END,
          updated_at = CASE WHEN usage_record.updated_at > excluded.updated_at THEN usage_record.updated_at ELSE excluded.updated_at END`);
    },
    async insert({ id, spaceId, accountId, taskId, clientId, projectId, profile, kind, credits, at, ...used }) {
      const { inputTokens, outputTokens, toolCalls } = used;
      const owner = { space_id: spaceId, account_id: accountId };
      const of = { task_id: taskId, client_id: clientId, project_id: projectId, profile, kind, credits, at };
      const tokens = { input_tokens: inputTokens, output_tokens: outputTokens, tool_calls: toolCalls };
      await execute(insertInto("usage_entry", [{ id, ...owner, ...of, ...tokens }]));
      // What was given is no day's cost.
      if (kind === "grant" || credits === 0) return;
      await execute(sql`${insertInto("usage_day", [{ ...owner, day: dayOf(at), credits: 0 - credits }])}
        ON CONFLICT (space_id, account_id, day) DO UPDATE SET credits = usage_day.credits + excluded.credits`);
    },
    async records({ accountId, spaceId }, { limit, after }) {
      const rows = await query<RecordRow>(sql`
        SELECT r.id, r.task_id, CASE WHEN t.deleted_at IS NULL THEN t.title END AS title, r.kind, r.credits, r.updated_at
        FROM usage_record r LEFT JOIN task t ON t.id = r.task_id
        WHERE ${all([sql`r.space_id = ${spaceId} AND r.account_id = ${accountId}`, ...(after ? [beyond(after)] : [])])}
        ORDER BY r.updated_at DESC, r.id DESC LIMIT ${limit}`);
      return rows.map(recordOf);
    },
    async spentDays(taskId) {
      changeOf(session);
      await query(sql`SELECT id FROM usage_record WHERE id = ${taskId} ${lock}`);
      // Of whole days: a refund has the time of a cost of its day.
      const rows = await query<SpentRow>(sql`
        SELECT -SUM(credits) AS credits, MAX(at) AS at, MAX(account_id) AS account_id, MAX(space_id) AS space_id,
          MAX(client_id) AS client_id, MAX(project_id) AS project_id, MAX(profile) AS profile
        FROM usage_entry WHERE task_id = ${taskId} GROUP BY at / ${raw(String(dayStart(1)))} HAVING SUM(credits) < 0 ORDER BY at DESC`);
      return rows.map(spentDayOf);
    },
    async days(spaceId, accountId, { from, to }) {
      const of = accountId === undefined ? empty : sql`AND account_id = ${accountId}`;
      const rows = await query<{ readonly day: Whole; readonly credits: Whole }>(sql`
        SELECT day, CAST(SUM(credits) AS BIGINT) AS credits FROM usage_day
        WHERE space_id = ${spaceId} AND day >= ${from} AND day <= ${to} ${of} GROUP BY day`);
      return new Map(rows.map(({ day, credits }) => [numberOf(day), numberOf(credits)]));
    },
    people: peopleOf(session),
    async nameOf({ accountId, spaceId }) {
      const [row] = await query<{ readonly name: string | null }>(sql`SELECT ${personName(spaceId, sql`${accountId}`)} AS name`);
      return row?.name ?? "";
    },
  };
}

const beyond = ({ updatedAt, id }: { readonly updatedAt: number; readonly id: string }): Sql =>
  sql`(r.updated_at < ${updatedAt} OR (r.updated_at = ${updatedAt} AND r.id < ${id}))`;

/** The kind was written as such by this program. */
const recordOf = ({ id, task_id: taskId, title, kind, credits, updated_at: updatedAt }: RecordRow): UsageRecord => ({
  ...{ id, taskId, title, kind: kind as UsageKind, credits: numberOf(credits), updatedAt: numberOf(updatedAt) },
});

const spentDayOf = (row: SpentRow): SpentDay => ({
  credits: numberOf(row.credits),
  at: numberOf(row.at),
  accountId: row.account_id,
  spaceId: row.space_id,
  clientId: row.client_id,
  projectId: row.project_id,
  profile: row.profile,
});
