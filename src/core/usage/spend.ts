import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { TimedJob } from "../processes/timed-job.ts";
import type { Store, Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import {
  type Budget,
  type BudgetReservation,
  inPeriod,
  isOverdrawn,
  isSpent,
  type Payer,
  payerOf,
  remainingCredits,
} from "./budget.ts";
import {
  type Charge,
  chargeFor,
  highestPriceOf,
  maxCredits,
  noUsage,
  type Price,
  type PriceTable,
  priceOf,
  type Usage,
} from "./price.ts";

export interface RunUsage {
  readonly credits: number;
  readonly usage: Usage;
  /** Turns that end successfully with it. */
  readonly turns: number;
  /** Ids of reservations to release. */
  readonly settles: readonly string[];
}

const isNothing = ({ credits, usage, turns, charge }: Cost): boolean =>
  credits === 0 &&
  turns === 0 &&
  charge.ahead === null &&
  usage.inputTokens === 0 &&
  usage.outputTokens === 0 &&
  usage.toolCalls === 0;

/** The usage of a task with its charge; `ahead` is null when nothing was priced. */
export interface Cost extends RunUsage {
  readonly charge: { credits: number; ahead: number | null };
}

/** Computes the cost of a usage; reads the database only when a price has to be rounded. */
export async function computeCost(
  tx: Pick<Tx, "usage">,
  { id, agentProfile }: Task,
  used: RunUsage,
  prices: PriceTable,
): Promise<Cost> {
  const price = prices[agentProfile];
  const due = price ? priceOf(price, used.usage, used.turns) : 0n;
  if (due === 0n) return { ...used, turns: 0, charge: { credits: used.credits, ahead: null } };
  const charge: Charge = chargeFor(due, await tx.usage.prepaid(id));
  return { ...used, charge: { credits: used.credits + charge.credits, ahead: charge.ahead } };
}

/**
 * The cost of work that is not an agent's, such as a transcript. @param due its price in millionths of a
 * credit, above 0.
 */
export async function computeExtraCost(
  tx: Pick<Tx, "usage">,
  { id }: Pick<Task, "id">,
  due: bigint,
): Promise<Cost> {
  return {
    credits: 0,
    usage: noUsage,
    turns: 0,
    settles: [],
    charge: chargeFor(due, await tx.usage.prepaid(id)),
  };
}

/**
 * Writes the usage and releases its reservations, in the change of the events that report it. Lock order:
 * after the events, because many runs share these rows; they are locked last and for the shortest time.
 * Returns whether a budget is overdrawn.
 */
export async function spend(
  tx: Tx,
  task: Task,
  cost: Cost,
  now: number,
  ids: Pick<Ids, "short">,
): Promise<boolean> {
  if (isNothing(cost)) return cost.settles.length > 0 && count(tx, task, 0, cost.settles, now);
  const { accountId, spaceId, clientId, apiKeyId, projectId, agentProfile } = task;
  const { charge, settles } = cost;
  const usage = { ...noUsage, ...cost.usage };
  const credits = 0 - charge.credits;
  const ahead = charge.ahead ?? undefined;
  await tx.usage.move({
    id: task.id,
    taskId: task.id,
    accountId,
    spaceId,
    kind: "cost",
    credits,
    ahead,
    now,
  });
  const owner = { accountId, spaceId, taskId: task.id, clientId, apiKeyId, projectId, profile: agentProfile };
  await tx.usage.insert({ id: ids.short(), ...owner, kind: "cost", credits, ...usage, at: now });
  return count(tx, task, charge.credits, settles, now);
}

/** Adds a cost to the budgets of its task, and releases reservations. */
async function count(
  tx: Tx,
  task: Task,
  credits: number,
  settles: readonly string[],
  now: number,
): Promise<boolean> {
  const settled = settles.length === 0 ? [] : await tx.budgets.release(settles);
  const budgets = await currentBudgets(tx, task, now);
  // A worker's ending does not name the holds of its run.
  const others = budgets.length === 0 || task.status === "running" ? [] : await tx.budgets.releaseRun(task);
  const released = releasedCredits([...settled, ...others]);
  const changed = budgets.map((budget) => ({
    ...budget,
    spent: budget.spent + credits,
    held: budget.held - (released.get(budget.id) ?? 0),
  }));
  if (credits !== 0 || released.size > 0) for (const budget of changed) await tx.budgets.save(budget);
  return changed.some(isOverdrawn);
}

function releasedCredits(holds: readonly BudgetReservation[]): ReadonlyMap<Budget["id"], number> {
  const released = new Map<string, number>();
  for (const { budgets, credits } of holds)
    for (const id of budgets) released.set(id, (released.get(id) ?? 0) + credits);
  return released;
}

/** 25 hours, longer than any run: a reservation whose run has ended is released much sooner. */
const leaseMs = 25 * 3_600_000;
/** Reservations released in one change. */
const batchMax = 100;

/** Credits reserved for one call; the id is empty when no budget counts the call. */
export interface ReservedCredits {
  readonly id: string;
  readonly credits: number;
  /** That of the call; absent: it is free, or the hold is of a run's step. */
  readonly price?: Price;
}

export interface ReserveParts {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "short">;
  readonly prices: PriceTable;
}

const currentBudgets = async (
  { budgets }: Pick<Tx, "budgets">,
  task: Parameters<typeof payerOf>[0],
  now: number,
): Promise<readonly Budget[]> =>
  (await budgets.listFor(payerOf(task))).map((budget) => inPeriod(budget, now));

/**
 * Reserves the most that a call can cost in every budget that it counts toward, in its own change.
 *
 * @param replaced reservations of the run that this one replaces.
 * @throws Failure `resource_exhausted` when one of them has too few credits; then no budget was changed.
 */
export async function reserve(
  parts: ReserveParts,
  task: Task,
  atMost: Usage,
  replaced: readonly ReservedCredits[] = [],
): Promise<ReservedCredits> {
  const { store, clock, ids, prices } = parts;
  const price = prices[task.agentProfile];
  const credits = price ? maxCredits(highestPriceOf(price, atMost)) : 0;
  // A free call counts toward no budget, and most tasks have no budget.
  const priced = price ? { price } : {};
  if (credits === 0 || (await store.budgets.listFor(payerOf(task))).length === 0)
    return { id: "", credits, ...priced };
  const attempt = () =>
    store.change(async (tx) => {
      const now = clock.now();
      // Reservations are locked before budgets, as in `releaseStale`.
      const released = releasedCredits(
        replaced.length === 0 ? [] : await tx.budgets.release(replaced.map(({ id }) => id)),
      );
      const budgets = (await currentBudgets(tx, task, now)).map((budget) => ({
        ...budget,
        held: budget.held - (released.get(budget.id) ?? 0),
      }));
      const full = budgets.find((budget) => remainingCredits(budget) < credits);
      if (full) throw budgetExhausted(full);
      return { ...(await hold(tx, task, budgets, credits, { now, ids })), ...priced };
    });
  return attempt().catch(async (thrown: unknown) => {
    if (!(thrown instanceof Failure && thrown.reason === "resource_exhausted")) throw thrown;
    await releaseStale(store, clock);
    return attempt();
  });
}

/** Reserves credits in locked budgets. */
async function hold(
  tx: Tx,
  { id: taskId, fence }: Task,
  budgets: readonly Budget[],
  credits: number,
  { now, ids }: { now: number; ids: Pick<Ids, "short"> },
): Promise<ReservedCredits> {
  for (const budget of budgets) await tx.budgets.save({ ...budget, held: budget.held + credits });
  const id = ids.short();
  await tx.budgets.insertReservation({
    id,
    taskId,
    fence,
    budgets: budgets.map((budget) => budget.id),
    credits,
    leaseUntil: now + leaseMs,
  });
  return { id, credits };
}

/**
 * Reserves the step of a run before it begins: `step` credits in every budget that its costs count toward, or
 * the whole budget if that is less. A run with `step` 0 begins unless a budget is spent, and reserves nothing
 * here.
 *
 * @returns the reservations; null when a budget has too few credits, so that the run must not begin.
 */
export async function holdStep(
  { step, store, clock, ids }: Omit<ReserveParts, "prices"> & { step: number },
  task: Task,
): Promise<readonly ReservedCredits[] | null> {
  const found = await currentBudgets(store, task, clock.now());
  if (found.some(isSpent)) return null;
  if (found.length === 0 || step === 0) return [];
  const tryHold = () =>
    store.change(async (tx) => {
      const now = clock.now();
      const budgets = await currentBudgets(tx, task, now);
      const stepOf = ({ credits }: Budget) => Math.min(step, credits);
      if (budgets.some((budget) => isSpent(budget) || remainingCredits(budget) < stepOf(budget))) return null;
      const holds: ReservedCredits[] = [];
      for (const budget of budgets) holds.push(await hold(tx, task, [budget], stepOf(budget), { now, ids }));
      return holds;
    });
  const holds = await tryHold();
  if (holds !== null) return holds;
  // No run is refused for the credits of runs that have ended.
  await releaseStale(store, clock);
  return tryHold();
}

/** Whether a budget of a task is spent, so that no run of the task may begin. */
export const isOutOfCredits = async (
  tx: Pick<Tx, "budgets">,
  task: Parameters<typeof payerOf>[0],
  now: number,
): Promise<boolean> => (await currentBudgets(tx, task, now)).some(isSpent);

/** Why a run or a call does not begin although its budgets are not spent. */
export const tooFewCredits = "Too few credits are left, or other runs hold them.";

const budgetExhausted = ({ kind }: Budget): Failure =>
  new Failure("resource_exhausted", `the ${kind}'s budget has too few credits for the call`);

/**
 * Whether every budget of a payer has the credits for a price in millionths of a credit. Reserves nothing.
 */
export async function canAfford(
  tx: Pick<Tx, "budgets">,
  payer: Payer,
  price: bigint,
  now: number,
): Promise<boolean> {
  const credits = maxCredits(price);
  return (
    credits === 0 ||
    (await tx.budgets.listFor(payer)).every((budget) => remainingCredits(inPeriod(budget, now)) >= credits)
  );
}

/** Releases the reservations of lost runs. */
export async function releaseStale(
  store: Store,
  clock: Pick<Clock, "now">,
  stopping?: AbortSignal,
): Promise<void> {
  const batch = async (tx: Tx): Promise<number> => {
    const holds = await tx.budgets.releaseStale(clock.now(), batchMax);
    const released = releasedCredits(holds);
    for (const budget of await tx.budgets.byIds([...released.keys()]))
      await tx.budgets.save({ ...budget, held: budget.held - (released.get(budget.id) ?? 0) });
    return holds.length;
  };
  while ((await store.change(batch)) === batchMax) if (stopping?.aborted) return;
}

/** A lost run's reservation is released within 10 seconds. */
export const releaseHolds: TimedJob = {
  name: "release-holds",
  every: 10_000,
  run: ({ store, clock }, signal) => releaseStale(store, clock, signal),
};
