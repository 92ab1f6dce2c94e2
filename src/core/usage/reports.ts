import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import { type CursorBinding, decodeCursor, encodeCursor, type Page } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { inPeriod, remainingCredits } from "./budget.ts";
import { type DayRange, dayRange, dayStart, type PeoplePage, type RangeInput, type UsageByPerson, type UsageRecord } from "./usage.ts";

/** The requested page; an empty cursor means none. */
interface PageRequest {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The usage records of an account, and the account's name; null in a personal space. */
export interface OwnRecords extends Page<UsageRecord> {
  readonly name: string | null;
}

/** The credits spent on a day. */
export interface DaySum {
  /** Unix milliseconds. */
  readonly begins: number;
  readonly credits: number;
}

/** The requested list of a team's people. */
export interface PeopleInput extends PageRequest {
  readonly range: RangeInput;
  readonly sort: PeoplePage["sort"];
  readonly order: PeoplePage["order"];
}

/** Reports of spent and remaining credits (spec/api.md 8.25 to 8.28). */
export interface Reports {
  /** The caller's own records, latest change first. @throws Failure `invalid_argument` for a foreign cursor. */
  list(tx: Tx, caller: Caller, input: PageRequest): Promise<OwnRecords>;
  /** The credits that the caller can spend: the least that remains in a budget of the account or its team; the configured number when there are none. */
  available(tx: Tx, caller: Caller): Promise<number>;
  /** Every day of the range. @throws Failure `permission_denied` in a personal space, `invalid_argument` for the range. */
  days(tx: Tx, caller: Caller, range: RangeInput): Promise<readonly DaySum[]>;
  /** @throws Failure as `days`, and `invalid_argument` for a foreign cursor. */
  people(tx: Tx, caller: Caller, input: PeopleInput): Promise<Page<UsageByPerson>>;
}

export function reports(clock: Pick<Clock, "now">, credits: number): Reports {
  return {
    async list(tx, caller, { limit, cursor }) {
      const binding = bindingOf(caller, "usage.list", {});
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const rows = await tx.usage.records(caller, { limit: limit + 1, ...(after && { after: { updatedAt: after.value, id: after.id } }) });
      const name = caller.role === null ? null : await tx.usage.displayName(caller);
      return { ...toPage(rows, limit, binding, ({ updatedAt, id }) => ({ value: updatedAt, id })), name };
    },

    async available(tx, { accountId, spaceId }) {
      const budgets = await tx.budgets.listFor({ accountId, spaceId, taskId: null, projectId: null, clientId: null });
      const now = clock.now();
      if (budgets.length === 0) return credits;
      return Math.max(0, Math.min(...budgets.map((budget) => remainingCredits(inPeriod(budget, now)))));
    },

    async days(tx, caller, input) {
      const { from, to } = rangeFor(caller, input, clock);
      const sums = await tx.usage.days(caller.spaceId, seesAll(caller) ? undefined : caller.accountId, { from, to });
      const all = Array.from({ length: to - from + 1 }, (_, i) => from + i);
      return all.map((day) => ({ begins: dayStart(day), credits: sums.get(day) ?? 0 }));
    },

    async people(tx, caller, { limit, cursor, range: requested, sort, order }) {
      const range = rangeFor(caller, requested, clock);
      const { start = null, end = null } = requested;
      const binding = bindingOf(caller, "usage.teamLog", { start, end, sort, order });
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const only = seesAll(caller) ? {} : { accountId: caller.accountId };
      const rows = await tx.usage.people(caller.spaceId, { range, sort, order, limit: limit + 1, ...only, ...(after && { after }) });
      return toPage(rows, limit, binding, (person) => ({ value: person[sort], id: person.accountId }));
    },
  };
}

const seesAll = ({ role }: Caller): boolean => role === "owner" || role === "super_admin" || role === "admin";

/** @throws Failure `permission_denied` in a personal space, `invalid_argument` for an invalid range. */
function rangeFor({ role }: Caller, input: RangeInput, clock: Pick<Clock, "now">): DayRange {
  if (role === null) throw new Failure("permission_denied", "requires a team: the key belongs to a personal space");
  return dayRange(input, clock.now());
}

function toPage<T>(
  rows: readonly T[],
  limit: number,
  binding: CursorBinding,
  position: (row: T) => { readonly value: number; readonly id: string },
): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? encodeCursor(binding, position(last)) : undefined };
}

const bindingOf = ({ accountId, spaceId }: Caller, operation: string, filter: object): CursorBinding => ({
  ...{ accountId, spaceId, operation, filter },
});
