import type { SqlDriverAdapter, SqlQuery, SqlQueryable } from "@prisma/driver-adapter-utils";

/** Told of every statement that goes to the database, BEGIN and COMMIT included. */
export type OnStatement = (sql: string) => void;

/** What Prisma asks a connection, told of; as it is where nobody listens. */
export function countedQueries(queries: SqlQueryable, onStatement: OnStatement | undefined): SqlQueryable {
  if (!onStatement) return queries;
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

/** An adapter that tells of its queries. */
export const countedAdapter = (adapter: SqlDriverAdapter, onStatement: OnStatement | undefined): SqlDriverAdapter => ({
  ...queriesOf(countedQueries(adapter, onStatement)),
  executeScript: (script) => adapter.executeScript(script),
  startTransaction: (isolationLevel) => adapter.startTransaction(isolationLevel),
  getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: false },
  dispose: () => adapter.dispose(),
});

/** What is inherited is not copied by spreading. */
const queriesOf = (queries: SqlQueryable): SqlQueryable => ({
  provider: queries.provider,
  adapterName: queries.adapterName,
  queryRaw: (query) => queries.queryRaw(query),
  executeRaw: (query) => queries.executeRaw(query),
});
