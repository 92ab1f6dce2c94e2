import { absent, Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { inPeriod, type Payer } from "./budget.ts";
import { dayOf, dayStart } from "./day.ts";
import type { Spender, SpentDay } from "./usage.ts";

/** What rows are made from. */
interface Making {
  readonly now: number;
  readonly ids: Pick<Ids, "short">;
}

const unused = { inputTokens: 0, outputTokens: 0, toolCalls: 0 };

/** Gives credits to an account, and to the pool of its team; answers the id of the entry. */
export async function grant(tx: Tx, { now, ids }: Making, { accountId, spaceId }: Spender, credits: number): Promise<string> {
  const id = ids.short();
  const whose = { accountId, spaceId, taskId: null, clientId: null, projectId: null };
  await tx.usage.move({ id, ...whose, kind: "grant", credits, ahead: undefined, now });
  await tx.usage.insert({ id, ...whose, profile: "", kind: "grant", credits, ...unused, at: now });
  await giveBack(tx, whose, credits, now, now);
  tx.audit.note({ subject: id, after: { credits } });
  return id;
}

/**
 * Gives back what a task has cost, or so many credits of it: off the days on which they were
 * spent, the latest first, so that no day ever has less than nothing. Answers how many.
 *
 * @param credits null for all.
 * @throws Failure `absent` for a task that has cost nothing, `precondition` for more than it has.
 */
export async function refund(tx: Tx, { now, ids }: Making, taskId: string, credits: number | null): Promise<Spender & { credits: number }> {
  const days = await tx.usage.spentDays(taskId);
  const [latest] = days;
  const spent = days.reduce((sum, day) => sum + day.credits, 0);
  if (!latest) throw absent("a cost of this task");
  const wanted = credits ?? spent;
  if (wanted > spent) throw new Failure("precondition", `the task has cost ${spent} credits, no more can be given back`);
  const { accountId, spaceId } = latest;
  await tx.tasks.advance(taskId, { now, set: { addCredits: -wanted } });
  await tx.usage.move({ id: taskId, taskId, accountId, spaceId, kind: "refund", credits: wanted, ahead: undefined, now });
  const parts = taken(days, wanted);
  for (const { clientId, projectId, profile, at, credits: part } of parts) {
    const whose = { accountId, spaceId, taskId, clientId, projectId };
    await tx.usage.insert({ id: ids.short(), ...whose, profile, kind: "refund", credits: part, ...unused, at });
  }
  for (const { clientId, projectId, at, credits: part } of parts)
    await giveBack(tx, { accountId, spaceId, taskId, clientId, projectId }, part, at, now);
  tx.audit.note({ subject: taskId, after: { credits: wanted } });
  return { accountId, spaceId, credits: wanted };
}

/** So much of the days, the first ones first. */
function taken(days: readonly SpentDay[], credits: number): readonly SpentDay[] {
  let left = credits;
  return days.flatMap((day) => {
    const part = Math.min(left, day.credits);
    left -= part;
    return part > 0 ? [{ ...day, credits: part }] : [];
  });
}

/** Budgets have it again, if it was spent in the period that they are in. */
async function giveBack(tx: Tx, payer: Payer, credits: number, at: number, now: number): Promise<void> {
  for (const budget of (await tx.budgets.of(payer)).map((found) => inPeriod(found, now)))
    if (dayStart(dayOf(at)) >= budget.since) await tx.budgets.save({ ...budget, spent: budget.spent - credits });
}
