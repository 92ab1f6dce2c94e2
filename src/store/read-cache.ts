import type { OnStatement } from "./round-trips.ts";
import { type SqliteConnection, sqliteStatements } from "./sqlite-adapter.ts";
import { ProgrammingError, type Statement, StatementFailure, type Statements } from "./statements.ts";
import { type TableUse, tableUses } from "./table-use.ts";

/** Called with each answer from a cache, and with the rows that the database has at that time. Tests compare them. */
export type OnCached = (sql: string, cached: readonly unknown[], stored: readonly unknown[]) => void;

/** Keeps the rows of statements that are declared by `cached`. */
export interface ReadCache {
  /** Must be called after each BEGIN of the writing connection. */
  began(): void;
  /** Must be called before each statement of the writing connection, except those of `on`. @param parameters their number. */
  beforeStatement(sql: string, parameters: number): void;
  /** The statements of the writing connection or of a reading one, answered from the cache where it is exact. */
  on(connection: SqliteConnection, onStatement: OnStatement | undefined): Statements;
}

interface Entry {
  /** Frozen, as the driver returned them: `table.ts` makes new rows of them. */
  readonly rows: readonly unknown[];
  readonly bytes: number;
  /** The number of transactions with writes that had ended before it was read. */
  readonly epoch: number;
}

type CacheUse = NonNullable<Statement["cache"]>;

/** The bounds of the cache: entries, and bytes of all and of one. */
const entriesMax = 5_000;
const bytesMax = 8 * 2 ** 20;
const entryBytesMax = 64 * 2 ** 10;

/**
 * An exact cache of reads. An answer is used only if it is the one that the database would give:
 *
 * - `data_version` of the writing connection is unchanged, so no other process has committed;
 * - no transaction of this process with a write to one of the tables has ended since, and none is open. What a transaction writes is
 *   determined from SQLite's program for each statement (`table-use.ts`), those of Prisma included.
 */
export function createReadCache(writer: SqliteConnection, onCached?: OnCached): ReadCache {
  const dataVersion = writer.prepare("PRAGMA data_version").safeIntegers(false).pluck();
  const uses = tableUses(writer);
  const entries = new Map<string, Entry>();
  /** By table: the epoch after the last transaction that wrote to it. */
  const changed = new Map<string, number>();
  /** The tables with writes in the open transaction. */
  const uncommitted = new Set<string>();
  let epoch = 0;
  let bytes = 0;
  let version: unknown;

  /** Rollbacks count too: this is simpler, and they are rare. */
  function settle(): void {
    if (uncommitted.size === 0) return;
    epoch += 1;
    for (const table of uncommitted) changed.set(table, epoch);
    uncommitted.clear();
  }

  /** Removes everything when another process has committed: it may have changed rows and the schema. */
  function checkVersion(): void {
    const current = readVersion();
    if (current === version) return;
    version = current;
    entries.clear();
    bytes = 0;
    uses.forget();
  }

  /** While it cannot be read, no two versions are equal: then nothing is answered from the cache. */
  function readVersion(): unknown {
    try {
      return dataVersion.get();
    } catch {
      return Symbol("unknown");
    }
  }

  /** A reading connection in a transaction sees an older state. */
  function isUsable({ tables }: CacheUse, connection: SqliteConnection): boolean {
    if (!writer.inTransaction) settle();
    return (connection === writer || !connection.inTransaction) && !tables.some((table) => uncommitted.has(table));
  }

  function find({ key, tables }: CacheUse): Entry | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    entries.delete(key);
    if (tables.some((table) => (changed.get(table) ?? 0) > entry.epoch)) {
      bytes -= entry.bytes;
      return undefined;
    }
    // The least recently used entry stays the first one.
    entries.set(key, entry);
    return entry;
  }

  function keep(key: string, entry: Entry): void {
    if (entry.bytes > entryBytesMax) return;
    bytes += entry.bytes - (entries.get(key)?.bytes ?? 0);
    entries.set(key, entry);
    for (const [oldest, { bytes: freed }] of entries) {
      if (entries.size <= entriesMax && bytes <= bytesMax) return;
      entries.delete(oldest);
      bytes -= freed;
    }
  }

  function checkDeclared(statement: Statement, { tables }: CacheUse): void {
    for (const table of tablesOf(statement.sql, statement.values.length).reads)
      if (!tables.some((each) => each === table))
        throw new ProgrammingError(`a cached statement reads ${table}, which it does not declare`);
  }

  /** @param connection where `query` runs. */
  async function read(statement: Statement, cache: CacheUse, query: Statements["query"], connection: SqliteConnection): Promise<unknown[]> {
    checkVersion();
    const known = find(cache);
    if (known) {
      if (onCached) await compare(statement, known.rows, connection, onCached);
      return [...known.rows];
    }
    checkDeclared(statement, cache);
    const before = { epoch, version };
    const rows = await query(statement);
    // Other work may have run since the rows were read.
    if (version === before.version) keep(cache.key, { rows: rows.map(Object.freeze), bytes: sizeOf(cache.key, rows), epoch: before.epoch });
    return rows;
  }

  /** Not counted as a statement. */
  async function compare(statement: Statement, rows: readonly unknown[], connection: SqliteConnection, report: OnCached): Promise<void> {
    const stored = sqliteStatements(connection).query(statement);
    // Another process may have committed after the check of the version.
    if (readVersion() === version) report(statement.sql, rows, await stored);
    else await stored;
  }

  function beforeStatement(sql: string, parameters: number): void {
    for (const table of tablesOf(sql, parameters).writes) uncommitted.add(table);
  }

  function tablesOf(sql: string, parameters: number): TableUse {
    try {
      return uses.of(sql, parameters);
    } catch (thrown) {
      throw new StatementFailure(thrown);
    }
  }

  return {
    began() {
      settle();
      checkVersion();
    },
    beforeStatement,
    on(connection, onStatement) {
      const { query, execute, write } = sqliteStatements(connection, onStatement, connection === writer ? beforeStatement : undefined);
      return {
        execute,
        write,
        async query(statement) {
          const { cache } = statement;
          return cache && isUsable(cache, connection) ? read(statement, cache, query, connection) : query(statement);
        },
      };
    },
  };
}

/** About the bytes of an entry in memory. */
function sizeOf(key: string, rows: readonly unknown[]): number {
  const values = rows.flatMap((row) => Object.values(row ?? {}));
  return values.reduce((sum: number, value) => sum + sizeOfValue(value), 200 + 2 * key.length + 100 * rows.length);
}

const sizeOfValue = (value: unknown): number =>
  typeof value === "string" ? 16 + 2 * value.length : value instanceof Uint8Array ? 100 + value.byteLength : 16;
