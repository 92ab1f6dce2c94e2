import type { Budget, BudgetHold, BudgetKind, BudgetPeriod, BudgetRows, Payer } from "../../core/usage/budget.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, insertInto, join, numberOf, type Row, raw, type Sql, sql, type Whole } from "../sql.ts";
import { textsIn } from "./app.ts";

interface BudgetRow {
  readonly id: string;
  readonly space_id: string;
  readonly kind: string;
  readonly subject: string;
  readonly period: string;
  readonly credits: Whole;
  readonly spent: Whole;
  readonly held: Whole;
  readonly since: Whole;
  readonly created_at: Whole;
  readonly updated_at: Whole;
}

interface HoldRow {
  readonly id: string;
  readonly task_id: string;
  readonly fence: Whole;
  readonly budgets: string;
  readonly credits: Whole;
  readonly lease_until: Whole;
}

const columns = sql`id, space_id, kind, subject, period, credits, spent, held, since, created_at, updated_at`;
const holdColumns = sql`id, task_id, fence, budgets, credits, lease_until`;

/** Budgets and their holds as rows. Outside a change, nothing is locked. */
export function budgetRows(session: Session): BudgetRows {
  const { dialect, query, execute } = session;
  const lock = dialect === "postgresql" && session.change !== null ? raw("FOR UPDATE") : empty;
  async function found(where: Sql, order = sql`id`): Promise<readonly Budget[]> {
    const rows = await query<BudgetRow>(sql`SELECT ${columns} FROM budget WHERE ${where} ORDER BY ${order} ${lock}`);
    return rows.map(budgetOf);
  }
  return {
    of: (payer) => found(paidBy(payer)),
    byIds: async (ids) => (ids.length === 0 ? [] : found(sql`id IN (${join([...ids])})`)),
    async save({ id, spent, held, since }) {
      await execute(sql`UPDATE budget SET spent = ${spent}, held = ${held}, since = ${since} WHERE id = ${id}`);
    },
    async list(spaceId) {
      const rows = await query<BudgetRow>(sql`
        SELECT ${columns} FROM budget WHERE space_id = ${spaceId} ORDER BY kind, subject, period`);
      return rows.map(budgetOf);
    },
    async set(budget) {
      changeOf(session);
      // Whoever writes a cost holds a lock that this one waits for, and whoever comes later finds the budget.
      if (dialect === "postgresql") await execute(sql`LOCK TABLE usage_entry IN SHARE MODE`);
      const { spaceId, kind, subject, period, credits, updatedAt } = budget;
      const [before = null] = await found(sql`space_id = ${spaceId} AND kind = ${kind} AND subject = ${subject} AND period = ${period}`);
      if (before !== null) {
        await execute(sql`UPDATE budget SET credits = ${credits}, updated_at = ${updatedAt} WHERE id = ${before.id}`);
        return { before, after: { ...before, credits, updatedAt } };
      }
      const [sum] = await query<{ readonly spent: Whole | null }>(sql`
        SELECT -SUM(credits) AS spent FROM usage_entry WHERE space_id = ${spaceId} AND at >= ${budget.since} AND ${counted(budget)}`);
      const after = { ...budget, spent: numberOf(sum?.spent ?? 0) };
      await execute(insertInto("budget", [rowOf(after)]));
      return { before, after };
    },
    async remove(spaceId, id) {
      const [row] = await query<BudgetRow>(sql`DELETE FROM budget WHERE id = ${id} AND space_id = ${spaceId} RETURNING ${columns}`);
      return row ? budgetOf(row) : null;
    },
    async hold({ id, taskId, fence, budgets, credits, leaseUntil }) {
      const row = { id, task_id: taskId, fence, budgets: JSON.stringify(budgets), credits, lease_until: leaseUntil };
      await execute(insertInto("budget_hold", [row]));
    },
    async release(ids) {
      const rows = await query<HoldRow>(sql`DELETE FROM budget_hold WHERE id IN (${join([...ids])}) RETURNING ${holdColumns}`);
      return rows.map(holdOf);
    },
    async releaseStale(now, max) {
      const skip = raw(dialect === "postgresql" ? "FOR UPDATE SKIP LOCKED" : "");
      const rows = await query<HoldRow>(sql`
        DELETE FROM budget_hold WHERE id IN (
          SELECT h.id FROM budget_hold h WHERE h.lease_until <= ${now} OR NOT EXISTS (
            SELECT 1 FROM task t WHERE t.id = h.task_id AND t.fence = h.fence AND t.status = 'running' AND t.deleted_at IS NULL
          ) LIMIT ${max} ${skip}
        ) RETURNING ${holdColumns}`);
      return rows.map(holdOf);
    },
  };
}

/** The budgets that a payer's costs count in. */
function paidBy({ spaceId, taskId, projectId, clientId, accountId }: Payer): Sql {
  const subjects = { task: taskId, project: projectId, app: clientId, account: accountId, team: spaceId } satisfies Record<
    BudgetKind,
    string | null
  >;
  const wanted = Object.entries(subjects).flatMap(([kind, id]) => (id === null ? [] : [sql`(kind = ${kind} AND subject = ${id})`]));
  return sql`space_id = ${spaceId} AND (${join(wanted, " OR ")})`;
}

/** The column of an entry that says what it counts for; all entries of a space are its team's. */
const subjectColumns = { task: "task_id", project: "project_id", app: "client_id", account: "account_id" } as const;
const counted = ({ kind, subject }: Budget): Sql => (kind === "team" ? sql`1 = 1` : sql`${raw(subjectColumns[kind])} = ${subject}`);

const rowOf = ({ id, spaceId, kind, subject, period, credits, spent, held, since, createdAt, updatedAt }: Budget): Row => ({
  ...{ id, kind, subject, period, credits, spent, held, since },
  space_id: spaceId,
  created_at: createdAt,
  updated_at: updatedAt,
});

/** Kind and period were written as such by this program. */
const budgetOf = (row: BudgetRow): Budget => ({
  id: row.id,
  spaceId: row.space_id,
  kind: row.kind as BudgetKind,
  subject: row.subject,
  period: row.period as BudgetPeriod,
  credits: numberOf(row.credits),
  spent: numberOf(row.spent),
  held: numberOf(row.held),
  since: numberOf(row.since),
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
});

const holdOf = (row: HoldRow): BudgetHold => ({
  id: row.id,
  taskId: row.task_id,
  fence: numberOf(row.fence),
  budgets: textsIn(row.budgets),
  credits: numberOf(row.credits),
  leaseUntil: numberOf(row.lease_until),
});
