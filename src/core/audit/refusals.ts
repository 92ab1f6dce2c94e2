import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Failure, Reason } from "../failure.ts";
import { shortIdFrom } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store.ts";
import type { AuditReason, AuditRefusal } from "./audit.ts";

const minuteMs = 60_000;
/**
 * Milliseconds after a minute in which every process writes its refusals of that minute, unless it died. Then
 * they are sealed.
 */
const lateMs = 10_000;
/**
 * The maximum number of refused pairs of credential and operation that a process counts per minute; about 500
 * bytes each.
 */
const countedMax = 10_000;
/** Rows per change. */
const batchMax = 100;

/**
 * The reasons that the audit log records, with their values in rows and exports: the caller may not call the
 * operation, or called too often. Refusals because of the request itself are not recorded. Stored values
 * never change.
 */
const recordedReasons: Readonly<Partial<Record<Reason, AuditReason>>> = {
  unauthenticated: "unauthenticated",
  permission_denied: "forbidden",
  insufficient_scope: "insufficient_scope",
  rate_limited: "limited",
};

/** A presented credential that is known, valid or not, and its owner. */
export interface KnownCredential {
  readonly accountId: string;
  readonly spaceId: string;
  /** Kind and id, as an audit row has it. */
  readonly credential: string;
}

export interface RefusedCall {
  readonly operation: string;
  readonly requestId: string;
  readonly address: string;
}

/**
 * Refused calls (spec/decisions.md 44). Calls with a known credential become at most one row per
 * credential, operation and minute in its space's log; other calls are counted for the process log.
 */
export interface Refusals {
  /**
   * Counts a refusal, if the log records its reason. `known` is null for an unknown credential and without
   * one.
   */
  note(call: RefusedCall, known: KnownCredential | null, failure: Pick<Failure, "reason">): void;
  /**
   * Writes the refusals of past minutes, or all of them. Refusals that could not be written stay for the next
   * call.
   */
  write(all?: boolean): Promise<void>;
}

/** Refusals before this time are no longer counted, and may be sealed. */
export const sealableBefore = (now: number): number => minuteOf(now - lateMs) * minuteMs;

/**
 * Refusals are counted in memory and written when their minute is over. All processes add their
 * counts to the same row, whose id is derived from the credential, the operation and the minute.
 * So a process that dies does not lose the counts of others, as it would if one process collected
 * all counts. The row is sealed when processes no longer add to it.
 */
export function refusals(store: Pick<Store, "change">, clock: Pick<Clock, "now">, log: Log): Refusals {
  const counted = new Map<string, Counted>();
  const uncounted = { unknown: 0, beyond: 0 };

  function count(
    { operation, requestId, address }: RefusedCall,
    known: KnownCredential,
    reason: AuditReason,
  ): void {
    const at = clock.now();
    const minute = minuteOf(at);
    const key = JSON.stringify([known.credential, operation, minute]);
    const row = counted.get(key);
    if (row !== undefined) row.count += 1;
    else if (counted.size < countedMax)
      counted.set(key, { ...known, at, minute, operation, requestId, address, reason, count: 1 });
    else uncounted.beyond += 1;
  }

  /** Removes rows from the count and writes them. If the write fails, they are added to the count again. */
  async function writeBatch(keys: readonly string[]): Promise<void> {
    const batch = keys.flatMap((key) => counted.get(key) ?? []);
    for (const key of keys) counted.delete(key);
    try {
      const rows = batch.map(rowOf);
      const late = await store.change((tx) => tx.audit.addRefusals(rows));
      if (late.length > 0)
        log("warn", "refused calls arrived after their row of the audit log was sealed", {
          rows: late.length,
        });
    } catch (thrown) {
      for (const [i, key] of keys.entries()) {
        const row = batch[i];
        if (row) counted.set(key, { ...row, count: row.count + (counted.get(key)?.count ?? 0) });
      }
      throw thrown;
    }
  }

  function logUncounted(): void {
    const { unknown, beyond } = uncounted;
    if (unknown > 0) log("info", "calls without a known credential were refused", { count: unknown });
    if (beyond > 0) log("warn", "more refused calls than the audit log counts", { count: beyond });
    Object.assign(uncounted, { unknown: 0, beyond: 0 });
  }

  let loggedMinute = minuteOf(clock.now());
  return {
    note(call, known, { reason }) {
      const recorded = recordedReasons[reason];
      if (recorded === undefined) return;
      if (known === null) uncounted.unknown += 1;
      else count(call, known, recorded);
    },
    async write(all = false) {
      const thisMinute = minuteOf(clock.now());
      if (all || thisMinute !== loggedMinute) logUncounted();
      loggedMinute = thisMinute;
      // All processes write rows in the same order, so that they do not deadlock.
      const due = [...counted].filter(([, { minute }]) => all || minute < thisMinute).map(([key]) => key);
      for (const keys of inBatches(due.toSorted(), batchMax)) await writeBatch(keys);
    },
  };
}

interface Counted extends Omit<AuditRefusal, "id"> {
  readonly minute: number;
  count: number;
}

const minuteOf = (time: number): number => Math.floor(time / minuteMs);

function rowOf({ minute, ...row }: Counted): AuditRefusal {
  const counts = JSON.stringify(["refused", row.spaceId, row.credential, row.operation, minute]);
  return { ...row, id: shortIdFrom(createHash("sha256").update(counts).digest()) };
}

function inBatches<T>(all: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most));
}
