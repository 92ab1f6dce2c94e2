import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { type Budget, type BudgetHold, inPeriod, isOverdrawn, payerOf } from "./budget.ts";
import { type Charge, chargeFor, type PriceTable, priceOf, type Usage } from "./price.ts";

/** What a change of a run costs. */
export interface Used {
  /** Whole credits, beside what `usage` and `turns` cost. */
  readonly credits: number;
  readonly usage: Usage;
  /** Turns that end well with it. */
  readonly turns: number;
  /** Ids of holds that end with it. */
  readonly settles: readonly string[];
}

const isNothing = ({ credits, usage, turns }: Used): boolean =>
  credits === 0 && turns === 0 && usage.inputTokens === 0 && usage.outputTokens === 0 && usage.toolCalls === 0;

/** What was used of a task, and what it costs: `ahead` is null where nothing was priced. */
export interface Cost extends Used {
  readonly charge: { readonly credits: number; readonly ahead: number | null };
}

/** The cost of what was used; asks the database only where a price is to be rounded. */
export async function costOf(tx: Pick<Tx, "usage">, { id, agentProfile }: Task, used: Used, prices: PriceTable): Promise<Cost> {
  const price = prices[agentProfile];
  const due = price ? priceOf(price, used.usage, used.turns) : 0n;
  if (due === 0n) return { ...used, turns: 0, charge: { credits: used.credits, ahead: null } };
  const charge: Charge = chargeFor(due, await tx.usage.ahead(id));
  return { ...used, charge: { credits: used.credits + charge.credits, ahead: charge.ahead } };
}

/**
 * Writes what was used, and ends its holds, in the change of the events that tell of it and
 * after they are written: what many runs share is locked last, and for the shortest time.
 * Answers whether a budget is overdrawn by it.
 */
export async function spend(tx: Tx, task: Task, cost: Cost, now: number, ids: Pick<Ids, "short">): Promise<boolean> {
  if (isNothing(cost)) return cost.settles.length > 0 && count(tx, task, 0, cost.settles, now);
  const { accountId, spaceId, clientId, projectId, agentProfile: profile } = task;
  const { charge, usage, settles } = cost;
  const credits = 0 - charge.credits;
  const ahead = charge.ahead ?? undefined;
  await tx.usage.move({ id: task.id, taskId: task.id, accountId, spaceId, kind: "cost", credits, ahead, now });
  const owner = { accountId, spaceId, taskId: task.id, clientId, projectId, profile };
  await tx.usage.insert({ id: ids.short(), ...owner, kind: "cost", credits, ...usage, at: now });
  return count(tx, task, charge.credits, settles, now);
}

/** Counts a cost in the budgets of its task, and gives back what its holds have held. */
async function count(tx: Tx, task: Task, credits: number, settles: readonly string[], now: number): Promise<boolean> {
  const freed = freedBy(settles.length === 0 ? [] : await tx.budgets.release(settles));
  const budgets = (await tx.budgets.of(payerOf(task))).map((budget) => inPeriod(budget, now));
  const moved = budgets.map((budget) => ({ ...budget, spent: budget.spent + credits, held: budget.held - (freed.get(budget.id) ?? 0) }));
  if (credits !== 0 || freed.size > 0) for (const budget of moved) await tx.budgets.save(budget);
  return moved.some(isOverdrawn);
}

/** What holds give back, by budget. */
export function freedBy(holds: readonly BudgetHold[]): ReadonlyMap<Budget["id"], number> {
  const freed = new Map<string, number>();
  for (const { budgets, credits } of holds) for (const id of budgets) freed.set(id, (freed.get(id) ?? 0) + credits);
  return freed;
}
