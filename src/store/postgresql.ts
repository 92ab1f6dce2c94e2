import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlQuery } from "@prisma/driver-adapter-utils";
import { PrismaClient } from "../gen/prisma/postgresql/client.ts";
import { type Backend, type BackendOptions, clientOptions } from "./backend.ts";
import { sharedCounters } from "./counter.ts";
import { openGate } from "./gate.ts";
import { migrate } from "./migrate.ts";
import type { Client } from "./session.ts";

/** Connections of a process: half for changes, half for reads. */
const poolMax = 10;
/** So long a call waits for a connection, and a start for another start that migrates. */
const connectMs = 5000;
const startPatienceSeconds = 60;
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
const reading = ["default_transaction_read_only=on"];

/** PostgreSQL: a pool that changes and a pool that cannot. */
export async function openPostgres(options: BackendOptions): Promise<Backend<PrismaClient>> {
  const { databaseUrl, traced, failed } = options;
  const onError = (thrown: Error) => failed("a connection to the database failed", thrown);
  const pool = (settings: readonly string[], max = poolMax) =>
    new PrismaPg(
      { connectionString: withSettings(databaseUrl, settings), max, connectionTimeoutMillis: connectMs },
      { onPoolError: onError, onConnectionError: onError, statementNameGenerator: preparedNames() },
    );
  const release = await migrateLocked(databaseUrl);
  try {
    const writer = new PrismaClient({ adapter: traced(pool(changing)), ...clientOptions });
    const reader = new PrismaClient({ adapter: traced(pool(reading)), ...clientOptions });
    await Promise.all([writer.$connect(), reader.$connect()]);
    // The one thing it does is raw SQL of PostgreSQL's own.
    const counters = sharedCounters(writer as unknown as Client, (thrown) => failed("purging rate counters failed", thrown));
    return { dialect: "postgresql", writer, reader, gate: openGate, counters, release };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

/** Migrates under a lock of the database, and answers what gives the lock up. */
async function migrateLocked(databaseUrl: string): Promise<() => Promise<void>> {
  const adapter = await new PrismaPg({ connectionString: databaseUrl, max: 2, connectionTimeoutMillis: connectMs }).connect();
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
    await migrateIn(adapter);
  } catch (thrown) {
    await release();
    throw thrown;
  }
  return release;
}

/** In a transaction beside the one that holds the lock, so that it is committed before the lock ends. */
async function migrateIn(adapter: Awaited<ReturnType<PrismaPg["connect"]>>): Promise<void> {
  const transaction = await adapter.startTransaction();
  const asked = (sql: string): SqlQuery => ({ sql, args: [], argTypes: [] });
  try {
    await migrate("postgresql", {
      query: async (sql) => (await transaction.queryRaw(asked(sql))).rows,
      script: async (sql) => void (await transaction.executeRaw(asked(sql))),
    });
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
function preparedNames(): (query: SqlQuery) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= preparedMax) return "";
    const name = `s${names.size + 1}`;
    names.set(sql, name);
    return name;
  };
}
