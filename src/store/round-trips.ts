import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQuery, SqlQueryable, Transaction } from "@prisma/driver-adapter-utils";

/** Told of every statement that goes to the database, BEGIN and COMMIT included. */
export type OnStatement = (sql: string) => void;

/**
 * A driver adapter that tells of its round trips. Prisma's own query events lack
 * BEGIN, so they are counted here, where nothing gets past.
 */
export function countRoundTrips<F extends SqlDriverAdapterFactory>(factory: F, onStatement: OnStatement): SqlDriverAdapterFactory {
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => countedAdapter(await factory.connect(), onStatement),
  };
}

function countedAdapter(adapter: SqlDriverAdapter, onStatement: OnStatement): SqlDriverAdapter {
  return {
    ...countedQueries(adapter, onStatement),
    async executeScript(script) {
      onStatement(script);
      await adapter.executeScript(script);
    },
    async startTransaction(isolationLevel) {
      onStatement("BEGIN");
      return countedTransaction(await adapter.startTransaction(isolationLevel), onStatement);
    },
    getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: false },
    dispose: () => adapter.dispose(),
  };
}

function countedTransaction(transaction: Transaction, onStatement: OnStatement): Transaction {
  return {
    ...countedQueries(transaction, onStatement),
    options: transaction.options,
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
  };
}

function countedQueries(queries: SqlQueryable, onStatement: OnStatement): SqlQueryable {
  const told = ({ sql }: SqlQuery) => onStatement(sql);
  return {
    provider: queries.provider,
    adapterName: queries.adapterName,
    queryRaw(query) {
      told(query);
      return queries.queryRaw(query);
    },
    executeRaw(query) {
      told(query);
      return queries.executeRaw(query);
    },
  };
}
