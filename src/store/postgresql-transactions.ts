import type { SqlDriverAdapter, SqlQueryable, Transaction } from "@prisma/driver-adapter-utils";
import type { PgQueryable } from "./postgresql-statements.ts";
import { countedQueries, type OnStatement } from "./round-trips.ts";
import type { Statements } from "./statements.ts";
import type { PresentTransaction, Transact } from "./transactions.ts";

/** A statement that was given up may hold its connection for so long; then that is given up too. */
const rollBackMs = 1_000;

/** A connection that `pg` has lent to a transaction. */
interface LentConnection extends PgQueryable {
  release(broken?: boolean): void;
}

export interface PostgresTransactionParts {
  readonly adapter: SqlDriverAdapter;
  readonly present: PresentTransaction;
  readonly statementsOn: (connection: PgQueryable) => Statements;
  readonly onStatement: OnStatement | undefined;
}

/** Transactions of PostgreSQL: as many at a time as the pool has connections. */
export function postgresTransactions({ adapter, present, statementsOn, onStatement }: PostgresTransactionParts): Transact {
  return async (work) => {
    onStatement?.("BEGIN");
    const transaction = await adapter.startTransaction();
    // The adapter has its connection as `client`; its type does not say so.
    const { client } = transaction as unknown as { readonly client: LentConnection };
    try {
      const result = await present.run(countedQueries(transaction, onStatement), () => work(statementsOn(client)));
      onStatement?.("COMMIT");
      await end(transaction, "COMMIT");
      await transaction.commit();
      return result;
    } catch (thrown) {
      await rollBack(transaction, client);
      throw thrown;
    }
  };
}

const end = (queries: SqlQueryable, sql: "COMMIT" | "ROLLBACK"): Promise<number> => queries.executeRaw({ sql, args: [], argTypes: [] });

/** What cannot be rolled back in time, because a statement still runs or the connection is gone, ends with its connection. */
async function rollBack(transaction: Transaction, client: LentConnection): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), rollBackMs);
  const rolledBack = end(transaction, "ROLLBACK").then(
    () => true,
    () => false,
  );
  const done = await Promise.race([rolledBack, late]);
  clearTimeout(timer);
  if (done) await transaction.rollback();
  else client.release(true);
}
