import {
  type JobRows,
  type NodeRows,
  type RateCounters,
  type SettingRows,
  unstoredKinds,
} from "../../core/processes/shared.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, join, raw, type Sql, type Statements, sql } from "../statements.ts";
import { tables } from "../table.ts";

const counted = tables.rateCounter.pick("taken", "granted");

/** Minutes that are kept in addition to the current one, because the clocks of processes differ. */
const keptMinutes = 2;

/**
 * A counter of an hour has the hour's last minute, which is in the future: it must not purge those of the
 * present minute.
 */
const mayBeHour = (minute: number): boolean => minute % 60 === 59;

/** Counters in memory: only one process uses a SQLite database. */
export function memoryCounters(): RateCounters {
  const minutes = new Map<number, Map<string, number>>();

  function takenIn(minute: number): Map<string, number> {
    const known = minutes.get(minute);
    if (known) return known;
    if (!mayBeHour(minute))
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
    async give(key, minute, count) {
      const taken = takenIn(minute);
      taken.set(key, Math.max(0, (taken.get(key) ?? 0) - count));
    },
  };
}

/**
 * Counters that all processes share, in an UNLOGGED table. Each take is one separate
 * statement, which takes at most the remaining count.
 *
 * @param failed receives the error when the purge of old minutes fails. The take itself does not fail.
 */
export function sharedCounters(statements: Statements, failed: (thrown: unknown) => void): RateCounters {
  let newest = 0;

  async function purge(minute: number): Promise<void> {
    if (minute <= newest || mayBeHour(minute)) return;
    newest = minute;
    await statements
      .execute(sql`DELETE FROM rate_counter WHERE minute < ${minute - keptMinutes}`)
      .catch(failed);
  }

  return {
    async take(key, minute, want, limit) {
      const requested = sql`CAST(${want} AS INTEGER)`;
      const most = sql`CAST(${limit} AS INTEGER)`;
      // On the right-hand side, a column has its old value.
      const row = await counted.row(statements)(sql`
        INSERT INTO rate_counter AS c (key, minute, taken, granted)
        VALUES (${key}, ${minute}, LEAST(${requested}, ${most}), LEAST(${requested}, ${most}))
        ON CONFLICT (key, minute) DO UPDATE
        SET taken = LEAST(c.taken + ${requested}, ${most}), granted = LEAST(${requested}, ${most} - c.taken)
        WHERE c.taken < ${most} RETURNING ${counted.of("c")}`);
      await purge(minute);
      return row ? { granted: row.granted, left: limit - row.taken } : { granted: 0, left: 0 };
    },
    async give(key, minute, count) {
      const given = sql`CAST(${count} AS INTEGER)`;
      await statements.execute(sql`
        UPDATE rate_counter SET taken = GREATEST(taken - ${given}, 0) WHERE key = ${key} AND minute = ${minute}`);
    },
  };
}

const jobKey = tables.job.pick("key");

/**
 * Jobs as rows of SQLite: one per kind and key, pending or leased until its `run_at`. SQLite's only writer
 * needs no row locks.
 */
export function jobRows(session: Session): JobRows {
  const { execute } = session;
  return {
    async put(job) {
      changeOf(session).jobKinds.add(job.kind);
      if (unstoredKinds.has(job.kind)) return;
      await execute(sql`
        ${tables.job.insert(job)}
        ON CONFLICT (kind, key) DO UPDATE SET run_at = excluded.run_at`);
    },
    async take(kind, now, leaseUntil, max) {
      changeOf(session);
      const due = await jobKey.rows(session)(sql`
        SELECT ${jobKey.of("job")} FROM job WHERE kind = ${kind} AND run_at <= ${now}
        ORDER BY run_at, key LIMIT ${max}`);
      if (due.length === 0) return [];
      const keys = due.map(({ key }) => key);
      await execute(
        sql`UPDATE job SET run_at = ${leaseUntil} WHERE kind = ${kind} AND key IN (${join(keys)})`,
      );
      return keys.map((key) => ({ kind, key, runAt: leaseUntil }));
    },
    async done(kind, jobs) {
      for (const [runAt, taken] of Map.groupBy(jobs, (job) => job.runAt)) {
        const keys = taken.map(({ key }) => key);
        await execute(
          sql`DELETE FROM job WHERE kind = ${kind} AND run_at = ${runAt} AND key IN (${join(keys)})`,
        );
      }
    },
  };
}

const node = tables.node.pick("id", "beat", "startedAt", "address");

export function nodeRows(session: Session): NodeRows {
  const { execute, query, dialect } = session;
  const lockOf = (strength: "KEY SHARE" | "UPDATE") =>
    dialect === "sqlite" ? empty : sql`FOR ${raw(strength)}`;
  const locked = (id: string, lock: Sql) => query(sql`SELECT 1 FROM node WHERE id = ${id} ${lock}`);
  return {
    async insert(row, processId) {
      await execute(tables.node.insert({ ...row, processId: processId ?? null }));
    },
    raiseHeartbeat: async (id, at) =>
      (await execute(sql`UPDATE node SET beat = beat + 1, beat_at = ${at} WHERE id = ${id}`)) === 1,
    hold: async (id) => (await locked(id, lockOf("KEY SHARE"))).length > 0,
    async lock(id) {
      await locked(id, lockOf("UPDATE"));
    },
    async setAddress(id, address) {
      await execute(sql`UPDATE node SET address = ${address} WHERE id = ${id}`);
    },
    list: () => node.rows(session)(sql`SELECT ${node.of("node")} FROM node ORDER BY started_at, id`),
    async remove(id) {
      await execute(sql`DELETE FROM node WHERE id = ${id}`);
    },
  };
}

const { setting } = tables;

/** Facts about the installation as rows. */
export function settingRows(session: Session): SettingRows {
  async function get(key: string): Promise<string | null> {
    const row = await setting.row(session)(
      sql`SELECT ${setting.of("setting")} FROM setting WHERE key = ${key}`,
    );
    return row?.value ?? null;
  }

  return {
    get,
    async put(key, value) {
      await session.execute(
        sql`${setting.insert({ key, value })} ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      );
    },
    async takeTurn(key, now, every) {
      const due = sql`CAST(setting.value AS BIGINT)`;
      const taken = sql`${setting.insert({ key, value: `${now + every}` })}
        ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE ${due} <= ${now} OR ${due} > ${now + 2 * every}`;
      return (await session.execute(taken)) === 1 ? 0 : Number(await get(key)) - now;
    },
  };
}
