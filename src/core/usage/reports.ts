import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument } from "../failure.ts";
import { type CursorBinding, decodeCursor, type Page, pageOf } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { inPeriod, remainingCredits } from "./budget.ts";
import {
  type DayRange,
  dayOf,
  dayRange,
  dayStart,
  type PeoplePage,
  type RangeInput,
  type UsageByGroup,
  type UsageByPerson,
  type UsageFilter,
  type UsageGroupKind,
  type UsageRecord,
} from "./usage.ts";

/** The requested page; an empty cursor means none. */
interface PageRequest {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The usage records of an account, and the account's name; null in a personal space. */
export interface OwnRecords extends Page<UsageRecord> {
  readonly name: string | null;
}

export interface DaySum {
  /** Unix milliseconds. */
  readonly begins: number;
  readonly credits: number;
}

export interface RecordsInput extends PageRequest {
  readonly range: RangeInput;
  readonly filter: UsageFilter;
}

export interface GroupsInput extends PageRequest {
  readonly group: UsageGroupKind;
  readonly range: RangeInput;
  /** All members of the team; otherwise the caller alone. */
  readonly allMembers: boolean;
}

export interface PeopleInput extends PageRequest {
  readonly filter: UsageFilter;
  readonly range: RangeInput;
  readonly sort: PeoplePage["sort"];
  readonly order: PeoplePage["order"];
}

/** Reports of spent and remaining credits (spec/api.md 8.25 to 8.28, 8.63, 8.64). */
export interface Reports {
  /**
   * The caller's own records, latest change first. @throws Failure `invalid_argument` for a foreign cursor,
   * and a range that ends before it starts.
   */
  list(tx: Tx, caller: Caller, input: RecordsInput): Promise<OwnRecords>;
  /**
   * The credits that the caller can spend: the least that remains in a budget of the account or its team; the
   * configured number when there are none.
   */
  available(tx: Tx, caller: Caller): Promise<number>;
  /**
   * Every day of the range. @throws Failure `permission_denied` in a personal space, `invalid_argument` for
   * the range.
   */
  days(tx: Tx, caller: Caller, range: RangeInput, filter: UsageFilter): Promise<readonly DaySum[]>;
  /** Every day of the range, of the caller alone. @throws Failure `invalid_argument` for the range. */
  ownDays(tx: Tx, caller: Caller, range: RangeInput, filter: UsageFilter): Promise<readonly DaySum[]>;
  /**
   * Most credits first. @throws Failure `permission_denied` when the caller may not see all members,
   * `invalid_argument` for the range and a foreign cursor.
   */
  groups(tx: Tx, caller: Caller, input: GroupsInput): Promise<Page<UsageByGroup>>;
  /** @throws Failure as `days`, and `invalid_argument` for a foreign cursor. */
  people(tx: Tx, caller: Caller, input: PeopleInput): Promise<Page<UsageByPerson>>;
}

export function reports(clock: Pick<Clock, "now">, credits: number): Reports {
  return {
    async list(tx, caller, { limit, cursor, range, filter }) {
      const days = openRange(range);
      const binding = bindingOf(caller, "usage.list", { ...days, ...filter });
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const from = after && { after: { updatedAt: after.value, id: after.id } };
      const rows = await tx.usage.records(caller, { ...days, ...filter, limit: limit + 1, ...from });
      const name = caller.role === null ? null : await tx.usage.displayName(caller);
      return { ...pageOf(rows, limit, binding, ({ updatedAt, id }) => ({ value: updatedAt, id })), name };
    },

    async available(tx, { accountId, spaceId }) {
      const budgets = await tx.budgets.listFor({
        accountId,
        spaceId,
        taskId: null,
        projectId: null,
        clientId: null,
      });
      const now = clock.now();
      if (budgets.length === 0) return credits;
      return Math.max(0, Math.min(...budgets.map((budget) => remainingCredits(inPeriod(budget, now)))));
    },

    async days(tx, caller, input, filter) {
      const range = rangeFor(caller, input, clock);
      return eachDay(
        range,
        await tx.usage.days(caller.spaceId, seesAll(caller) ? undefined : caller.accountId, range, filter),
      );
    },

    async ownDays(tx, { spaceId, accountId }, input, filter) {
      const range = dayRange(input, clock.now());
      return eachDay(range, await tx.usage.days(spaceId, accountId, range, filter));
    },

    async groups(tx, caller, { limit, cursor, group, range: requested, allMembers }) {
      if (allMembers && !seesAll(caller))
        throw new Failure(
          "permission_denied",
          "all_members needs the owner, a super admin or an admin of a team",
        );
      const range = dayRange(requested, clock.now());
      const { start = null, end = null } = requested;
      const binding = bindingOf(caller, "usage.breakdown", { start, end, group, allMembers });
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const only = allMembers ? {} : { accountId: caller.accountId };
      const rows = await tx.usage.groups(caller.spaceId, {
        group,
        range,
        limit: limit + 1,
        ...only,
        ...(after && { after }),
      });
      return pageOf(rows, limit, binding, ({ credits: value, id }) => ({ value, id }));
    },

    async people(tx, caller, { limit, cursor, range: requested, filter, sort, order }) {
      const range = rangeFor(caller, requested, clock);
      const { start = null, end = null } = requested;
      const binding = bindingOf(caller, "usage.teamLog", { start, end, sort, order, ...filter });
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const only = seesAll(caller) ? {} : { accountId: caller.accountId };
      const rows = await tx.usage.people(caller.spaceId, {
        range,
        sort,
        order,
        ...filter,
        limit: limit + 1,
        ...only,
        ...(after && { after }),
      });
      return pageOf(rows, limit, binding, (person) => ({ value: person[sort], id: person.accountId }));
    },
  };
}

const seesAll = ({ role }: Caller): boolean => role === "owner" || role === "super_admin" || role === "admin";

/** @throws Failure `permission_denied` in a personal space, `invalid_argument` for an invalid range. */
function rangeFor({ role }: Caller, input: RangeInput, clock: Pick<Clock, "now">): DayRange {
  if (role === null)
    throw new Failure("permission_denied", "requires a team: the key belongs to a personal space");
  return dayRange(input, clock.now());
}

/**
 * The days of a range whose ends are both optional. @throws Failure `invalid_argument` when it ends before it
 * starts.
 */
function openRange({ start, end }: RangeInput): { from?: number; to?: number } {
  if (start !== undefined && end !== undefined && end < start)
    throw invalidArgument("end_date", "must not be before start_date");
  return {
    ...(start === undefined ? {} : { from: dayOf(start) }),
    ...(end === undefined ? {} : { to: dayOf(end) }),
  };
}

const eachDay = ({ from, to }: DayRange, sums: ReadonlyMap<number, number>): readonly DaySum[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    begins: dayStart(from + i),
    credits: sums.get(from + i) ?? 0,
  }));

const bindingOf = ({ accountId, spaceId }: Caller, operation: string, filter: object): CursorBinding => ({
  accountId,
  spaceId,
  operation,
  filter,
});
