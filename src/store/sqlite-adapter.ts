import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { Clock } from "../core/clock.ts";
import { isBusy } from "./driver-failure.ts";
import type { SqliteConnection } from "./sqlite-statements.ts";

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
  driverOf(adapter).function("fold_case", { deterministic: true }, (text) => String(text).toLowerCase());
  return adapter;
}

/** The driver's own connection, which the adapter has as `client`; its type does not say so. */
export const driverOf = (adapter: SqlDriverAdapter): SqliteConnection =>
  (adapter as unknown as { readonly client: SqliteConnection }).client;

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
