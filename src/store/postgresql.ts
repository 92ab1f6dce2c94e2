import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { PoolUse } from "../core/observe.ts";
import type { Backend, BackendOptions } from "./backend.ts";
import { clientOn } from "./client.ts";
import { checkSessions } from "./pooler.ts";
import { ignoreErrors, prepareSession } from "./postgresql-connection.ts";
import { bossJobs } from "./postgresql-jobs.ts";
import { migratePostgres } from "./postgresql-migrate.ts";
import { isQueryable, type PgQueryable, postgresStatements, postgresTransactions } from "./postgresql-statements.ts";
import { openReplica } from "./replica.ts";
import { observedAdapter } from "./round-trips.ts";
import { sharedCounters } from "./rows/processes.ts";
import { ProgrammingError } from "./statements.ts";
import { transactionContext } from "./transactions.ts";

/** Connections of a process: half for changes, half for reads. */
const poolMax = 10;
/** The longest wait of a call for a connection. */
const connectMs = 5000;
/** The maximum number of prepared statements per connection. Further statements are parsed each time. */
const preparedMax = 300;

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
  const release = await migratePostgres({ databaseUrl, clock, ifMissing, isIncomplete, connectMs, onError });
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
