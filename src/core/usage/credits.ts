import { Failure, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { inPeriod, type Payer } from "./budget.ts";
import { noUsage } from "./price.ts";
import { dayOf, dayStart, type Spender, type SpentDay } from "./usage.ts";

/** The sources of new rows. */
interface Context {
  readonly now: number;
  readonly ids: Pick<Ids, "short">;
}

/** Grants credits to an account and to its team's pool; returns the id of the entry. */
export async function grant(
  tx: Tx,
  { now, ids }: Context,
  { accountId, spaceId }: Spender,
  credits: number,
): Promise<string> {
  const id = ids.short();
  const payer = { accountId, spaceId, taskId: null, clientId: null, projectId: null };
  await tx.usage.move({ id, ...payer, kind: "grant", credits, ahead: undefined, now });
  await tx.usage.insert({
    id,
    ...payer,
    apiKeyId: null,
    profile: "",
    kind: "grant",
    credits,
    ...noUsage,
    at: now,
  });
  await returnToBudgets(tx, payer, credits, now, now);
  tx.audit.note({ subject: id, after: { credits } });
  return id;
}

/**
 * Refunds a task's cost, or a part of it. Takes the credits from the days on which they were
 * spent, latest first, so that no day becomes negative. Returns the refunded credits.
 *
 * @param credits null for all.
 * @throws Failure `not_found` for a task without a cost, `failed_precondition` for more than the task's cost.
 */
export async function refund(
  tx: Tx,
  { now, ids }: Context,
  taskId: string,
  credits: number | null,
): Promise<Spender & { credits: number }> {
  const days = await tx.usage.spentDays(taskId);
  const [latest] = days;
  const spent = days.reduce((sum, day) => sum + day.credits, 0);
  if (!latest) throw notFound("a cost of this task");
  const refunded = credits ?? spent;
  if (refunded > spent)
    throw new Failure(
      "failed_precondition",
      `the task has cost ${spent} credits: at most that many can be refunded`,
    );
  const { accountId, spaceId } = latest;
  await tx.tasks.advance(taskId, { now, set: { addCredits: -refunded } });
  await tx.usage.move({
    id: taskId,
    taskId,
    accountId,
    spaceId,
    kind: "refund",
    credits: refunded,
    ahead: undefined,
    now,
  });
  const parts = takeFromDays(days, refunded);
  for (const { clientId, apiKeyId, projectId, profile, at, credits: part } of parts) {
    const payer = { accountId, spaceId, taskId, clientId, projectId };
    await tx.usage.insert({
      id: ids.short(),
      ...payer,
      apiKeyId,
      profile,
      kind: "refund",
      credits: part,
      ...noUsage,
      at,
    });
  }
  for (const { clientId, projectId, at, credits: part } of parts)
    await returnToBudgets(tx, { accountId, spaceId, taskId, clientId, projectId }, part, at, now);
  tx.audit.note({ subject: taskId, after: { credits: refunded } });
  return { accountId, spaceId, credits: refunded };
}

/** Distributes the credits over the days, in order. */
function takeFromDays(days: readonly SpentDay[], credits: number): readonly SpentDay[] {
  let left = credits;
  return days.flatMap((day) => {
    const part = Math.min(left, day.credits);
    left -= part;
    return part > 0 ? [{ ...day, credits: part }] : [];
  });
}

/** Returns credits to the budgets whose current period contains the time of the cost. */
async function returnToBudgets(
  tx: Tx,
  payer: Payer,
  credits: number,
  at: number,
  now: number,
): Promise<void> {
  for (const budget of (await tx.budgets.listFor(payer)).map((found) => inPeriod(found, now)))
    if (dayStart(dayOf(at)) >= budget.since)
      await tx.budgets.save({ ...budget, spent: budget.spent - credits });
}
