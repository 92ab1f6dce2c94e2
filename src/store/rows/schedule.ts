import type { Scope } from "../../core/accounts/caller.ts";
import {
  failuresMax,
  type PausedOwner,
  type Schedule,
  type ScheduleChanges,
  type ScheduleRows,
  unfinishedMax,
} from "../../core/schedules/schedule.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, join, type Sql, sql } from "../statements.ts";
import { countRows, tables } from "../table.ts";

const { schedule } = tables;
const ids = schedule.pick("id");

const selected = sql`SELECT ${schedule.of("t")} FROM schedule t`;
/** Tasks of a schedule that have not ended. */
const unfinished = (id: Sql): Sql =>
  sql`SELECT 1 FROM task WHERE schedule_id = ${id} AND status IN ('running', 'waiting') AND deleted_at IS NULL`;

export function scheduleRows(session: Session): ScheduleRows {
  const { dialect, execute } = session;
  const first = schedule.row(session);
  const update = (changes: ScheduleChanges, condition: Sql) =>
    execute(sql`UPDATE schedule SET ${join(schedule.set(changes))} WHERE ${condition}`);
  const byId = (id: string): Promise<Schedule | null> => first(sql`${selected} WHERE t.id = ${id}`);
  return {
    async insert(row) {
      await execute(schedule.insert(row));
    },
    find: (scope, id) => first(sql`${selected} WHERE t.id = ${id} AND ${visible(scope)}`),
    async lock(scope, id) {
      changeOf(session);
      return first(sql`${selected} WHERE t.id = ${id} AND ${visible(scope)} ${forUpdate(dialect, "t")}`);
    },
    byId,
    list: (scope, limit, after) =>
      schedule.rows(session)(sql`
        ${selected} WHERE ${visible(scope)} ${after ? sql`AND (t.created_at, t.id) < (${after.at}, ${after.id})` : empty}
        ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit}`),
    count: ({ accountId, spaceId }) =>
      countRows(session, sql`FROM schedule WHERE space_id = ${spaceId} AND account_id = ${accountId}`),
    async update(id, changes) {
      await update(changes, sql`id = ${id}`);
    },
    remove: async (id) => (await execute(sql`DELETE FROM schedule WHERE id = ${id}`)) === 1,
    async due(now, max) {
      const rows = await ids.rows(session)(sql`
        SELECT ${ids.of("t")} FROM schedule t WHERE t.next_at <= ${now} AND t.status = 'active' ORDER BY t.next_at LIMIT ${max}`);
      const ready = await ids.rows(session)(sql`
        SELECT ${ids.of("t")} FROM schedule t WHERE t.queued_at IS NOT NULL AND t.status = 'active'
          AND NOT EXISTS (${unfinished(sql`t.id`)}) ORDER BY t.queued_at LIMIT ${max}`);
      return [...new Set([...rows, ...ready].map(({ id }) => id))];
    },
    take: async ({ id, nextAt, queuedAt }, changes) =>
      (await update(
        changes,
        sql`id = ${id} AND status = 'active' AND ${same(sql`next_at`, nextAt)} AND ${same(sql`queued_at`, queuedAt)}`,
      )) === 1,
    countUnfinished: (id) =>
      countRows(session, sql`FROM (${unfinished(sql`${id}`)} LIMIT ${unfinishedMax}) u`),
    async addFailure(id, error, now) {
      const changed = await execute(sql`
        UPDATE schedule SET failures = failures + 1, last_error = ${error}, updated_at = ${now} WHERE id = ${id}`);
      if (changed === 0) return null;
      const isPause = sql`id = ${id} AND status = 'active' AND failures >= ${failuresMax}`;
      const hasPaused =
        (await update({ status: "paused", pauseReason: "failures", ...noTimes }, isPause)) === 1;
      const row = await byId(id);
      return row && { schedule: row, hasPaused };
    },
    async clearFailures(id) {
      await update({ failures: 0, lastError: null }, sql`id = ${id} AND failures > 0`);
    },
    pauseAll: (owner, reason, now) =>
      update(
        { status: "paused", pauseReason: reason, ...noTimes, updatedAt: now },
        sql`status = 'active' AND ${ownedBy(owner)}`,
      ),
  };
}

const noTimes = { nextAt: null, queuedAt: null } as const;

const same = (column: Sql, value: number | null): Sql =>
  value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`;

/** A token without manage_all_tasks reaches only what its app made, as for tasks. */
const visible = ({ accountId, spaceId, clientId }: Scope): Sql =>
  sql`t.space_id = ${spaceId} AND t.account_id = ${accountId}${clientId === undefined ? empty : sql` AND t.client_id = ${clientId}`}`;

const ownedBy = ({ spaceId, ...owner }: PausedOwner): Sql =>
  join(
    [
      sql`space_id = ${spaceId}`,
      ...("accountId" in owner ? [sql`account_id = ${owner.accountId}`] : []),
      ...(owner.clientId === undefined ? [] : [sql`client_id = ${owner.clientId}`]),
    ],
    " AND ",
  );
