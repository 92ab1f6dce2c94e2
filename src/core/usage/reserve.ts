import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { type Budget, inPeriod, isSpent, payerOf, roomIn } from "./budget.ts";
import { mostFor, type PriceTable, priceOf, type Usage } from "./price.ts";
import { freedBy } from "./spend.ts";

/** Longer than any run may take: a hold whose run is over ends much sooner. */
const leaseMs = 25 * 3_600_000;
/** Holds that are given back in one change. */
const batchMax = 100;

/** Credits that are reserved for one call; an empty id where no budget counts it. */
export interface Reserved {
  readonly id: string;
  readonly credits: number;
}

/** What reserving needs. */
export interface ReserveParts {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "short">;
  readonly prices: PriceTable;
}

/**
 * Takes what a call may cost at most out of every budget that it counts in, in a change of
 * its own. @throws Failure `exhausted` when one of them has no room; then none has changed.
 */
export async function reserve({ store, clock, ids, prices }: ReserveParts, task: Task, atMost: Usage): Promise<Reserved> {
  const price = prices[task.agentProfile];
  const credits = price ? mostFor(priceOf(price, atMost)) : 0;
  // Nearly always there is none, and nothing to be written.
  if ((await store.budgets.of(payerOf(task))).length === 0) return { id: "", credits };
  return store.change(async (tx) => {
    const now = clock.now();
    const budgets = (await tx.budgets.of(payerOf(task))).map((budget) => inPeriod(budget, now));
    const full = budgets.find((budget) => roomIn(budget) < credits);
    if (full) throw exhausted(full);
    for (const budget of budgets) await tx.budgets.save({ ...budget, held: budget.held + credits });
    const hold = { id: ids.short(), taskId: task.id, fence: task.fence, budgets: budgets.map(({ id }) => id), credits };
    await tx.budgets.hold({ ...hold, leaseUntil: now + leaseMs });
    return { id: hold.id, credits };
  });
}

const exhausted = ({ kind }: Budget): Failure => new Failure("exhausted", `the ${kind}'s budget has no room for the call`);

/** Whether a budget of a task is spent, so that no run of it may begin. */
export async function hasNothingLeft(tx: Pick<Tx, "budgets">, task: Task, now: number): Promise<boolean> {
  return (await tx.budgets.of(payerOf(task))).some((budget) => isSpent(inPeriod(budget, now)));
}

/** Gives back what lost runs have held. */
export async function releaseStale(store: Store, clock: Pick<Clock, "now">, stopping: AbortSignal): Promise<void> {
  const batch = async (tx: Tx): Promise<number> => {
    const holds = await tx.budgets.releaseStale(clock.now(), batchMax);
    const freed = freedBy(holds);
    for (const budget of await tx.budgets.byIds([...freed.keys()]))
      await tx.budgets.save({ ...budget, held: budget.held - (freed.get(budget.id) ?? 0) });
    return holds.length;
  };
  while ((await store.change(batch)) === batchMax) if (stopping.aborted) return;
}
