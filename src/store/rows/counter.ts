import type { RateCounters } from "../../core/limits/counter.ts";
import { numberOf, sql, type Whole } from "../sql.ts";
import type { Statements } from "../statements.ts";

/** Minutes that are kept beside the present one: clocks of several processes are not quite one. */
const keptMinutes = 2;

/** Counters of one process, which has SQLite for itself. */
export function memoryCounters(): RateCounters {
  const minutes = new Map<number, Map<string, number>>();

  function takenIn(minute: number): Map<string, number> {
    const known = minutes.get(minute);
    if (known) return known;
    for (const old of minutes.keys()) if (old < minute - keptMinutes) minutes.delete(old);
    const fresh = new Map<string, number>();
    minutes.set(minute, fresh);
    return fresh;
  }

  return {
    async take(key, minute, want, limit) {
      const taken = takenIn(minute);
      const before = taken.get(key) ?? 0;
      const granted = Math.max(0, Math.min(want, limit - before));
      taken.set(key, before + granted);
      return { granted, left: Math.max(0, limit - before - granted) };
    },
  };
}

interface CounterRow {
  readonly taken: Whole;
  readonly granted: Whole;
}

/**
 * Counters that all processes share, in an UNLOGGED table: one statement a take, by
 * itself, which takes what is left and no more.
 *
 * @param failed told when the purge of old minutes fails; the take it rode on does not.
 */
export function sharedCounters({ query, execute }: Statements, failed: (thrown: unknown) => void): RateCounters {
  let newest = 0;

  async function purge(minute: number): Promise<void> {
    if (minute <= newest) return;
    newest = minute;
    await execute(sql`DELETE FROM rate_counter WHERE minute < ${minute - keptMinutes}`).catch(failed);
  }

  return {
    async take(key, minute, want, limit) {
      const wanted = sql`CAST(${want} AS INTEGER)`;
      const most = sql`CAST(${limit} AS INTEGER)`;
      // On the right-hand side a column is as it was before.
      const [row] = await query<CounterRow>(sql`
        INSERT INTO rate_counter AS c (key, minute, taken, granted)
        VALUES (${key}, ${minute}, LEAST(${wanted}, ${most}), LEAST(${wanted}, ${most}))
        ON CONFLICT (key, minute) DO UPDATE
        SET taken = LEAST(c.taken + ${wanted}, ${most}), granted = LEAST(${wanted}, ${most} - c.taken)
        WHERE c.taken < ${most} RETURNING taken, granted`);
      await purge(minute);
      return row ? { granted: numberOf(row.granted), left: limit - numberOf(row.taken) } : { granted: 0, left: 0 };
    },
  };
}
