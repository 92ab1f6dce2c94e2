import { AsyncLocalStorage } from "node:async_hooks";
import type { SqlDriverAdapter, SqlQueryable, Transaction } from "@prisma/driver-adapter-utils";
import { ProgrammingError, type Statements } from "./statements.ts";

/** Runs work in a separate transaction: either all of it is durable when the promise resolves, or nothing. */
export type Transact = <T>(work: (statements: Statements) => Promise<T>) => Promise<T>;

/** The transaction of the current work, for Prisma's statements. */
interface ActiveTransaction {
  readonly queries: SqlQueryable;
  open: boolean;
}

/** Routes Prisma's statements to the caller's transaction. */
export interface TransactionContext {
  /** Runs work in a transaction. Work that continues after its end cannot reach a later transaction. */
  run<T>(queries: SqlQueryable, work: () => Promise<T>): Promise<T>;
  /** An adapter for a client that writes: it works only in the caller's transaction. */
  adapter(outside: SqlDriverAdapter): SqlDriverAdapter;
}

export function transactionContext(): TransactionContext {
  const storage = new AsyncLocalStorage<ActiveTransaction>();

  function activeQueries(): SqlQueryable {
    const found = storage.getStore();
    if (!found?.open) throw new ProgrammingError("the change is over, or never began");
    return found.queries;
  }

  return {
    async run(queries, work) {
      const active: ActiveTransaction = { queries, open: true };
      try {
        return await storage.run(active, work);
      } finally {
        active.open = false;
      }
    },
    adapter: (outside) => ({
      provider: outside.provider,
      adapterName: outside.adapterName,
      queryRaw: (query) => activeQueries().queryRaw(query),
      executeRaw: (query) => activeQueries().executeRaw(query),
      executeScript: (script) => outside.executeScript(script),
      // A transaction that Prisma starts is part of the open one.
      startTransaction: async () => nestedTransaction(activeQueries()),
      getConnectionInfo: () => outside.getConnectionInfo?.() ?? { supportsRelationJoins: false },
      dispose: () => outside.dispose(),
    }),
  };
}

const nestedTransaction = (queries: SqlQueryable): Transaction => ({
  provider: queries.provider,
  adapterName: queries.adapterName,
  queryRaw: (query) => queries.queryRaw(query),
  executeRaw: (query) => queries.executeRaw(query),
  options: { usePhantomQuery: true },
  commit: async () => undefined,
  rollback: async () => undefined,
});
