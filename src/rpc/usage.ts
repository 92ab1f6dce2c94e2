import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { Reports } from "../core/usage/reports.ts";
import type { UsageByPerson, UsageKind, UsageRecord } from "../core/usage/usage.ts";
import { type TeamUsageLogSchema, TeamUsageSort, type UsageRecordSchema, UsageType } from "../gen/proto/usage/v2/usage_pb.ts";
import type { UsageService } from "../gen/proto/usage/v2/usage_service_pb.ts";
import { seconds } from "./time.ts";

const types: Record<UsageKind, UsageType> = { cost: UsageType.COST, refund: UsageType.REFUND, grant: UsageType.GRANT };

/** Credits have 32 bits on the wire: what is beyond counts as the most there is. */
const creditsMax = 2 ** 31 - 1;
const credits = (exact: number): number => Math.max(-creditsMax, Math.min(creditsMax, exact));

/** Where credits went, and what is left (contract/v2.md 8.25 to 8.28). */
export function usageHandlers(reports: Reports): Handlers<typeof UsageService> {
  return {
    async listUsage(tx, caller, { limit = 20, cursor }) {
      const { items, next, name } = await reports.list(tx, caller, { limit, cursor });
      return { data: items.map((record) => recordMessage(record, name, caller.accountId)), ...paging(next) };
    },
    async getAvailableCredits(tx, caller) {
      const total = credits(await reports.available(tx, caller));
      return { data: { totalCredits: total, freeCredits: total } };
    },
    async getTeamUsageStatistic(tx, caller, asked) {
      const days = await reports.days(tx, caller, rangeOf(asked));
      return { data: days.map((day) => ({ date: seconds(day.begins), credits: credits(day.credits) })) };
    },
    async listTeamUsageLog(tx, caller, { limit = 20, cursor, sortBy = 0, isAsc, ...asked }) {
      const sort = sortBy === TeamUsageSort.CREDITS ? "credits" : "tasks";
      const order = isAsc ? "asc" : "desc";
      const { items, next } = await reports.people(tx, caller, { limit, cursor, sort, order, range: rangeOf(asked) });
      return { data: items.map(personMessage), ...paging(next) };
    },
  };
}

const paging = (next: string | undefined) => ({ hasMore: next !== undefined, ...(next === undefined ? {} : { nextCursor: next }) });

interface Asked {
  readonly startDate?: bigint | undefined;
  readonly endDate?: bigint | undefined;
}

const rangeOf = ({ startDate, endDate }: Asked) => ({ start: milliseconds(startDate), end: milliseconds(endDate) });
const milliseconds = (time: bigint | undefined): number | undefined => (time === undefined ? undefined : Number(time) * 1000);

/** What is gone has the title that the contract gives it (contract/v2.md 7.14). */
function recordMessage(record: UsageRecord, name: string | null, userId: string): MessageInitShape<typeof UsageRecordSchema> {
  const sum = credits(record.credits);
  return {
    taskId: record.taskId ?? "",
    title: record.title ?? (record.taskId === null ? "Credit grant" : "Deleted conversation"),
    credits: sum,
    createdAt: seconds(record.updatedAt),
    type: types[record.kind],
    collaborateInfos: name === null || record.taskId === null ? [] : [{ userId, userName: name, credits: sum }],
  };
}

const personMessage = ({ accountId, name, email, tasks, credits: spent }: UsageByPerson): MessageInitShape<typeof TeamUsageLogSchema> => ({
  ...{ userId: accountId, userName: name, email, taskCount: tasks, credits: credits(spent) },
});
