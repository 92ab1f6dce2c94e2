import type { Budget, BudgetKind, BudgetRows, Payer } from "../../core/usage/budget.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, tables } from "../table.ts";

const { budget: shape, budgetHold } = tables;
const sum = computedShape({ spent: integer(sql`COALESCE(-SUM(credits), 0)`) });

/** Budgets and their holds as rows. Outside a change, no row is locked. */
export function budgetRows(session: Session): BudgetRows {
  const { dialect, execute } = session;
  // Only locks need an order of the database: on SQLite it costs five times as much as the rest of the
  // statement.
  const lock = dialect === "postgresql" && session.change !== null ? raw("ORDER BY id FOR UPDATE") : empty;
  const found = async (where: Sql): Promise<readonly Budget[]> =>
    (await shape.rows(session)(sql`SELECT ${shape.of("budget")} FROM budget WHERE ${where} ${lock}`)).sort(
      (a, b) => (a.id < b.id ? -1 : 1),
    );
  return {
    listFor: (payer) => found(paidBy(payer)),
    byIds: async (ids) => (ids.length === 0 ? [] : found(sql`id IN (${join([...ids])})`)),
    async save({ id, spent, held, since }) {
      await execute(sql`UPDATE budget SET ${join(shape.set({ spent, held, since }))} WHERE id = ${id}`);
    },
    list: (spaceId) =>
      shape.rows(session)(sql`
        SELECT ${shape.of("budget")} FROM budget WHERE space_id = ${spaceId} ORDER BY kind, subject, period`),
    async set(budget) {
      changeOf(session);
      // This lock waits for changes that write a cost. Later costs find the new budget.
      if (dialect === "postgresql") await execute(sql`LOCK TABLE usage_entry IN SHARE MODE`);
      const { spaceId, kind, subject, period, credits, updatedAt } = budget;
      const [before = null] = await found(
        sql`space_id = ${spaceId} AND kind = ${kind} AND subject = ${subject} AND period = ${period}`,
      );
      if (before !== null) {
        await execute(
          sql`UPDATE budget SET credits = ${credits}, updated_at = ${updatedAt} WHERE id = ${before.id}`,
        );
        return { before, after: { ...before, credits, updatedAt } };
      }
      const row = await sum.row(session)(sql`
        SELECT ${sum.of("usage_entry")} FROM usage_entry WHERE space_id = ${spaceId} AND at >= ${budget.since} AND ${counted(budget)}`);
      const after = { ...budget, spent: row?.spent ?? 0 };
      await execute(shape.insert(after));
      return { before, after };
    },
    remove: (spaceId, id) =>
      shape.row(session)(
        sql`DELETE FROM budget WHERE id = ${id} AND space_id = ${spaceId} RETURNING ${shape.of("budget")}`,
      ),
    async insertReservation(hold) {
      await execute(budgetHold.insert(hold));
    },
    release: (ids) =>
      budgetHold.rows(session)(sql`
        DELETE FROM budget_hold WHERE id IN (${join([...ids])}) RETURNING ${budgetHold.of("budget_hold")}`),
    releaseRun: ({ id, fence }) =>
      budgetHold.rows(session)(sql`
        DELETE FROM budget_hold WHERE task_id = ${id} AND fence = ${fence} RETURNING ${budgetHold.of("budget_hold")}`),
    async releaseStale(now, max) {
      const skip = raw(dialect === "postgresql" ? "FOR UPDATE SKIP LOCKED" : "");
      return budgetHold.rows(session)(sql`
        DELETE FROM budget_hold WHERE id IN (
          SELECT h.id FROM budget_hold h WHERE h.lease_until <= ${now} OR NOT EXISTS (
            SELECT 1 FROM task t WHERE t.id = h.task_id AND t.fence = h.fence AND t.status = 'running' AND t.deleted_at IS NULL
          ) LIMIT ${max} ${skip}
        ) RETURNING ${budgetHold.of("budget_hold")}`);
    },
  };
}

/** The budgets that a payer's costs count in. */
function paidBy({ spaceId, taskId, projectId, clientId, accountId }: Payer): Sql {
  const subjects = {
    task: taskId,
    project: projectId,
    app: clientId,
    account: accountId,
    team: spaceId,
  } satisfies Record<BudgetKind, string | null>;
  const matching = Object.entries(subjects).flatMap(([kind, id]) =>
    id === null ? [] : [sql`(kind = ${kind} AND subject = ${id})`],
  );
  return sql`space_id = ${spaceId} AND (${join(matching, " OR ")})`;
}

/** The column of an entry that names the budget's subject. All entries of a space count for its team. */
const subjectColumns = {
  task: "task_id",
  project: "project_id",
  app: "client_id",
  account: "account_id",
} as const;
function counted({ kind, subject }: Budget): Sql {
  if (kind === "team") return sql`1 = 1`;
  const own = sql`${raw(subjectColumns[kind])} = ${subject}`;
  return kind === "task"
    ? sql`(${own} OR task_id IN (SELECT id FROM task WHERE root_id = ${subject} AND deleted_at IS NULL))`
    : own;
}
