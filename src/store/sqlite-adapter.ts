import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { systemClock } from "../core/clock.ts";
import { isBusy } from "./driver-failure.ts";
import type { OnStatement } from "./round-trips.ts";
import {
  ProgrammingError,
  type Statement,
  StatementFailure,
  type Statements,
  type Value,
} from "./statements.ts";

/** A connection of better-sqlite3. Only the members used here. */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  function(
    name: string,
    options: { readonly deterministic: boolean },
    run: (...values: readonly unknown[]) => unknown,
  ): unknown;
  readonly inTransaction: boolean;
}

const isSqliteConnection = (value: unknown): value is SqliteConnection =>
  typeof value === "object" &&
  value !== null &&
  "prepare" in value &&
  "exec" in value &&
  "inTransaction" in value;

interface SqliteStatement {
  safeIntegers(on: boolean): SqliteStatement;
  /** Rows become the value of their first column. */
  pluck(): SqliteStatement;
  all(...values: readonly unknown[]): unknown[];
  run(...values: readonly unknown[]): { readonly changes: number | bigint };
}

/** The maximum number of prepared statements. Statements with lists have many lengths. */
const keptMax = 300;

/** Statements on one connection of SQLite, without Prisma: each text is prepared once. */
export function sqliteStatements(
  driver: Pick<SqliteConnection, "prepare">,
  onStatement?: OnStatement,
): Statements {
  const kept = new Map<string, SqliteStatement>();

  function prepare(text: string): SqliteStatement {
    const known = kept.get(text) ?? driver.prepare(text).safeIntegers(false);
    // Moves the statement to the end, so that the least recently used one is removed first.
    kept.delete(text);
    kept.set(text, known);
    const [oldest] = kept.size > keptMax ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return known;
  }

  function run<T>(
    { sql, values }: Statement,
    execute: (statement: SqliteStatement, values: readonly unknown[]) => T,
  ): T {
    const ended = onStatement?.(sql);
    try {
      return execute(prepare(sql), (values as readonly Value[]).map(toDriver));
    } catch (thrown) {
      throw new StatementFailure(thrown);
    } finally {
      ended?.();
    }
  }

  return {
    query: async (statement) => run(statement, (prepared, values) => prepared.all(...values)),
    execute: async (statement) =>
      run(statement, (prepared, values) => Number(prepared.run(...values).changes)),
    write: async (statement) => run(statement, (prepared, values) => void prepared.run(...values)),
  };
}

/** SQLite has no booleans. The driver requires a Buffer for bytes. */
function toDriver(value: Value): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/**
 * The driver blocks the thread while it waits for another process's lock, so it waits only this long. Further
 * waits do not block.
 */
const blockingMs = 50;
/** The pause between two tries for a lock of another process. */
const pauseMs = 20;

/** The mode in which unused pages can be removed from the file in small steps. It is stored in the file. */
export const incrementalMode = 2;
/** Sets the mode for a new file, and for one that is written again. */
export const incrementalVacuum = `PRAGMA auto_vacuum = ${incrementalMode};`;

/** For every connection: commits survive a power cut, and foreign keys are enforced. */
const pragmas = `PRAGMA busy_timeout = ${blockingMs}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;`;

/** Opens a connection to a file. */
export async function connectSqlite(path: string, settings = ""): Promise<SqlDriverAdapter> {
  const adapter = await new PrismaBetterSqlite3({ url: `file:${path}` }).connect();
  await adapter.executeScript(pragmas + settings);
  driverOf(adapter).function("fold_case", { deterministic: true }, (text) => String(text).toLowerCase());
  return adapter;
}

/**
 * Opens an existing file for a command that only reads: SQLite opens the file itself without permission to
 * write.
 */
export async function connectReadOnly(path: string): Promise<SqlDriverAdapter> {
  const adapter = await new PrismaBetterSqlite3({
    url: `file:${path}`,
    readonly: true,
    fileMustExist: true,
  }).connect();
  await adapter.executeScript(`PRAGMA busy_timeout = ${blockingMs};`);
  return adapter;
}

/** The driver's connection. The adapter keeps it as `client`, which is missing in its type. */
export function driverOf(adapter: SqlDriverAdapter): SqliteConnection {
  if ("client" in adapter && isSqliteConnection(adapter.client)) return adapter.client;
  throw new ProgrammingError("@prisma/adapter-better-sqlite3 no longer keeps its connection as `client`");
}

/** A file lock of this process, held until it is released or the process ends. */
export interface FileLock {
  release(): Promise<void>;
}

/**
 * Takes the operating system's lock on a file through SQLite.
 *
 * @throws an error for which `isBusy` is true when another process holds the lock.
 */
export async function lockFile(path: string): Promise<FileLock> {
  const connection = await new PrismaBetterSqlite3({ url: `file:${path}` }).connect();
  try {
    // In memory the journal of the empty file needs no space, which a full disk does not have.
    await connection.executeScript(
      `PRAGMA busy_timeout = ${blockingMs}; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`,
    );
  } catch (thrown) {
    await connection.dispose();
    throw thrown;
  }
  return { release: () => connection.dispose() };
}

/**
 * Retries while another process holds the lock, up to `patienceMs`. Other work can run between the tries. The
 * time is the system's: the other process does not wait for a clock that a test moves.
 */
export async function retryWhileBusy<T>(work: () => Promise<T>, patienceMs: number): Promise<T> {
  const started = systemClock.monotonic();
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!isBusy(thrown) || systemClock.monotonic() - started >= patienceMs) throw thrown;
      await systemClock.sleep(pauseMs);
    }
  }
}
