import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Failure, Reason } from "../failure.ts";
import { shortOf } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store.ts";
import type { AuditRefusal } from "./audit.ts";

const minuteMs = 60_000;
/** Every process has written the refusals of a minute so long after it, unless it died: then they are sealed. */
const lateMs = 10_000;
/** Refused pairs of credential and operation that a process counts in a minute at most; about 500 bytes each. */
const countedMax = 10_000;
/** Rows that are written in one change. */
const batchMax = 100;

/** Reasons that are for the audit log: who calls may not, or not so often. What is wrong with a request itself is not. */
const logged: ReadonlySet<Reason> = new Set<Reason>(["unauthenticated", "forbidden", "insufficient_scope", "limited"]);

/** Whose credential was shown: it is known, whether it opens anything or not. */
export interface Known {
  readonly accountId: string;
  readonly spaceId: string;
  /** Kind and id, as an audit row has it. */
  readonly credential: string;
}

/** A call that was refused. */
export interface RefusedCall {
  readonly operation: string;
  readonly requestId: string;
  readonly address: string;
}

/**
 * Refused calls (contract/decisions.md 44). Those that name a known credential become at most one
 * row per credential, operation and minute in its space's log; the rest is counted for the process log.
 */
export interface Refusals {
  /** Counts a refusal; of a reason that is not for the log, nothing. Null: nobody knows whose credential it was, or there was none. */
  note(call: RefusedCall, known: Known | null, failure: Pick<Failure, "reason">): void;
  /** Writes those of minutes that are over, or of all. What could not be written stays, and is written later. */
  write(all?: boolean): Promise<void>;
}

/** Refusals before this time are counted no more, and may be sealed. */
export const settledBefore = (now: number): number => minuteOf(now - lateMs) * minuteMs;

/**
 * Refusals are counted in memory, and written when their minute is over. Of several processes
 * each adds its count to the one row, whose id follows from what it counts: so what one has
 * written is not lost with another, as it would be with a count that one process collects for
 * all. The row is sealed when nobody adds to it any more.
 */
export function refusals(store: Pick<Store, "change">, clock: Pick<Clock, "now">, log: Log): Refusals {
  const counted = new Map<string, Counted>();
  const uncounted = { unknown: 0, beyond: 0 };

  function count({ operation, requestId, address }: RefusedCall, known: Known, reason: Reason): void {
    const at = clock.now();
    const minute = minuteOf(at);
    const key = JSON.stringify([known.credential, operation, minute]);
    const row = counted.get(key);
    if (row !== undefined) row.count += 1;
    else if (counted.size < countedMax) counted.set(key, { ...known, at, minute, operation, requestId, address, reason, count: 1 });
    else uncounted.beyond += 1;
  }

  /** Takes rows out of the count; those that are not written go back to it. */
  async function writeSome(keys: readonly string[]): Promise<void> {
    const taken = keys.flatMap((key) => counted.get(key) ?? []);
    for (const key of keys) counted.delete(key);
    try {
      const rows = taken.map(rowOf);
      const late = await store.change((tx) => tx.audit.refuse(rows));
      if (late.length > 0) log("warn", "refused calls came too late for their row of the audit log", { rows: late.length });
    } catch (thrown) {
      for (const [i, key] of keys.entries()) {
        const row = taken[i];
        if (row) counted.set(key, { ...row, count: row.count + (counted.get(key)?.count ?? 0) });
      }
      throw thrown;
    }
  }

  function tell(): void {
    const { unknown, beyond } = uncounted;
    if (unknown > 0) log("info", "calls without a known credential were refused", { count: unknown });
    if (beyond > 0) log("warn", "more refused calls than are counted for the audit log", { count: beyond });
    Object.assign(uncounted, { unknown: 0, beyond: 0 });
  }

  let told = minuteOf(clock.now());
  return {
    note(call, known, { reason }) {
      if (!logged.has(reason)) return;
      if (known === null) uncounted.unknown += 1;
      else count(call, known, reason);
    },
    async write(all = false) {
      const present = minuteOf(clock.now());
      if (all || present !== told) tell();
      told = present;
      // Processes that write the same rows take them in one order.
      const due = [...counted].filter(([, { minute }]) => all || minute < present).map(([key]) => key);
      for (const keys of inPieces(due.toSorted(), batchMax)) await writeSome(keys);
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
  return { ...row, id: shortOf(createHash("sha256").update(counts).digest()) };
}

function inPieces<T>(all: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most));
}
