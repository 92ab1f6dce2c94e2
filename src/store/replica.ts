import { setTimeout as pause } from "node:timers/promises";
import { Pool, type PoolClient } from "pg";
import type { Clock } from "../core/clock.ts";
import { causeText } from "../core/failure.ts";
import type { ReplicaState } from "../core/installation/checks.ts";
import type { Observe } from "../core/observe.ts";
import { useOf } from "./postgresql-connection.ts";
import { type PgQueryable, postgresStatements } from "./postgresql-statements.ts";
import type { OnStatement } from "./round-trips.ts";
import { type Statement, StatementFailure, type Statements, sql } from "./statements.ts";

/** The connections of a process to its replica. */
const poolMax = 5;
const connectMs = 1_000;
const checkMs = 1_000;
/** The longest scan on a replica. The primary runs a longer one. */
const scanMs = 30_000;
/** The pauses before a replica that is behind is asked again. */
const waitsMs = [2, 5, 10, 20] as const;
/** After these times a replica is asked again that was behind, or that failed. */
const restMs = { behind: 1_000, failed: 5_000 } as const;

/** A cluster, a timeline of it, and the end of its log. */
interface Position {
  readonly cluster: string;
  readonly database: string;
  readonly timeline: number;
  readonly lsn: string;
}

interface Place extends Omit<Position, "lsn"> {
  readonly isStandby: boolean;
  /** Null if it is not a standby. */
  readonly isCaughtUp: boolean | null;
  /** Seconds since the last transaction that it has; null when it has none, or is not a standby. */
  readonly age: number | null;
}

/** Scans on a read replica. */
export interface Replica extends Pick<Statements, "query"> {
  /** Asks the replica now. */
  state(): Promise<ReplicaState>;
  close(): Promise<void>;
}

export interface ReplicaParts {
  readonly readUrl: string;
  /** The connections that scans use without a replica. */
  readonly primary: Pick<Statements, "query">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly onStatement: OnStatement | undefined;
  readonly observe: Pick<Observe, "scanned" | "pool">;
}

/** An acknowledged commit is on the disk of the primary, or in its log if `synchronous_commit` is off. */
const positionQuery = sql`
  SELECT CAST(s.system_identifier AS text) AS cluster, current_database() AS database, CAST(l.lsn AS text) AS lsn,
    CAST(CAST('x' || substr(pg_walfile_name(l.lsn), 1, 8) AS bit(32)) AS integer) AS timeline
  FROM pg_control_system() s, (
    SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END AS lsn) l`;

/** The receiver's timeline is known first, but only a role with pg_read_all_stats sees it. */
const placeQuery = (lsn: string) => sql`
  SELECT CAST(s.system_identifier AS text) AS cluster, current_database() AS database,
    pg_is_in_recovery() AS "isStandby", pg_last_wal_replay_lsn() >= CAST(${lsn} AS pg_lsn) AS "isCaughtUp",
    CAST(EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()) AS integer) AS age,
    GREATEST(c.timeline_id, r.min_recovery_end_timeline,
      (SELECT w.received_tli FROM pg_stat_wal_receiver w WHERE w.status = 'streaming')) AS timeline
  FROM pg_control_system() s, pg_control_checkpoint() c, pg_control_recovery() r`;

/**
 * Runs scans on a standby that has everything which the primary had acknowledged when the scan began. So a
 * scan sees all changes before it, of every process. If the standby is behind, or fails, the scan runs on the
 * primary.
 */
export function openReplica({ readUrl, primary, clock, onStatement, observe }: ReplicaParts): Replica {
  const pool = new Pool({
    connectionString: readUrl,
    max: poolMax,
    connectionTimeoutMillis: connectMs,
    query_timeout: scanMs,
    keepAlive: true,
  });
  pool.on("error", () => undefined);
  observe.pool("scan", useOf(pool));
  let restsUntil = Number.NEGATIVE_INFINITY;

  const statementsOn = (client: PoolClient, timeoutMs?: number) =>
    postgresStatements(
      timeoutMs === undefined ? client : withTimeout(client, timeoutMs),
      () => "",
      onStatement,
    );

  const positionNow = async (): Promise<Position> => first<Position>(await primary.query(positionQuery));
  const placeOf = async (client: PoolClient, lsn: string): Promise<Place> =>
    first<Place>(await statementsOn(client, checkMs).query(placeQuery(lsn)));

  /** Where a standby is once it has everything up to a position, or after a short wait for that. */
  async function reach(client: PoolClient, position: Position): Promise<Place> {
    let place = await placeOf(client, position.lsn);
    for (const waitMs of waitsMs) {
      if (place.isCaughtUp === true || problemOf(place, position) !== null) break;
      await pause(waitMs);
      place = await placeOf(client, position.lsn);
    }
    return place;
  }

  /** Runs the check and the read on one connection: a load balancer may route to several standbys. */
  async function onClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let isBroken = true;
    try {
      const result = await work(client);
      isBroken = false;
      return result;
    } finally {
      client.release(isBroken);
    }
  }

  /** Null when the primary has to run the scan. */
  const scan = (statement: Statement, position: Position): Promise<unknown[] | null> =>
    onClient(async (client) => {
      const place = await reach(client, position);
      return place.isCaughtUp === true && problemOf(place, position) === null
        ? statementsOn(client).query(statement)
        : null;
    });

  function rest(reason: keyof typeof restMs): void {
    restsUntil = clock.monotonic() + restMs[reason];
  }

  async function query(statement: Statement): Promise<unknown[]> {
    if (clock.monotonic() >= restsUntil) {
      const position = await positionNow();
      try {
        const rows = await scan(statement, position);
        if (rows !== null) {
          observe.scanned("replica");
          return rows;
        }
        rest("behind");
      } catch (thrown) {
        // A conflict with the recovery of the standby ends a scan, and not the next one.
        if (!(thrown instanceof StatementFailure && thrown.answered)) rest("failed");
      }
    }
    observe.scanned("primary");
    return primary.query(statement);
  }

  async function state(): Promise<ReplicaState> {
    try {
      const position = await positionNow();
      const place = await onClient((client) => reach(client, position));
      return {
        problem: problemOf(place, position),
        secondsBehind: place.isCaughtUp === true ? 0 : place.age,
      };
    } catch (thrown) {
      return { problem: `cannot be compared with the primary: ${causeText(thrown)}`, secondsBehind: null };
    }
  }

  return {
    query,
    state,
    close: () => pool.end(),
  };
}

/** Why scans cannot run on a server; null when it is a standby of the primary. */
function problemOf(place: Place, position: Position): string | null {
  if (!place.isStandby) return "is not a standby: it accepts writes";
  if (place.cluster !== position.cluster) return "is a standby of another primary than that of DATABASE_URL";
  if (place.database !== position.database) return `is another database than ${position.database}`;
  if (place.timeline !== position.timeline) return "has not followed the last promotion of a primary yet";
  return null;
}

/** The row of a query that always has one. */
function first<R>([row]: readonly unknown[]): R {
  return row as R; // The queries name its members.
}

const withTimeout = (queryable: PgQueryable, timeoutMs: number): PgQueryable => ({
  query(query) {
    const timed = { ...query, query_timeout: timeoutMs };
    return queryable.query(timed);
  },
});
