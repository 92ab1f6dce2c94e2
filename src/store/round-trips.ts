import type { SqlDriverAdapter, SqlQuery, SqlQueryable } from "@prisma/driver-adapter-utils";

/** Called for each statement to the database, including BEGIN and COMMIT. */
export type OnStatement = (sql: string) => void;

/** A queryable that reports its statements; unchanged without a listener. */
export function observedQueries(queries: SqlQueryable, onStatement: OnStatement | undefined): SqlQueryable {
  if (!onStatement) return queries;
  const report = ({ sql }: SqlQuery) => onStatement(sql);
  return {
    provider: queries.provider,
    adapterName: queries.adapterName,
    queryRaw(query) {
      report(query);
      return queries.queryRaw(query);
    },
    executeRaw(query) {
      report(query);
      return queries.executeRaw(query);
    },
  };
}

/** An adapter that reports its queries. */
export const observedAdapter = (adapter: SqlDriverAdapter, onStatement: OnStatement | undefined): SqlDriverAdapter => ({
  ...queriesOf(observedQueries(adapter, onStatement)),
  executeScript: (script) => adapter.executeScript(script),
  startTransaction: (isolationLevel) => adapter.startTransaction(isolationLevel),
  getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: false },
  dispose: () => adapter.dispose(),
});

/** Copies the members explicitly, because spreading does not copy inherited ones. */
const queriesOf = (queries: SqlQueryable): SqlQueryable => ({
  provider: queries.provider,
  adapterName: queries.adapterName,
  queryRaw: (query) => queries.queryRaw(query),
  executeRaw: (query) => queries.executeRaw(query),
});
