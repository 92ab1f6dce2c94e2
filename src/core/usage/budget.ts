import type { Scope } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { rootOf } from "../tasks/subtasks.ts";
import type { Task } from "../tasks/task.ts";

export const budgetKinds = ["task", "project", "app", "account", "team"] as const;
export type BudgetKind = (typeof budgetKinds)[number];

/** When the spent credits reset: never, or with each day or month in UTC. */
export const budgetPeriods = ["total", "day", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** The credits that may be spent on a subject. Credits are whole numbers. */
export interface Budget {
  readonly id: string;
  readonly spaceId: string;
  readonly kind: BudgetKind;
  /** The id of the subject; a team's is its space. */
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly credits: number;
  /** Costs less refunds and grants in the period that began at `since`; negative when more was granted. */
  readonly spent: number;
  /** Credits reserved for calls in progress. */
  readonly held: number;
  /** Unix milliseconds. */
  readonly since: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Credits reserved for one call of one run. */
export interface BudgetReservation {
  readonly id: string;
  readonly taskId: string;
  readonly fence: number;
  /** The ids of the budgets that it reserves credits in. */
  readonly budgets: readonly string[];
  readonly credits: number;
  readonly leaseUntil: number;
}

/** The ids of all budget subjects that a cost counts toward. */
export type Payer = Pick<Task, "spaceId" | "accountId"> & {
  readonly taskId: string | null;
  readonly projectId: string | null;
  readonly clientId: string | null;
};

/** The payer of a task's costs. The costs of subtasks count at the first task of their tree. */
export const payerOf = ({
  id,
  rootId,
  spaceId,
  accountId,
  projectId,
  clientId,
}: Pick<Task, "id" | "rootId" | "spaceId" | "accountId" | "projectId" | "clientId">): Payer => ({
  taskId: rootOf({ id, rootId }),
  spaceId,
  accountId,
  projectId,
  clientId,
});

/** The start of the period that contains a time, Unix milliseconds. */
export function periodStart(period: BudgetPeriod, now: number): number {
  if (period === "total") return 0;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), period === "day" ? date.getUTCDate() : 1);
}

/** A budget in the current period: a new period resets what is spent. Reservations stay. */
export function inPeriod(budget: Budget, now: number): Budget {
  const since = periodStart(budget.period, now);
  return since > budget.since ? { ...budget, since, spent: 0 } : budget;
}

/** The remaining credits, without reserved ones. Negative when more was spent. */
export const remainingCredits = ({ credits, spent, held }: Budget): number => credits - spent - held;

/** No credits remain to begin a run. */
export const isSpent = ({ credits, spent }: Budget): boolean => spent >= credits;

/** More was spent than allowed. */
export const isOverdrawn = ({ credits, spent }: Budget): boolean => spent > credits;

export interface BudgetRows {
  /**
   * The budgets that a payer's costs count toward, by id. In a change they are locked in that order; outside
   * of one they are not locked.
   */
  listFor(payer: Payer): Promise<readonly Budget[]>;
  /** Locked in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly Budget[]>;
  /** Saves `spent`, `held` and `since`. */
  save(budget: Budget): Promise<void>;
  /** The budgets of a space, by kind, subject and period. */
  list(spaceId: string): Promise<readonly Budget[]>;
  /**
   * Creates a budget with the costs so far as spent, or changes the credits of the existing
   * one. Blocks writes of costs until the change ends. `before` is null for a new budget.
   */
  set(budget: Budget): Promise<{ before: Budget | null; after: Budget }>;
  /** Returns the deleted budget; null when the space has none of this id. */
  remove(spaceId: string, id: string): Promise<Budget | null>;
  insertReservation(hold: BudgetReservation): Promise<void>;
  /** Deletes these reservations and returns those that existed. */
  release(ids: readonly string[]): Promise<readonly BudgetReservation[]>;
  /** The same for those of a run. */
  releaseRun(run: Pick<Task, "id" | "fence">): Promise<readonly BudgetReservation[]>;
  /** Deletes reservations whose run has ended or whose lease is over, at most `max`. */
  releaseStale(now: number, max: number): Promise<readonly BudgetReservation[]>;
}

export const budgetsMax = 1000;

/** A requested budget; the subject of a team budget is ignored. */
export interface BudgetInput {
  readonly kind: BudgetKind;
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly credits: number;
}

export interface Budgets {
  /**
   * Creates the budget or changes its credits. @throws Failure `not_found` for a subject outside the space,
   * `invalid_argument` for a subtask, `resource_exhausted` at 1000.
   */
  set(tx: Tx, space: Pick<Scope, "spaceId">, input: BudgetInput): Promise<Budget>;
  list(tx: Tx, space: Pick<Scope, "spaceId">): Promise<readonly Budget[]>;
  listOwn(tx: Tx, person: Pick<Scope, "accountId" | "spaceId">): Promise<readonly Budget[]>;
  /** @throws Failure `not_found` */
  remove(tx: Tx, space: Pick<Scope, "spaceId">, id: string): Promise<void>;
}

export function budgets({ clock, ids }: { clock: Pick<Clock, "now">; ids: Pick<Ids, "short"> }): Budgets {
  async function list(tx: Tx, { spaceId }: Pick<Scope, "spaceId">): Promise<readonly Budget[]> {
    const now = clock.now();
    return (await tx.budgets.list(spaceId)).map((budget) => inPeriod(budget, now));
  }

  return {
    list,
    listOwn: async (tx, { accountId, spaceId }) =>
      (await list(tx, { spaceId })).filter(
        ({ kind, subject }) => kind === "account" && subject === accountId,
      ),
    async set(tx, { spaceId }, { kind, subject: requestedSubject, period, credits }) {
      const now = clock.now();
      const subject = kind === "team" ? spaceId : requestedSubject;
      await tx.accounts.lockSpace(spaceId);
      if (!(await subjectExists(tx, spaceId, kind, subject))) throw notFound(kind, "subject");
      const created = {
        id: ids.short(),
        spaceId,
        kind,
        subject,
        period,
        credits,
        spent: 0,
        held: 0,
        since: periodStart(period, now),
      };
      const { before, after } = await tx.budgets.set({ ...created, createdAt: now, updatedAt: now });
      if (before === null && (await tx.budgets.list(spaceId)).length > budgetsMax)
        throw new Failure("resource_exhausted", `a space has at most ${budgetsMax} budgets`);
      tx.audit.note({
        subject: after.id,
        before: before && { credits: before.credits },
        after: { kind, subject, period, credits },
      });
      return inPeriod(after, now);
    },
    async remove(tx, { spaceId }, id) {
      const removed = await tx.budgets.remove(spaceId, id);
      if (removed === null) throw notFound("budget");
      const { kind, subject, period, credits } = removed;
      tx.audit.note({ subject: id, before: { kind, subject, period, credits } });
    },
  };
}

/** Whether the space has a subject of this kind and id. Deleted subjects do not count. */
async function subjectExists(tx: Tx, spaceId: string, kind: BudgetKind, subject: string): Promise<boolean> {
  const team = await tx.accounts.teamOf(spaceId);
  switch (kind) {
    case "team":
      return team !== null;
    case "account":
      return team === null
        ? (await tx.accounts.personalSpace(subject))?.id === spaceId
        : isMember(tx, team.id, subject);
    case "task":
      return taskExists(tx, spaceId, subject);
    case "project":
      return tx.projects.lockIn(spaceId, subject);
    case "app":
      return isAppIn(await tx.apps.find(subject), spaceId);
  }
}

/** @throws Failure `invalid_argument` for a subtask. */
async function taskExists(tx: Tx, spaceId: string, id: string): Promise<boolean> {
  const task = await tx.tasks.byId(id);
  if (task?.spaceId !== spaceId) return false;
  if (task.rootId !== null)
    throw invalidArgument("subject", `is a subtask: its costs count at the task ${task.rootId}`);
  return true;
}

/** Apps of the space, and the command line, which belongs to none. */
const isAppIn = (app: { spaceId: string | null } | null, spaceId: string): boolean =>
  app !== null && (app.spaceId === null || app.spaceId === spaceId);

async function isMember(tx: Tx, teamId: string, accountId: string): Promise<boolean> {
  const member = await tx.accounts.member(teamId, accountId);
  return member !== null && member.status !== "removed";
}
