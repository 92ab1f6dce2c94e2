import type { Scope } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { type Budget, type BudgetKind, type BudgetPeriod, inPeriod, periodStart } from "./budget.ts";

/** At most so many budgets in a space. */
export const budgetsMax = 1000;

/** A budget as it is asked for; a team's subject is of no account. */
export interface WantedBudget {
  readonly kind: BudgetKind;
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly credits: number;
}

/** The budgets of a space. */
export interface Budgets {
  /** Makes it, or changes its credits. @throws Failure `absent` for a subject that is not the space's, `exhausted` at 1000. */
  set(tx: Tx, space: Pick<Scope, "spaceId">, wanted: WantedBudget): Promise<Budget>;
  list(tx: Tx, space: Pick<Scope, "spaceId">): Promise<readonly Budget[]>;
  /** @throws Failure `absent` */
  remove(tx: Tx, space: Pick<Scope, "spaceId">, id: string): Promise<void>;
}

export function budgets({ clock, ids }: { readonly clock: Pick<Clock, "now">; readonly ids: Pick<Ids, "short"> }): Budgets {
  return {
    async set(tx, { spaceId }, { kind, subject: named, period, credits }) {
      const now = clock.now();
      const subject = kind === "team" ? spaceId : named;
      await tx.accounts.lockSpace(spaceId);
      if (!(await isThere(tx, spaceId, kind, subject))) throw absent(kind, "subject");
      const fresh = { id: ids.short(), ...{ spaceId, kind, subject, period, credits }, spent: 0, held: 0, since: periodStart(period, now) };
      const { before, after } = await tx.budgets.set({ ...fresh, createdAt: now, updatedAt: now });
      if (before === null && (await tx.budgets.list(spaceId)).length > budgetsMax)
        throw new Failure("exhausted", `a space has at most ${budgetsMax} budgets`);
      tx.audit.note({ subject: after.id, before: before && { credits: before.credits }, after: { kind, subject, period, credits } });
      return inPeriod(after, now);
    },
    async list(tx, { spaceId }) {
      const now = clock.now();
      return (await tx.budgets.list(spaceId)).map((budget) => inPeriod(budget, now));
    },
    async remove(tx, { spaceId }, id) {
      const removed = await tx.budgets.remove(spaceId, id);
      if (removed === null) throw absent("budget");
      const { kind, subject, period, credits } = removed;
      tx.audit.note({ subject: id, before: { kind, subject, period, credits } });
    },
  };
}

/** Whether the space has something of this kind and id; what was deleted it has no more. */
async function isThere(tx: Tx, spaceId: string, kind: BudgetKind, subject: string): Promise<boolean> {
  const team = await tx.accounts.teamOf(spaceId);
  switch (kind) {
    case "team":
      return team !== null;
    case "account":
      return team === null ? (await tx.accounts.personalSpace(subject))?.id === spaceId : isMember(tx, team.id, subject);
    case "task":
      return (await tx.tasks.byId(subject))?.spaceId === spaceId;
    case "project":
      return tx.projects.isIn(spaceId, subject);
    case "app":
      return (await tx.apps.find(subject))?.spaceId === spaceId;
  }
}

async function isMember(tx: Tx, teamId: string, accountId: string): Promise<boolean> {
  const member = await tx.accounts.member(teamId, accountId);
  return member !== null && member.status !== "removed";
}
