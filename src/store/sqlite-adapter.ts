import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import type { SqlDriverAdapter, SqlDriverAdapterFactory, Transaction } from "@prisma/driver-adapter-utils";
import type { Clock } from "../core/clock.ts";
import { isBusy } from "./driver-failure.ts";
import { keepPrepared } from "./prepared.ts";

/** The driver waits for another process's lock with the whole thread: so briefly, and then without it. */
const blockingMs = 50;
/** Between two tries for a lock that another process holds. */
const pauseMs = 20;

/** For every connection: commits survive a power cut, and references are kept. */
const pragmas = `PRAGMA busy_timeout = ${blockingMs}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;`;

/** Opens one connection to a file. */
export async function connectSqlite(path: string, settings = ""): Promise<SqlDriverAdapter> {
  const adapter = await new PrismaBetterSqlite3({ url: `file:${path}` }).connect();
  await adapter.executeScript(pragmas + settings);
  keepPrepared(adapter);
  return adapter;
}

/** A file whose lock this process holds, until it lets go or dies. */
export interface FileLock {
  release(): Promise<void>;
}

/**
 * Takes the operating system's lock on a file, by way of SQLite.
 *
 * @throws what `isBusy` knows when another process has it.
 */
export async function lockFile(path: string): Promise<FileLock> {
  const connection = await new PrismaBetterSqlite3({ url: `file:${path}` }).connect();
  try {
    await connection.executeScript(`PRAGMA busy_timeout = ${blockingMs}; BEGIN EXCLUSIVE`);
  } catch (thrown) {
    await connection.dispose();
    throw thrown;
  }
  return { release: () => connection.dispose() };
}

/** Tries until it is done or the lock has been somebody else's for too long, and lets others work in between. */
export async function whileBusy<T>(work: () => Promise<T>, clock: Clock, patienceMs: number): Promise<T> {
  const started = clock.monotonic();
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!isBusy(thrown) || clock.monotonic() - started >= patienceMs) throw thrown;
      await clock.sleep(pauseMs);
    }
  }
}

/** The reader: what it reads is committed, and it cannot write. */
export function readerFactory(path: string): SqlDriverAdapterFactory {
  return factoryOf(() => connectSqlite(path, "PRAGMA query_only = ON;"));
}

/**
 * The writer. Its transactions begin IMMEDIATE, so that a write never fails for what
 * another process wrote after this one's first read; a gate before it lets one in at
 * a time, so the one connection is the transaction's own.
 */
export function writerFactory(path: string, clock: Clock, patienceMs: number): SqlDriverAdapterFactory {
  return factoryOf(async () => {
    const adapter = await connectSqlite(path);
    const startTransaction = async (): Promise<Transaction> => {
      await whileBusy(() => adapter.executeScript("BEGIN IMMEDIATE"), clock, patienceMs);
      return transactionOn(adapter);
    };
    return {
      ...queriesOf(adapter),
      startTransaction,
      executeScript: (script) => adapter.executeScript(script),
      dispose: () => adapter.dispose(),
    };
  });
}

/** COMMIT and ROLLBACK come as statements, for `usePhantomQuery` is false. */
function transactionOn(adapter: SqlDriverAdapter): Transaction {
  return { ...queriesOf(adapter), options: { usePhantomQuery: false }, commit: async () => undefined, rollback: async () => undefined };
}

const queriesOf = (adapter: SqlDriverAdapter) => ({
  provider: adapter.provider,
  adapterName: adapter.adapterName,
  queryRaw: adapter.queryRaw.bind(adapter),
  executeRaw: adapter.executeRaw.bind(adapter),
});

const factoryOf = (connect: () => Promise<SqlDriverAdapter>): SqlDriverAdapterFactory => ({
  provider: "sqlite",
  adapterName: "@prisma/adapter-better-sqlite3",
  connect,
});
