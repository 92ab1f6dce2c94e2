import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter, SqlQuery } from "@prisma/driver-adapter-utils";
import { Failure } from "../core/failure.ts";
import type { PoolUse } from "../core/observe.ts";
import type { Backend, BackendOptions } from "./backend.ts";
import { clientOn } from "./client.ts";
import { migrate, retryWhileInUse } from "./migrate.ts";
import { checkSessions } from "./pooler.ts";
import { bossJobs, prepareJobs } from "./postgresql-jobs.ts";
import { incompleteQuery } from "./postgresql-marks.ts";
import { isQueryable, type PgQueryable, postgresStatements, postgresTransactions } from "./postgresql-statements.ts";
import { openReplica } from "./replica.ts";
import { observedAdapter } from "./round-trips.ts";
import { sharedCounters } from "./rows/processes.ts";
import { ProgrammingError } from "./statements.ts";
import { transactionContext } from "./transactions.ts";

/** Connections of a process: half for changes, half for reads. */
const poolMax = 10;
/** The longest wait of a call for a connection, and of a starting process for another one that migrates. */
const connectMs = 5000;
const startPatienceSeconds = 60;
/** The longest wait of a migration for a table in use. After that, the calls queued behind the migration run first. */
const tableMs = 1000;
/** The maximum number of prepared statements per connection. Further statements are parsed each time. */
const preparedMax = 300;

/** Prisma's lock for migrations: `prisma migrate deploy` and this runner never run at the same time. */
const migrationLock = 72707369;

/**
 * Changes lock their rows, so READ COMMITTED is enough. A process that stalls in a change
 * loses its locks after 8 s, well before peers consider it dead (15 s), so that they can
 * continue its tasks without waiting for the locks.
 */
const writingSettings = "SET default_transaction_isolation = 'read committed'; SET idle_in_transaction_session_timeout = 8000";
const readOnlySettings = "SET default_transaction_read_only = on";
/** The same for one transaction, where a pooler shares the connection between transactions. */
const changeSettings = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 8000";

/**
 * Opens PostgreSQL with a pool that writes and a read-only pool. Behind a pooler that shares connections between transactions, no
 * statement is prepared, and reads outside changes are not protected against writes.
 */
export async function openPostgres({
  databaseUrl,
  readUrl,
  poolerUrl,
  clock,
  onStatement,
  failed,
  observe,
  ifMissing,
  isIncomplete,
}: BackendOptions): Promise<Backend> {
  const onError = (thrown: Error) => failed("a connection to the database failed", thrown);
  const nameOf = poolerUrl === null ? preparedNames() : () => "";
  const pool = (settings: string) =>
    new PrismaPg(
      {
        ...{ connectionString: poolerUrl ?? databaseUrl, max: poolMax, connectionTimeoutMillis: connectMs },
        onConnect: poolerUrl === null ? prepareSession(settings) : ignoreErrors,
      },
      { onPoolError: onError, onConnectionError: onError, statementNameGenerator: ({ sql }) => nameOf(sql) },
    ).connect();
  await checkSessions(databaseUrl, poolerUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL");
  const release = await migrateLocked({ databaseUrl, clock, ifMissing, isIncomplete }, onError);
  try {
    const [writing, reading] = await Promise.all([pool(writingSettings), pool(readOnlySettings)]);
    // Changes wait for these lookups. Behind a pooler they must not wait for a connection that other changes hold.
    const lookups = poolerUrl === null ? reading : await lookupPool(databaseUrl, onError);
    const present = transactionContext();
    observe.pool("write", () => useOf(poolOf(writing)));
    observe.pool("read", () => useOf(poolOf(reading)));
    const statementsOn = (connection: PgQueryable) => postgresStatements(connection, nameOf, onStatement);
    const reads = statementsOn(poolOf(reading));
    const replica = readUrl === null ? null : openReplica({ readUrl, primary: reads, clock, onStatement, observe });
    return {
      dialect: "postgresql",
      writer: clientOn("postgresql", present.adapter(writing)),
      reader: clientOn("postgresql", observedAdapter(reading, onStatement)),
      ...{ reads, scans: replica ?? reads, replica: replica?.state ?? null },
      transact: postgresTransactions({
        ...{ adapter: writing, present, statementsOn, onStatement, observe },
        settings: poolerUrl === null ? null : changeSettings,
      }),
      shrink: async () => 0,
      jobs: bossJobs(postgresStatements(poolOf(lookups), nameOf), clock),
      counters: sharedCounters(statementsOn(poolOf(writing)), (thrown) => failed("purging rate counters failed", thrown)),
      release,
      async close() {
        await Promise.all([...[...new Set([writing, reading, lookups])].map((each) => each.dispose()), replica?.close()]);
      },
    };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

const lookupPool = (connectionString: string, onError: (thrown: Error) => void): Promise<SqlDriverAdapter> =>
  new PrismaPg(
    { connectionString, max: 1, connectionTimeoutMillis: connectMs, onConnect: ignoreErrors },
    { onPoolError: onError, onConnectionError: onError },
  ).connect();

/** The adapter keeps its pool as `client`, which is missing in its type. */
function poolOf(adapter: SqlDriverAdapter): PgQueryable {
  if ("client" in adapter && isQueryable(adapter.client)) return adapter.client;
  throw new ProgrammingError("@prisma/adapter-pg no longer keeps its pool as `client`");
}

/** The connections of a pool of `pg`, which counts them in members that its type here leaves out. */
function useOf(pool: object): PoolUse {
  const count = (name: string): number => Number(Reflect.get(pool, name) ?? 0);
  const idle = count("idleCount");
  return { used: count("totalCount") - idle, idle, max: poolMax, waiting: count("waitingCount") };
}

/**
 * The pool handles errors of an idle connection, the adapter handles those of a connection
 * in a transaction. Between the two there is no handler, and an error would end the process.
 * This handler ignores the error: the next statement reports it.
 */
const ignoreErrors = (connection: PoolConnection): void => void connection.on("error", () => undefined);

interface PoolConnection {
  on(event: "error", listener: () => void): unknown;
  query(text: string): Promise<unknown>;
}

/** The pool waits for the settings. They are not parameters of the connection, because poolers refuse those that they do not know. */
const prepareSession = (settings: string) => async (connection: PoolConnection) => {
  ignoreErrors(connection);
  await connection.query(settings);
};

type Opening = Pick<BackendOptions, "databaseUrl" | "clock" | "ifMissing" | "isIncomplete">;

/** Migrates under a lock of the database, and returns the function that releases the lock. */
async function migrateLocked(
  { databaseUrl, clock, ifMissing, isIncomplete }: Opening,
  onError: (thrown: Error) => void,
): Promise<() => Promise<void>> {
  const adapter = await new PrismaPg({
    connectionString: databaseUrl,
    max: 2,
    connectionTimeoutMillis: connectMs,
    onConnect: ignoreErrors,
  }).connect();
  const lock = await adapter.startTransaction().catch((thrown: unknown) => adapter.dispose().then(() => Promise.reject(thrown)));
  const run = (sql: string) => lock.executeRaw({ sql, args: [], argTypes: [] });
  const release = async () => {
    await run("ROLLBACK");
    await lock.rollback();
    await adapter.dispose();
  };
  try {
    await run("SET LOCAL idle_in_transaction_session_timeout = 0");
    await run(`SET LOCAL lock_timeout = '${startPatienceSeconds}s'`);
    await run(`SELECT pg_advisory_xact_lock(${migrationLock})`);
    if (!isIncomplete) checkComplete(await lock.queryRaw({ sql: incompleteQuery, args: [], argTypes: [] }));
    await retryWhileInUse(() => migrateIn(adapter, ifMissing), clock);
    await prepareJobs(databaseUrl, onError);
  } catch (thrown) {
    await release();
    throw thrown;
  }
  return release;
}

function checkComplete({ rows }: { readonly rows: readonly unknown[] }): void {
  if (rows.length === 0) return;
  throw new Failure(
    "failed_precondition",
    "the database is incomplete, because a restore or a move into it has not ended: repeat a restore in an empty database, or continue the move",
  );
}

/** Uses a second transaction next to the one that holds the lock, so that it is committed before the lock is released. */
async function migrateIn(adapter: Awaited<ReturnType<PrismaPg["connect"]>>, ifMissing: Error | undefined): Promise<void> {
  const transaction = await adapter.startTransaction();
  const queryOf = (sql: string): SqlQuery => ({ sql, args: [], argTypes: [] });
  try {
    await transaction.executeRaw(queryOf(`SET LOCAL lock_timeout = ${tableMs}`));
    const target = {
      query: async (sql: string) => (await transaction.queryRaw(queryOf(sql))).rows,
      script: async (sql: string) => void (await transaction.executeRaw(queryOf(sql))),
    };
    await migrate("postgresql", target, ifMissing);
    await transaction.executeRaw(queryOf("COMMIT"));
    await transaction.commit();
  } catch (thrown) {
    await transaction.executeRaw(queryOf("ROLLBACK"));
    await transaction.rollback();
    throw thrown;
  }
}

/** Names of prepared statements: one per text, up to the limit. */
function preparedNames(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (names.size >= preparedMax) return "";
    const name = `s${names.size + 1}`;
    names.set(text, name);
    return name;
  };
}
