import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import { type Backend, type BackendOptions, pathOf } from "./backend.ts";
import { clientOn } from "./client.ts";
import { makeFolder } from "./folder.ts";
import { checkInTransaction, groupCommit, type WritingConnection } from "./group-commit.ts";
import { type MigrateOptions, migrate } from "./migrate.ts";
import { type OnStatement, observedAdapter, observedQueries } from "./round-trips.ts";
import { jobRows, memoryCounters } from "./rows/processes.ts";
import { scanThread } from "./scan-thread.ts";
import {
  connectSqlite,
  driverOf,
  incrementalMode,
  incrementalVacuum,
  lockFile,
  retryWhileBusy,
  type SqliteConnection,
  sqliteStatements,
} from "./sqlite-adapter.ts";
import { StatementFailure } from "./statements.ts";
import { transactionContext } from "./transactions.ts";

/** The longest wait of a write for a script that writes at the same time as the server. */
const patienceMs = 5000;
/** The longest wait of a starting process for another one that migrates. */
const startPatienceMs = 60_000;

/**
 * Opens SQLite with one writing connection, which runs one transaction at a time, and a
 * read-only one. Prisma's adapter uses a single connection and serializes only its own
 * transactions, so a separate write would be committed or rolled back with any open
 * transaction.
 */
export async function openSqlite({
  databaseUrl,
  onStatement,
  observe,
  ifMissing,
  applied,
}: BackendOptions): Promise<Backend> {
  const path = pathOf(databaseUrl);
  if (ifMissing && !existsSync(path)) throw ifMissing;
  makeFolder(dirname(path), "DATABASE_URL or DATA_DIR");
  // Processes that start at the same time run this sequentially. The lock ends with its process.
  const { release } = await retryWhileBusy(() => lockFile(`${path}-start`), startPatienceMs);
  try {
    await prepareFile(path, { ifMissing, applied });
    const [writing, reading] = [
      await connectSqlite(path),
      await connectSqlite(path, "PRAGMA query_only = ON;"),
    ];
    const scans = scanThread(path, onStatement);
    observe.pool("scan", scans.use);
    const present = transactionContext();
    const commit = groupCommit(writingConnection(writing, onStatement), undefined, observe);
    const queries = whileInTransaction(observedQueries(writing, onStatement), driverOf(writing));
    return {
      dialect: "sqlite",
      writer: clientOn("sqlite", present.adapter(writing)),
      reader: clientOn("sqlite", observedAdapter(reading, onStatement)),
      reads: sqliteStatements(driverOf(reading), onStatement),
      scans,
      replica: null,
      transact: (work) => commit((statements) => present.run(queries, () => work(statements))),
      shrink: (pages) => commit(async () => freePages(driverOf(writing), pages)),
      jobs: jobRows,
      counters: memoryCounters(),
      release,
      async close() {
        await commit(async () => undefined);
        // The last connection to close checkpoints the journal, so it must be the one that can write.
        await scans.close();
        await reading.dispose();
        await writing.dispose();
      },
    };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

/** For Prisma's statements, the same check that group commits make for our own. */
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

/** The file keeps one unused page of this many for new rows. */
const keptShare = 10;

/**
 * Removes unused pages from the end of the file, in the present transaction. Only `exec` steps this statement
 * to its end.
 */
function freePages(driver: SqliteConnection, pages: number): number {
  const count = (name: string) => Number(Object.values(driver.prepare(`PRAGMA ${name}`).all()[0] ?? {})[0]);
  // A file of an earlier release gets the mode when `atp erase` writes it again.
  if (count("auto_vacuum") !== incrementalMode) return 0;
  const excess = () => Math.max(0, count("freelist_count") - Math.floor(count("page_count") / keptShare));
  const removed = Math.min(Math.floor(pages), excess());
  if (removed > 0) driver.exec(`PRAGMA incremental_vacuum(${removed})`);
  return excess();
}

/**
 * Transactions begin IMMEDIATE, so that a write never fails because another process wrote after this one's
 * first read.
 */
function writingConnection(
  adapter: SqlDriverAdapter,
  onStatement: OnStatement | undefined,
): WritingConnection {
  const driver = driverOf(adapter);
  const controls = new Map<string, { run(): unknown }>();
  return {
    statements: sqliteStatements(driver, onStatement),
    async begin() {
      onStatement?.("BEGIN");
      await retryWhileBusy(() => adapter.executeScript("BEGIN IMMEDIATE"), patienceMs);
    },
    control(sql) {
      const ended = onStatement?.(sql);
      try {
        const prepared = controls.get(sql) ?? driver.prepare(sql);
        controls.set(sql, prepared);
        prepared.run();
      } catch (thrown) {
        throw new StatementFailure(thrown);
      } finally {
        ended?.();
      }
    },
    get inTransaction() {
      return driver.inTransaction;
    },
  };
}

/**
 * A new file has few rows, so that its migrations need no temporary files: the machine may have no folder for
 * them that can be written.
 */
const forNewFile = `${incrementalVacuum} PRAGMA temp_store = MEMORY;`;

/** Under the lock, sets the journal mode, which is stored in the file, and migrates. */
async function prepareFile(path: string, options: MigrateOptions): Promise<void> {
  // A new file takes the mode of vacuum before anything else. In another file setting it needs the lock of a
  // writer.
  const isNew = !existsSync(path) || statSync(path).size === 0;
  const connection = await connectSqlite(
    path,
    `${isNew ? forNewFile : ""} PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;`,
  );
  try {
    // A server that already runs writes without that lock.
    await retryWhileBusy(() => connection.executeScript("BEGIN IMMEDIATE"), startPatienceMs);
    const target = {
      query: async (sql: string) => (await connection.queryRaw({ sql, args: [], argTypes: [] })).rows,
      script: (sql: string) => connection.executeScript(sql),
    };
    await migrate("sqlite", target, options);
    await connection.executeScript("COMMIT");
  } finally {
    // Closing the connection rolls back uncommitted work.
    await connection.dispose();
  }
}
