import type { Task } from "../tasks/task.ts";

/** What a budget can be for. */
export const budgetKinds = ["task", "project", "app", "account", "team"] as const;
export type BudgetKind = (typeof budgetKinds)[number];

/** When what was spent is forgotten: never, or with each day or month in UTC. */
export const budgetPeriods = ["total", "day", "month"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** What may be spent on something. Credits are whole numbers. */
export interface Budget {
  readonly id: string;
  readonly spaceId: string;
  readonly kind: BudgetKind;
  /** The id of what it is for; a team's is its space. */
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly credits: number;
  /** Costs less refunds and grants, of the period that began at `since`; below 0 when more was granted. */
  readonly spent: number;
  /** Reserved for calls that are under way. */
  readonly held: number;
  /** Unix milliseconds. */
  readonly since: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Credits reserved for one call of one run. */
export interface BudgetHold {
  readonly id: string;
  readonly taskId: string;
  /** The run's. */
  readonly fence: number;
  /** The ids of those that it is held in. */
  readonly budgets: readonly string[];
  readonly credits: number;
  readonly leaseUntil: number;
}

/** What costs are counted in: the ids of everything that a budget can be for. */
export type Payer = Pick<Task, "spaceId" | "accountId"> & {
  readonly taskId: string | null;
  readonly projectId: string | null;
  readonly clientId: string | null;
};

export const payerOf = ({ id, spaceId, accountId, projectId, clientId }: Task): Payer => ({
  ...{ taskId: id, spaceId, accountId, projectId, clientId },
});

/** When the period began that a time is in, Unix milliseconds. */
export function periodStart(period: BudgetPeriod, now: number): number {
  if (period === "total") return 0;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), period === "day" ? date.getUTCDate() : 1);
}

/** A budget as it is now: with a new period nothing of it is spent. What is held stays. */
export function inPeriod(budget: Budget, now: number): Budget {
  const since = periodStart(budget.period, now);
  return since > budget.since ? { ...budget, since, spent: 0 } : budget;
}

/** What is left: what is held is not. Below 0 where more was spent. */
export const roomIn = ({ credits, spent, held }: Budget): number => credits - spent - held;

/** Nothing is left to begin a run with. */
export const isSpent = ({ credits, spent }: Budget): boolean => spent >= credits;

/** More was spent than there was. */
export const isOverdrawn = ({ credits, spent }: Budget): boolean => spent > credits;

/** Budgets and what is held in them. */
export interface BudgetRows {
  /** Those that a payer's costs count in, by their ids; outside a change without a lock, in one locked in that order. */
  of(payer: Payer): Promise<readonly Budget[]>;
  /** Locked, in the order of their ids. */
  byIds(ids: readonly string[]): Promise<readonly Budget[]>;
  /** What was spent and held, and since when. */
  save(budget: Budget): Promise<void>;
  /** A space's, by kind, subject and period. */
  list(spaceId: string): Promise<readonly Budget[]>;
  /**
   * Makes a budget with all that was spent already, or changes the credits of the one there
   * is; answers what there was before, null for nothing. No cost is written meanwhile.
   */
  set(budget: Budget): Promise<{ readonly before: Budget | null; readonly after: Budget }>;
  /** What was removed; null when the space has none. */
  remove(spaceId: string, id: string): Promise<Budget | null>;
  hold(hold: BudgetHold): Promise<void>;
  /** Those of these that were there; they are no more. */
  release(ids: readonly string[]): Promise<readonly BudgetHold[]>;
  /** Removes holds whose run is over, or whose time is; at most so many. */
  releaseStale(now: number, max: number): Promise<readonly BudgetHold[]>;
}
