import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import { invalid } from "../core/failure.ts";
import type { Budget, BudgetKind as Kind, BudgetPeriod as Period } from "../core/usage/budget.ts";
import type { Budgets } from "../core/usage/budgets.ts";
import { BudgetKind, BudgetPeriod, type BudgetSchema } from "../gen/proto/settings/v1/budget_pb.ts";
import type { BudgetService } from "../gen/proto/settings/v1/budget_service_pb.ts";
import { seconds } from "./time.ts";

const kinds: Record<BudgetKind, Kind | null> = {
  [BudgetKind.UNSPECIFIED]: null,
  [BudgetKind.TASK]: "task",
  [BudgetKind.PROJECT]: "project",
  [BudgetKind.APP]: "app",
  [BudgetKind.ACCOUNT]: "account",
  [BudgetKind.TEAM]: "team",
};
const kindMessages: Record<Kind, BudgetKind> = {
  task: BudgetKind.TASK,
  project: BudgetKind.PROJECT,
  app: BudgetKind.APP,
  account: BudgetKind.ACCOUNT,
  team: BudgetKind.TEAM,
};
const periods: Record<BudgetPeriod, Period> = {
  [BudgetPeriod.UNSPECIFIED]: "total",
  [BudgetPeriod.TOTAL]: "total",
  [BudgetPeriod.DAY]: "day",
  [BudgetPeriod.MONTH]: "month",
};
const periodMessages: Record<Period, BudgetPeriod> = { total: BudgetPeriod.TOTAL, day: BudgetPeriod.DAY, month: BudgetPeriod.MONTH };

/** The budgets of the caller's space. */
export function budgetHandlers(budgets: Budgets): Handlers<typeof BudgetService> {
  return {
    async setBudget(tx, caller, { kind: asked, subject, period, credits }) {
      const kind = kinds[asked] ?? null;
      if (kind === null) throw invalid("kind", "must be given");
      return {
        budget: toMessage(await budgets.set(tx, caller, { kind, subject, period: periods[period] ?? "total", credits: Number(credits) })),
      };
    },
    async listBudgets(tx, caller) {
      return { data: (await budgets.list(tx, caller)).map(toMessage) };
    },
    async removeBudget(tx, caller, { id }) {
      await budgets.remove(tx, caller, id);
      return {};
    },
  };
}

const toMessage = ({ id, kind, subject, period, credits, spent, held, createdAt, updatedAt }: Budget) =>
  ({
    ...{ id, subject, kind: kindMessages[kind], period: periodMessages[period] },
    ...{ credits: BigInt(credits), spent: BigInt(spent), held: BigInt(held) },
    ...{ createdAt: seconds(createdAt), updatedAt: seconds(updatedAt) },
  }) satisfies MessageInitShape<typeof BudgetSchema>;
