import type { OnStatement } from "./round-trips.ts";
import type { Value } from "./sql.ts";
import { type Statement, StatementFailure, type Statements } from "./statements.ts";

/** A connection of better-sqlite3, as far as it is used here. */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  function(name: string, options: { readonly deterministic: boolean }, run: (...values: readonly unknown[]) => unknown): unknown;
  readonly inTransaction: boolean;
}

interface SqliteStatement {
  safeIntegers(on: boolean): SqliteStatement;
  all(...values: readonly unknown[]): unknown[];
  run(...values: readonly unknown[]): { readonly changes: number | bigint };
}

/** So many are kept prepared; statements with lists come in many lengths. */
const keptMax = 300;

/** Statements on one connection of SQLite: no Prisma in between, each text prepared once. */
export function sqliteStatements(driver: Pick<SqliteConnection, "prepare">, onStatement?: OnStatement): Statements {
  const kept = new Map<string, SqliteStatement>();

  function prepared(text: string): SqliteStatement {
    const known = kept.get(text) ?? driver.prepare(text).safeIntegers(false);
    // The one used last goes to the end, and the first one out is the one not used for longest.
    kept.delete(text);
    kept.set(text, known);
    const [oldest] = kept.size > keptMax ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return known;
  }

  function run<T>({ sql: text, values }: Statement, how: (statement: SqliteStatement, values: readonly unknown[]) => T): T {
    onStatement?.(text);
    try {
      return how(prepared(text), (values as readonly Value[]).map(bound));
    } catch (thrown) {
      throw new StatementFailure(thrown);
    }
  }

  return {
    // A row has what the statement selects, and the caller says what that is.
    query: async <T>(statement: Statement) => run(statement, (prepared, values) => prepared.all(...values) as T[]),
    execute: async (statement) => run(statement, (prepared, values) => Number(prepared.run(...values).changes)),
  };
}

/** SQLite has no truth values, and takes bytes as a Buffer. */
function bound(value: Value): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}
