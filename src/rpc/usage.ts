import type { MessageInitShape } from "@bufbuild/protobuf";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import type { Budget, Budgets, BudgetKind as Kind, BudgetPeriod as Period } from "../core/usage/budget.ts";
import type { DaySum, Reports } from "../core/usage/reports.ts";
import {
  type UsageByGroup,
  type UsageByPerson,
  type UsageFilter,
  type UsageKind,
  type UsageRecord,
  usageGroups,
} from "../core/usage/usage.ts";
import { BudgetKind, BudgetPeriod, type BudgetSchema } from "../gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../gen/proto/settings/v1/budget_service_pb.ts";
import {
  type DailyStatisticSchema,
  type TeamUsageLogSchema,
  TeamUsageSort,
  type UsageBreakdownSchema,
  UsageGroupSchema,
  type UsageRecordSchema,
  UsageType,
} from "../gen/proto/usage/v2/usage_pb.ts";
import { UsageService } from "../gen/proto/usage/v2/usage_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { enumConverter, seconds } from "./wire-values.ts";

const types: Record<UsageKind, UsageType> = {
  cost: UsageType.COST,
  refund: UsageType.REFUND,
  grant: UsageType.GRANT,
};

/** Credits have 32 bits on the wire: larger amounts are capped. */
const creditsMax = 2 ** 31 - 1;
export const wireCredits = (exact: number): number => Math.max(-creditsMax, Math.min(creditsMax, exact));

/** The usage of credits and the remaining credits (spec/api.md 8.25 to 8.28). */
export function usageHandlers(reports: Reports) {
  return implement(UsageService, {
    async listUsage(tx, caller, { limit = 20, cursor, ...request }) {
      const input = { limit, cursor, range: rangeOf(request), filter: filterOf(request) };
      const { items, next, name } = await reports.list(tx, caller, input);
      return { data: items.map((record) => recordMessage(record, name, caller.accountId)), ...paging(next) };
    },
    async getAvailableCredits(tx, caller) {
      const total = wireCredits(await reports.available(tx, caller));
      return { data: { totalCredits: total, freeCredits: total } };
    },
    async getTeamUsageStatistic(tx, caller, request) {
      return { data: (await reports.days(tx, caller, rangeOf(request), filterOf(request))).map(dayMessage) };
    },
    async getUsageStatistic(tx, caller, request) {
      return {
        data: (await reports.ownDays(tx, caller, rangeOf(request), filterOf(request))).map(dayMessage),
      };
    },
    async listUsageBreakdown(tx, caller, { groupBy, limit = 20, cursor, allMembers, ...request }) {
      const group = groups.toName(groupBy);
      if (group === undefined) throw invalidArgument("group_by", "is required");
      const { items, next } = await reports.groups(tx, caller, {
        group,
        limit,
        cursor,
        allMembers,
        range: rangeOf(request),
      });
      return { data: items.map(groupMessage), ...paging(next) };
    },
    async listTeamUsageLog(tx, caller, { limit = 20, cursor, sortBy = 0, isAsc, ...request }) {
      const sort = sortBy === TeamUsageSort.CREDITS ? "credits" : "tasks";
      const order = isAsc ? "asc" : "desc";
      const { items, next } = await reports.people(tx, caller, {
        limit,
        cursor,
        sort,
        order,
        range: rangeOf(request),
        filter: filterOf(request),
      });
      return { data: items.map(personMessage), ...paging(next) };
    },
  });
}

const groups = enumConverter(UsageGroupSchema, usageGroups);

const dayMessage = (day: DaySum): MessageInitShape<typeof DailyStatisticSchema> => ({
  date: seconds(day.begins),
  credits: wireCredits(day.credits),
});

const groupMessage = ({
  tasks,
  credits,
  ...group
}: UsageByGroup): MessageInitShape<typeof UsageBreakdownSchema> => ({
  ...group,
  taskCount: tasks,
  credits: wireCredits(credits),
});

/** An empty filter counts as absent. */
const filterOf = ({
  projectId,
  clientId,
  apiKeyId,
}: { readonly [Name in keyof UsageFilter]: string | undefined }): UsageFilter => ({
  ...(projectId ? { projectId } : {}),
  ...(clientId ? { clientId } : {}),
  ...(apiKeyId ? { apiKeyId } : {}),
});

const paging = (next: string | undefined) => ({
  hasMore: next !== undefined,
  ...defined({ nextCursor: next }),
});

interface DateRange {
  readonly startDate?: bigint | undefined;
  readonly endDate?: bigint | undefined;
}

const rangeOf = ({ startDate, endDate }: DateRange) => ({
  start: milliseconds(startDate),
  end: milliseconds(endDate),
});
const milliseconds = (time: bigint | undefined): number | undefined =>
  time === undefined ? undefined : Number(time) * 1000;

/**
 * The wire form of a record. A deleted task has the title that the specification defines (spec/api.md 7.14).
 */
function recordMessage(
  record: UsageRecord,
  name: string | null,
  userId: string,
): MessageInitShape<typeof UsageRecordSchema> {
  const sum = wireCredits(record.credits);
  return {
    taskId: record.taskId ?? "",
    title: record.title ?? (record.taskId === null ? "Credit grant" : "Deleted conversation"),
    credits: sum,
    createdAt: seconds(record.updatedAt),
    type: types[record.kind],
    collaborateInfos:
      name === null || record.taskId === null ? [] : [{ userId, userName: name, credits: sum }],
  };
}

const personMessage = ({
  accountId,
  name,
  email,
  tasks,
  credits,
}: UsageByPerson): MessageInitShape<typeof TeamUsageLogSchema> => ({
  userId: accountId,
  userName: name,
  email,
  taskCount: tasks,
  credits: wireCredits(credits),
});

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
const periodMessages: Record<Period, BudgetPeriod> = {
  total: BudgetPeriod.TOTAL,
  day: BudgetPeriod.DAY,
  month: BudgetPeriod.MONTH,
};

export function budgetHandlers(budgets: Budgets) {
  return implement(BudgetService, {
    async setBudget(tx, caller, { kind: kindValue, subject, period, credits }) {
      const kind = kinds[kindValue] ?? null;
      if (kind === null) throw invalidArgument("kind", "is required");
      return {
        budget: toMessage(
          await budgets.set(tx, caller, {
            kind,
            subject,
            period: periods[period] ?? "total",
            credits: Number(credits),
          }),
        ),
      };
    },
    async listBudgets(tx, caller) {
      return { data: (await budgets.list(tx, caller)).map(toMessage) };
    },
    async listOwnBudgets(tx, caller) {
      return { data: (await budgets.listOwn(tx, caller)).map(toMessage) };
    },
    async removeBudget(tx, caller, { id }) {
      await budgets.remove(tx, caller, id);
      return {};
    },
  });
}

const toMessage = ({ id, kind, subject, period, credits, spent, held, createdAt, updatedAt }: Budget) =>
  ({
    id,
    subject,
    kind: kindMessages[kind],
    period: periodMessages[period],
    credits: BigInt(credits),
    spent: BigInt(spent),
    held: BigInt(held),
    createdAt: seconds(createdAt),
    updatedAt: seconds(updatedAt),
  }) satisfies MessageInitShape<typeof BudgetSchema>;
