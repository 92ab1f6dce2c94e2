import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import { type CursorBinding, decodeCursor, encodeCursor } from "../page.ts";
import type { Tx } from "../store.ts";
import type { Page } from "../tasks/listings.ts";
import { inPeriod, roomIn } from "./budget.ts";
import { type DayRange, dayRange, dayStart, type WantedRange } from "./day.ts";
import type { PeoplePage, UsageByPerson, UsageRecord } from "./usage.ts";

/** A page as a caller asks for it; an empty cursor is none. */
interface Wanted {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** Records of an account, and whose they are; null in a personal space. */
export interface OwnRecords extends Page<UsageRecord> {
  readonly name: string | null;
}

/** What was spent on a day. */
export interface DaySum {
  /** Unix milliseconds. */
  readonly begins: number;
  readonly credits: number;
}

/** How the people of a team are to be listed. */
export interface WantedPeople extends Wanted {
  readonly range: WantedRange;
  readonly sort: PeoplePage["sort"];
  readonly order: PeoplePage["order"];
}

/** Where credits went, and what is left (contract/v2.md 8.25 to 8.28). */
export interface Reports {
  /** The caller's own, newest change first. @throws Failure `invalid` for a foreign cursor. */
  list(tx: Tx, caller: Caller, wanted: Wanted): Promise<OwnRecords>;
  /** What the caller can spend: what is left in the tightest budget of the account and of its team, or else the configured number. */
  available(tx: Tx, caller: Caller): Promise<number>;
  /** Every day of the range. @throws Failure `forbidden` in a personal space, `invalid` for the range. */
  days(tx: Tx, caller: Caller, range: WantedRange): Promise<readonly DaySum[]>;
  /** @throws Failure as `days`, and `invalid` for a foreign cursor. */
  people(tx: Tx, caller: Caller, wanted: WantedPeople): Promise<Page<UsageByPerson>>;
}

export function reports(clock: Pick<Clock, "now">, credits: number): Reports {
  return {
    async list(tx, caller, { limit, cursor }) {
      const binding = bindingOf(caller, "usage.list", {});
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const rows = await tx.usage.records(caller, { limit: limit + 1, ...(after && { after: { updatedAt: after.value, id: after.id } }) });
      const name = caller.role === null ? null : await tx.usage.nameOf(caller);
      return { ...pageOf(rows, limit, binding, ({ updatedAt, id }) => ({ value: updatedAt, id })), name };
    },

    async available(tx, { accountId, spaceId }) {
      const budgets = await tx.budgets.of({ accountId, spaceId, taskId: null, projectId: null, clientId: null });
      const now = clock.now();
      if (budgets.length === 0) return credits;
      return Math.max(0, Math.min(...budgets.map((budget) => roomIn(inPeriod(budget, now)))));
    },

    async days(tx, caller, wanted) {
      const { from, to } = rangeFor(caller, wanted, clock);
      const sums = await tx.usage.days(caller.spaceId, seesAll(caller) ? undefined : caller.accountId, { from, to });
      const all = Array.from({ length: to - from + 1 }, (_, i) => from + i);
      return all.map((day) => ({ begins: dayStart(day), credits: sums.get(day) ?? 0 }));
    },

    async people(tx, caller, { limit, cursor, range: wanted, sort, order }) {
      const range = rangeFor(caller, wanted, clock);
      const { start = null, end = null } = wanted;
      const binding = bindingOf(caller, "usage.teamLog", { start, end, sort, order });
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const only = seesAll(caller) ? {} : { accountId: caller.accountId };
      const rows = await tx.usage.people(caller.spaceId, { range, sort, order, limit: limit + 1, ...only, ...(after && { after }) });
      return pageOf(rows, limit, binding, (person) => ({ value: person[sort], id: person.accountId }));
    },
  };
}

const seesAll = ({ role }: Caller): boolean => role === "owner" || role === "super_admin" || role === "admin";

/** @throws Failure `forbidden` in a personal space, `invalid` for a range that is none. */
function rangeFor({ role }: Caller, wanted: WantedRange, clock: Pick<Clock, "now">): DayRange {
  if (role === null) throw new Failure("forbidden", "only a team has this: the key is of a personal space");
  return dayRange(wanted, clock.now());
}

function pageOf<T>(
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
