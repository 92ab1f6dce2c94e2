import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import type { Pool } from "pg";
import { type Observe, secondsSince } from "../core/observe.ts";
import { isReadOnly, notAvailable } from "./driver-failure.ts";
import { beginPipeline, type PipelinedConnection } from "./postgresql-pipeline.ts";
import type { PgQueryable } from "./postgresql-statements.ts";
import type { OnStatement } from "./round-trips.ts";
import { StatementFailure, type Statements } from "./statements.ts";
import type { Transact, TransactionContext } from "./transactions.ts";

export interface PostgresTransactionParts {
  /** In the driver's pipeline mode. */
  readonly pool: Pool;
  /** Prisma's adapter of the pool. */
  readonly adapter: SqlDriverAdapter;
  readonly present: TransactionContext;
  readonly statementsOn: (connection: PgQueryable) => Statements;
  readonly onStatement: OnStatement | undefined;
  /** Receives the error of a connection that is lost while a transaction uses it. */
  readonly onError: (thrown: Error) => void;
  readonly observe: Pick<Observe, "committed" | "writerWaited">;
  /** Statements that set each transaction up; null where its session is set up. */
  readonly settings: string | null;
}

/** PostgreSQL's transactions: as many at a time as the pool has connections. */
export function postgresTransactions(parts: PostgresTransactionParts): Transact {
  const { pool, present, onError, observe, settings } = parts;
  const begin = settings === null ? "BEGIN" : `BEGIN; ${settings}`;
  return async (work) => {
    const start = performance.now();
    const connection: PipelinedConnection = await pool.connect().catch((thrown: unknown) => {
      throw new StatementFailure(thrown);
    });
    observe.writerWaited(secondsSince(start));
    connection.on("error", onError);
    const pipeline = beginPipeline({ ...parts, connection }, begin);
    try {
      const result = await present.run(pipeline.queries, () => work(pipeline.statements));
      await pipeline.commit();
      observe.committed(1);
      putBack(connection, onError);
      return result;
    } catch (thrown) {
      const cause = pipeline.failure() ?? thrown;
      // A change writes, so the server is no longer the primary.
      const isStandby = isReadOnly(cause);
      const isRolledBack = await pipeline.rollBack();
      putBack(connection, onError, isStandby || !isRolledBack);
      throw isStandby ? notAvailable(cause) : cause;
    }
  };
}

/** @param isBroken closes the connection. */
function putBack(connection: PipelinedConnection, onError: (thrown: Error) => void, isBroken = false): void {
  connection.removeListener("error", onError);
  connection.release(isBroken);
}
