import { PrismaPg } from "@prisma/adapter-pg";
import { Pool } from "pg";
import type { Backend, BackendOptions } from "./backend.ts";
import { clientOn } from "./client.ts";
import { checkSessions } from "./pooler.ts";
import { ignoreErrors, prepareSession, useOf } from "./postgresql-connection.ts";
import { migratePostgres } from "./postgresql-migrate.ts";
import { type PgQueryable, postgresStatements } from "./postgresql-statements.ts";
import { postgresTransactions } from "./postgresql-transactions.ts";
import { openReplica } from "./replica.ts";
import { observedAdapter } from "./round-trips.ts";
import { bossJobs } from "./rows/postgresql-jobs.ts";
import { sharedCounters } from "./rows/processes.ts";
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
const writingSettings =
  "SET default_transaction_isolation = 'read committed'; SET idle_in_transaction_session_timeout = 8000";
const readOnlySettings = "SET default_transaction_read_only = on";
/** The same for one transaction, where a pooler shares the connection between transactions. */
const changeSettings =
  "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 8000";

/**
 * Opens PostgreSQL with a pool that writes and a read-only pool. Behind a pooler that shares connections
 * between transactions, no statement is prepared, and reads outside changes are not protected against writes.
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
  applied,
  isIncomplete,
}: BackendOptions): Promise<Backend> {
  const onError = (thrown: Error) => failed("a connection to the database failed", thrown);
  const nameOf = poolerUrl === null ? preparedNames() : () => "";
  const poolOf = (settings: string, pipeline: boolean) =>
    new Pool({
      connectionString: poolerUrl ?? databaseUrl,
      max: poolMax,
      connectionTimeoutMillis: connectMs,
      pipeline,
      onConnect: poolerUrl === null ? prepareSession(settings) : ignoreErrors,
    });
  const adapterOf = (pool: Pool) =>
    new PrismaPg(pool, {
      onPoolError: onError,
      disposeExternalPool: true,
      statementNameGenerator: ({ sql }) => nameOf(sql),
    }).connect();
  await checkSessions(databaseUrl, poolerUrl === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL");
  const release = await migratePostgres({
    databaseUrl,
    clock,
    ifMissing,
    applied,
    isIncomplete,
    connectMs,
    onError,
  });
  try {
    const pools = { writing: poolOf(writingSettings, true), reading: poolOf(readOnlySettings, false) };
    const [writing, reading] = await Promise.all([adapterOf(pools.writing), adapterOf(pools.reading)]);
    // Changes wait for these lookups. Behind a pooler they must not wait for a connection that other changes
    // hold.
    const lookups = poolerUrl === null ? pools.reading : lookupPool(databaseUrl, onError);
    const present = transactionContext();
    observe.pool("write", useOf(pools.writing));
    observe.pool("read", useOf(pools.reading));
    const statementsOn = (connection: PgQueryable) => postgresStatements(connection, nameOf, onStatement);
    const reads = statementsOn(pools.reading);
    const replica =
      readUrl === null ? null : openReplica({ readUrl, primary: reads, clock, onStatement, observe });
    return {
      dialect: "postgresql",
      writer: clientOn("postgresql", present.adapter(writing)),
      reader: clientOn("postgresql", observedAdapter(reading, onStatement)),
      reads,
      scans: replica ?? reads,
      replica: replica?.state ?? null,
      transact: postgresTransactions({
        pool: pools.writing,
        adapter: writing,
        present,
        statementsOn,
        onStatement,
        onError,
        observe,
        settings: poolerUrl === null ? null : changeSettings,
      }),
      shrink: async () => 0,
      jobs: bossJobs(postgresStatements(lookups, nameOf), clock),
      counters: sharedCounters(statementsOn(pools.writing), (thrown) =>
        failed("purging rate counters failed", thrown),
      ),
      release,
      async close() {
        const own = lookups === pools.reading ? [] : [lookups.end()];
        await Promise.all([writing.dispose(), reading.dispose(), ...own, replica?.close()]);
      },
    };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

function lookupPool(connectionString: string, onError: (thrown: Error) => void): Pool {
  const pool = new Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: connectMs,
    onConnect: ignoreErrors,
  });
  pool.on("error", onError);
  return pool;
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
