import type { OnStatement } from "./round-trips.ts";
import { type Statement, StatementFailure, type Statements, type Value } from "./statements.ts";

/** A connection of `pg`, or a pool. Only the members used here. */
export interface PgQueryable {
  query(query: {
    readonly name?: string;
    readonly text: string;
    readonly values: readonly unknown[];
    readonly types: typeof types;
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

/** The type of integer sums. A JavaScript number can hold the store's sums. */
const numeric = 1700;
const int8 = 20;
const int4 = 23;
const bool = 16;
const bytea = 17;

/** The types of the columns. Every other type is read as text. */
const types = {
  getTypeParser(oid: number, format = "text"): (text: string) => unknown {
    if (format !== "text") throw new Error("columns must be in text format");
    if (oid === int8 || oid === int4 || oid === numeric) return Number;
    if (oid === bool) return (text) => text === "t";
    return oid === bytea ? (text) => Buffer.from(text.slice(2), "hex") : (text) => text;
  },
};

/** Statements on PostgreSQL, without Prisma: each connection prepares each text once. */
export function postgresStatements(
  queryable: PgQueryable,
  nameOf: (text: string) => string,
  onStatement?: OnStatement,
): Statements {
  async function run({ text, values }: Statement) {
    const ended = onStatement?.(text);
    try {
      return await queryable.query({
        name: nameOf(text),
        text,
        values: (values as readonly Value[]).map(toDriver),
        types,
      });
    } catch (thrown) {
      throw new StatementFailure(thrown);
    } finally {
      ended?.();
    }
  }
  return {
    query: async (statement) => (await run(statement)).rows,
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
    write: async (statement) => void (await run(statement)),
  };
}

/** The driver requires a Buffer for bytes. */
const toDriver = (value: Value): unknown =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
