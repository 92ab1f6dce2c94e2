import type { SqlDriverAdapter, SqlQueryable, Transaction } from "@prisma/driver-adapter-utils";
import { type Observe, secondsSince } from "../core/observe.ts";
import { isReadOnly, notAvailable } from "./driver-failure.ts";
import { type OnStatement, observedQueries, reported } from "./round-trips.ts";
import { ProgrammingError, type Statement, StatementFailure, type Statements, type Value } from "./statements.ts";
import type { Transact, TransactionContext } from "./transactions.ts";

/** A connection of `pg`, or a pool. Only the members used here. */
export interface PgQueryable {
  query(query: {
    readonly name?: string;
    readonly text: string;
    readonly values: readonly unknown[];
    readonly types: typeof types;
  }): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
}

/** Whether a value of the driver runs statements. */
export const isQueryable = (value: unknown): value is PgQueryable =>
  typeof value === "object" && value !== null && "query" in value && typeof value.query === "function";

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
export function postgresStatements(queryable: PgQueryable, nameOf: (text: string) => string, onStatement?: OnStatement): Statements {
  async function run({ text, values }: Statement) {
    const ended = onStatement?.(text);
    try {
      return await queryable.query({ name: nameOf(text), text, values: (values as readonly Value[]).map(toDriver), types });
    } catch (thrown) {
      throw new StatementFailure(thrown);
    } finally {
      ended?.();
    }
  }
  return {
    query: async (statement) => (await run(statement)).rows,
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
  };
}

/** The driver requires a Buffer for bytes. */
const toDriver = (value: Value): unknown =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

/** The longest time for a rollback while a statement still runs. After that, the connection is closed. */
const rollBackMs = 1_000;

/** A connection that a transaction has borrowed from the pool of `pg`. */
interface PooledConnection extends PgQueryable {
  release(broken?: boolean): void;
}

export interface PostgresTransactionParts {
  readonly adapter: SqlDriverAdapter;
  readonly present: TransactionContext;
  readonly statementsOn: (connection: PgQueryable) => Statements;
  readonly onStatement: OnStatement | undefined;
  readonly observe: Pick<Observe, "committed" | "writerWaited">;
  /** Statements that set each transaction up; null where its session is set up. */
  readonly settings: string | null;
}

/** PostgreSQL's transactions: as many at a time as the pool has connections. */
export function postgresTransactions(parts: PostgresTransactionParts): Transact {
  const { adapter, present, statementsOn, onStatement, observe, settings } = parts;
  return async (work) => {
    onStatement?.("BEGIN");
    const start = performance.now();
    const transaction = await adapter.startTransaction();
    observe.writerWaited(secondsSince(start));
    const client = connectionOf(transaction);
    try {
      if (settings !== null) await observedQueries(transaction, onStatement).executeRaw({ sql: settings, args: [], argTypes: [] });
      const result = await present.run(observedQueries(transaction, onStatement), () => work(statementsOn(client)));
      await reported(onStatement, "COMMIT", () => end(transaction, "COMMIT"));
      await transaction.commit();
      observe.committed(1);
      return result;
    } catch (thrown) {
      // A change writes, so the server is no longer the primary.
      const isStandby = isReadOnly(thrown);
      await rollBack(transaction, client, isStandby);
      throw isStandby ? notAvailable(thrown) : thrown;
    }
  };
}

/** The adapter keeps the transaction's connection as `client`, which is missing in its type. */
function connectionOf(transaction: Transaction): PooledConnection {
  if ("client" in transaction && isPooled(transaction.client)) return transaction.client;
  throw new ProgrammingError("@prisma/adapter-pg no longer keeps the connection of a transaction as `client`");
}

const isPooled = (value: unknown): value is PooledConnection =>
  isQueryable(value) && "release" in value && typeof value.release === "function";

const end = (queries: SqlQueryable, sql: "COMMIT" | "ROLLBACK"): Promise<number> => queries.executeRaw({ sql, args: [], argTypes: [] });

/**
 * Rolls back. If a statement still runs or the connection is closed, the rollback cannot finish in time: then it drops the connection.
 *
 * @param isStale drops the connection in any case.
 */
async function rollBack(transaction: Transaction, client: PooledConnection, isStale: boolean): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), rollBackMs);
  const rolledBack = end(transaction, "ROLLBACK").then(
    () => true,
    () => false,
  );
  const done = await Promise.race([rolledBack, timedOut]);
  clearTimeout(timer);
  if (done && !isStale) await transaction.rollback();
  else client.release(true);
}
