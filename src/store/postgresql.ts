import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter, SqlQuery } from "@prisma/driver-adapter-utils";
import { Client } from "pg";
import { PrismaClient } from "../gen/prisma/postgresql/client.ts";
import { type Backend, type BackendOptions, clientOptions } from "./backend.ts";
import { migrate, whileInUse } from "./migrate.ts";
import { bossJobs, prepareJobs } from "./postgresql-jobs.ts";
import { type PgQueryable, postgresStatements } from "./postgresql-statements.ts";
import { postgresTransactions } from "./postgresql-transactions.ts";
import { countedAdapter } from "./round-trips.ts";
import { sharedCounters } from "./rows/counter.ts";
import { StatementFailure } from "./statements.ts";
import { factoryOf, presentTransaction } from "./transactions.ts";

/** Connections of a process: half for changes, half for reads. */
const poolMax = 10;
/** So long a call waits for a connection, and a start for another start that migrates. */
const connectMs = 5000;
const startPatienceSeconds = 60;
/** A migration waits so long for a table that is in use, then lets the calls that have queued behind it go first. */
const tableMs = 1000;
/** Statements that are kept prepared in each connection; others are parsed each time. */
const preparedMax = 300;

/** Prisma's own lock of migrations: `prisma migrate deploy` and this runner keep out of each other's way. */
const migrationLock = 72707369;

/**
 * Rows are locked by the changes themselves, so READ COMMITTED is enough. A process that
 * stands still in a change loses its locks well before peers take it for dead (15 s),
 * so that they need not wait for them to go on with its tasks.
 */
const changing = ["default_transaction_isolation=read\\ committed", "idle_in_transaction_session_timeout=8000"];
const readingOnly = ["default_transaction_read_only=on"];

/** PostgreSQL: a pool that changes and a pool that cannot. */
export async function openPostgres({ databaseUrl, clock, onStatement, failed, ifMissing }: BackendOptions): Promise<Backend<PrismaClient>> {
  const onError = (thrown: Error) => failed("a connection to the database failed", thrown);
  const nameOf = preparedNames();
  const pool = (settings: readonly string[]) =>
    new PrismaPg(
      { connectionString: withSettings(databaseUrl, settings), max: poolMax, connectionTimeoutMillis: connectMs, onConnect: heedErrors },
      { onPoolError: onError, onConnectionError: onError, statementNameGenerator: ({ sql }) => nameOf(sql) },
    ).connect();
  await tryConnecting(databaseUrl);
  const release = await migrateLocked({ databaseUrl, clock, ifMissing }, onError);
  try {
    const [writing, reading] = await Promise.all([pool(changing), pool(readingOnly)]);
    const present = presentTransaction();
    const writer = new PrismaClient({ adapter: factoryOf(present.adapter(writing)), ...clientOptions });
    const reader = new PrismaClient({ adapter: factoryOf(countedAdapter(reading, onStatement)), ...clientOptions });
    await Promise.all([writer.$connect(), reader.$connect()]);
    const statementsOn = (connection: PgQueryable) => postgresStatements(connection, nameOf, onStatement);
    return {
      dialect: "postgresql",
      writer,
      reader,
      reads: statementsOn(poolOf(reading)),
      transact: postgresTransactions({ adapter: writing, present, statementsOn, onStatement }),
      jobs: bossJobs(postgresStatements(poolOf(reading), nameOf), clock),
      counters: sharedCounters(statementsOn(poolOf(writing)), (thrown) => failed("purging rate counters failed", thrown)),
      release,
      async close() {
        await Promise.all([writer.$disconnect(), reader.$disconnect()]);
      },
    };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

/** The adapter has its pool as `client`; its type does not say so. */
const poolOf = (adapter: SqlDriverAdapter): PgQueryable => (adapter as unknown as { readonly client: PgQueryable }).client;

/**
 * The pool hears of errors while a connection is idle, the adapter while it is in a
 * transaction, and nobody on the way from the one to the other. What is cut off just
 * then would end the process; so it is found out by the next statement.
 */
const heedErrors = (connection: { on(event: "error", heard: () => void): unknown }): void => void connection.on("error", () => undefined);

/** Connects once by the driver alone: Prisma's adapter drops what the system said of a host that cannot be reached. */
async function tryConnecting(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: connectMs });
  heedErrors(client);
  try {
    await client.connect();
  } catch (thrown) {
    throw new StatementFailure(thrown);
  } finally {
    await client.end();
  }
}

type Opening = Pick<BackendOptions, "databaseUrl" | "clock" | "ifMissing">;

/** Migrates under a lock of the database, and answers what gives the lock up. */
async function migrateLocked({ databaseUrl, clock, ifMissing }: Opening, onError: (thrown: Error) => void): Promise<() => Promise<void>> {
  const adapter = await new PrismaPg({
    connectionString: databaseUrl,
    max: 2,
    connectionTimeoutMillis: connectMs,
    onConnect: heedErrors,
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
    await whileInUse(() => migrateIn(adapter, ifMissing), clock);
    await prepareJobs(databaseUrl, onError);
  } catch (thrown) {
    await release();
    throw thrown;
  }
  return release;
}

/** In a transaction beside the one that holds the lock, so that it is committed before the lock ends. */
async function migrateIn(adapter: Awaited<ReturnType<PrismaPg["connect"]>>, ifMissing: Error | undefined): Promise<void> {
  const transaction = await adapter.startTransaction();
  const asked = (sql: string): SqlQuery => ({ sql, args: [], argTypes: [] });
  try {
    await transaction.executeRaw(asked(`SET LOCAL lock_timeout = ${tableMs}`));
    const target = {
      query: async (sql: string) => (await transaction.queryRaw(asked(sql))).rows,
      script: async (sql: string) => void (await transaction.executeRaw(asked(sql))),
    };
    await migrate("postgresql", target, ifMissing);
    await transaction.executeRaw(asked("COMMIT"));
    await transaction.commit();
  } catch (thrown) {
    await transaction.executeRaw(asked("ROLLBACK"));
    await transaction.rollback();
    throw thrown;
  }
}

/** Adds settings of the session to those that the URL may carry. */
function withSettings(databaseUrl: string, settings: readonly string[]): string {
  const url = new URL(databaseUrl);
  const given = url.searchParams.get("options");
  url.searchParams.set("options", [...(given ? [given] : []), ...settings.map((setting) => `-c ${setting}`)].join(" "));
  return url.href;
}

/** Names for statements that a connection keeps prepared: one per text, as long as there are not too many. */
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
