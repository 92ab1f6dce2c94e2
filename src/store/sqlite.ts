import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { Clock } from "../core/clock.ts";
import { PrismaClient } from "../gen/prisma/sqlite/client.ts";
import { type Backend, type BackendOptions, clientOptions } from "./backend.ts";
import { makeFolder } from "./folder.ts";
import { migrate } from "./migrate.ts";
import { pathOf } from "./place.ts";
import { countedAdapter, countedQueries, type OnStatement } from "./round-trips.ts";
import { memoryCounters } from "./rows/counter.ts";
import { jobRows } from "./rows/job.ts";
import type { Client } from "./session.ts";
import { checkInTransaction, sharedCommits, type WritingConnection } from "./shared-commit.ts";
import { connectSqlite, driverOf, lockFile, whileBusy } from "./sqlite-adapter.ts";
import { type SqliteConnection, sqliteStatements } from "./sqlite-statements.ts";
import { StatementFailure } from "./statements.ts";
import { factoryOf, presentTransaction } from "./transactions.ts";

/** A write waits so long for a script that writes beside the server. */
const patienceMs = 5000;
/** A start waits so long for another that migrates. */
const startPatienceMs = 60_000;

/**
 * SQLite: one writing connection, which one transaction has at a time, and one that
 * only reads. Prisma's adapter runs all on one connection and locks none but its own
 * transactions, so that a single write would share the fate of whoever's transaction
 * is open.
 */
export async function openSqlite({ databaseUrl, clock, onStatement, ifMissing }: BackendOptions): Promise<Backend<Client>> {
  const path = pathOf(databaseUrl);
  if (ifMissing && !existsSync(path)) throw ifMissing;
  makeFolder(dirname(path), "DATABASE_URL or DATA_DIR");
  // Processes that start at once go one after the other; the lock ends with its process.
  const { release } = await whileBusy(() => lockFile(`${path}-start`), clock, startPatienceMs);
  try {
    await prepareFile(path, clock, ifMissing);
    const [writing, reading] = [await connectSqlite(path), await connectSqlite(path, "PRAGMA query_only = ON;")];
    const present = presentTransaction();
    const writer = new PrismaClient({ adapter: factoryOf(present.adapter(writing)), ...clientOptions });
    const reader = new PrismaClient({ adapter: factoryOf(countedAdapter(reading, onStatement)), ...clientOptions });
    await Promise.all([writer.$connect(), reader.$connect()]);
    const commit = sharedCommits(writingConnection(writing, clock, onStatement));
    const queries = whileInTransaction(countedQueries(writing, onStatement), driverOf(writing));
    return {
      dialect: "sqlite",
      writer,
      reader,
      reads: sqliteStatements(driverOf(reading), onStatement),
      transact: (work) => commit((statements) => present.run(queries, () => work(statements))),
      jobs: jobRows,
      counters: memoryCounters(),
      release,
      async close() {
        await commit(async () => undefined);
        // The last connection brings the journal home, and only this one can write.
        await reader.$disconnect();
        await writer.$disconnect();
      },
    };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

/** As shared commits have it for our own statements. */
const whileInTransaction = (queries: SqlQueryable, driver: SqliteConnection): SqlQueryable => ({
  provider: queries.provider,
  adapterName: queries.adapterName,
  async queryRaw(query) {
    checkInTransaction(driver);
    return queries.queryRaw(query);
  },
  async executeRaw(query) {
    checkInTransaction(driver);
    return queries.executeRaw(query);
  },
});

/** Transactions begin IMMEDIATE, so that a write never fails for what another process wrote after this one's first read. */
function writingConnection(adapter: SqlDriverAdapter, clock: Clock, onStatement: OnStatement | undefined): WritingConnection {
  const driver = driverOf(adapter);
  const controls = new Map<string, { run(): unknown }>();
  return {
    statements: sqliteStatements(driver, onStatement),
    async begin() {
      onStatement?.("BEGIN");
      await whileBusy(() => adapter.executeScript("BEGIN IMMEDIATE"), clock, patienceMs);
    },
    control(sql) {
      onStatement?.(sql);
      try {
        const prepared = controls.get(sql) ?? driver.prepare(sql);
        controls.set(sql, prepared);
        prepared.run();
      } catch (thrown) {
        throw new StatementFailure(thrown);
      }
    },
    get inTransaction() {
      return driver.inTransaction;
    },
  };
}

/** Under the lock: the journal's mode, which stays with the file, and the migrations. */
async function prepareFile(path: string, clock: Clock, ifMissing: Error | undefined): Promise<void> {
  const connection = await connectSqlite(path, "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;");
  try {
    // A server that runs already writes without asking for that lock.
    await whileBusy(() => connection.executeScript("BEGIN IMMEDIATE"), clock, startPatienceMs);
    const target = {
      query: async (sql: string) => (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows,
      script: (sql: string) => connection.executeScript(sql),
    };
    await migrate("sqlite", target, ifMissing);
    await connection.executeScript("COMMIT");
  } finally {
    // What is not committed is rolled back with the connection.
    await connection.dispose();
  }
}
