import type { OnStatement } from "./round-trips.ts";
import type { Value } from "./sql.ts";
import { type Statement, StatementFailure, type Statements } from "./statements.ts";

/** A connection of `pg`, or a pool of them, as far as it is used here. */
export interface PgQueryable {
  query(query: {
    readonly name?: string;
    readonly text: string;
    readonly values: readonly unknown[];
    readonly types: typeof types;
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

const int8 = 20;
const int4 = 23;
const bool = 16;
const bytea = 17;

/** What the columns are that there are; all else is text. */
const types = {
  getTypeParser(oid: number, format = "text"): (text: string) => unknown {
    if (format !== "text") throw new Error("columns come as text");
    if (oid === int8 || oid === int4) return Number;
    if (oid === bool) return (text) => text === "t";
    return oid === bytea ? (text) => Buffer.from(text.slice(2), "hex") : (text) => text;
  },
};

/** Statements on PostgreSQL: no Prisma in between, each text prepared once in each connection. */
export function postgresStatements(queryable: PgQueryable, nameOf: (text: string) => string, onStatement?: OnStatement): Statements {
  async function run({ text, values }: Statement) {
    onStatement?.(text);
    try {
      return await queryable.query({ name: nameOf(text), text, values: (values as readonly Value[]).map(bound), types });
    } catch (thrown) {
      throw new StatementFailure(thrown);
    }
  }
  return {
    // A row has what the statement selects, and the caller says what that is.
    query: async <T>(statement: Statement) => (await run(statement)).rows as T[],
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
  };
}

/** The driver takes bytes as a Buffer. */
const bound = (value: Value): unknown =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
