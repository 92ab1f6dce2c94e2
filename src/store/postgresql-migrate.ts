import { setTimeout as sleep } from "node:timers/promises";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter, SqlQuery } from "@prisma/driver-adapter-utils";
import { Failure } from "../core/failure.ts";
import type { BackendOptions } from "./backend.ts";
import { buildMissingIndexes, indexesForLater } from "./index-builds.ts";
import { type MigrateOptions, type MigrationTarget, migrate, retryWhileInUse } from "./migrate.ts";
import { prepareSession } from "./postgresql-connection.ts";
import { incompleteQuery } from "./postgresql-marks.ts";
import { prepareJobs } from "./rows/postgresql-jobs.ts";

/**
 * The longest wait of a starting process for another one that migrates, and the pause between two looks
 * (milliseconds).
 */
const patienceMs = 60_000;
const pauseMs = 50;
/**
 * The longest wait of a migration for a table in use. After that, the calls queued behind the migration run
 * first.
 */
const tableMs = 1000;

/** Limits of the installation are for calls: to build an index may take many minutes. */
const unlimited = "SET statement_timeout = 0; SET lock_timeout = 0";

/** Prisma's lock for migrations: `prisma migrate deploy` and this runner never run at the same time. */
const migrationLock = 72707369;

interface Opening
  extends Pick<BackendOptions, "databaseUrl" | "clock" | "ifMissing" | "applied" | "isIncomplete"> {
  /** The longest wait for a connection (milliseconds). */
  readonly connectMs: number;
  onError(thrown: Error): void;
}

const queryOf = (sql: string): SqlQuery => ({ sql, args: [], argTypes: [] });

/**
 * Migrates a PostgreSQL database under a lock of the database, and returns the function that releases the
 * lock.
 *
 * @throws Failure `unavailable` when another process migrates for more than a minute, `failed_precondition`
 * as `migrate` says.
 */
export async function migratePostgres({
  databaseUrl,
  clock,
  ifMissing,
  applied,
  isIncomplete,
  connectMs,
  onError,
}: Opening): Promise<() => Promise<void>> {
  const adapter = await new PrismaPg({
    connectionString: databaseUrl,
    max: 2,
    connectionTimeoutMillis: connectMs,
    onConnect: prepareSession(unlimited),
  }).connect();
  const lock = await adapter
    .startTransaction()
    .catch((thrown: unknown) => adapter.dispose().then(() => Promise.reject(thrown)));
  const release = async () => {
    await lock.executeRaw(queryOf("ROLLBACK"));
    await lock.rollback();
    await adapter.dispose();
  };
  try {
    await lock.executeRaw(queryOf("SET LOCAL idle_in_transaction_session_timeout = 0"));
    await takeLock(
      async () =>
        (await lock.queryRaw(queryOf(`SELECT pg_try_advisory_xact_lock(${migrationLock})`))).rows[0]?.[0] ===
        true,
    );
    if (!isIncomplete) checkComplete(await lock.queryRaw(queryOf(incompleteQuery)));
    await retryWhileInUse(() => migrateIn(adapter, { ifMissing, applied }), clock);
    await buildMissingIndexes(targetOn(adapter));
    await prepareJobs(databaseUrl, onError);
  } catch (thrown) {
    await release();
    throw thrown;
  }
  return release;
}

/**
 * Looks again and again: a statement that waits for the lock has a snapshot, and an index that is built
 * concurrently waits for all snapshots. It uses the system's timer.
 */
async function takeLock(take: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await take())) {
    if (performance.now() - startedAt >= patienceMs)
      throw new Failure(
        "unavailable",
        "another process migrates the database for more than a minute: start again when it has ended",
      );
    await sleep(pauseMs);
  }
}

function checkComplete({ rows }: { readonly rows: readonly unknown[] }): void {
  if (rows.length === 0) return;
  throw new Failure(
    "failed_precondition",
    "the database is incomplete, because a restore or a move into it has not ended: repeat a restore in an empty database, or continue the move",
  );
}

const targetOn = (connection: Pick<SqlDriverAdapter, "queryRaw" | "executeRaw">): MigrationTarget => ({
  query: async (sql) => (await connection.queryRaw(queryOf(sql))).rows,
  script: async (sql) => void (await connection.executeRaw(queryOf(sql))),
});

/**
 * Uses a second transaction next to the one that holds the lock, so that it is committed before the lock is
 * released.
 */
async function migrateIn(adapter: SqlDriverAdapter, options: MigrateOptions): Promise<void> {
  const transaction = await adapter.startTransaction();
  try {
    await transaction.executeRaw(queryOf(`SET LOCAL lock_timeout = ${tableMs}`));
    const target = targetOn(transaction);
    await migrate("postgresql", target, options, await indexesForLater(target));
    await transaction.executeRaw(queryOf("COMMIT"));
    await transaction.commit();
  } catch (thrown) {
    await transaction.executeRaw(queryOf("ROLLBACK"));
    await transaction.rollback();
    throw thrown;
  }
}
