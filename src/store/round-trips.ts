import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";

/**
 * Called for each statement to the database, including BEGIN and COMMIT. What it returns is called at the
 * statement's end.
 */
export type OnStatement = (sql: string) => (() => void) | undefined;

/** Runs a statement between the two calls of a listener. */
export async function reported<T>(
  onStatement: OnStatement | undefined,
  sql: string,
  run: () => Promise<T>,
): Promise<T> {
  const ended = onStatement?.(sql);
  if (!ended) return run();
  try {
    return await run();
  } finally {
    ended();
  }
}

/** The first characters of a statement that a report of a slow one shows. */
const shownMax = 300;

/**
 * Reports statements that take longer than a limit, by their text without values.
 *
 * @param report receives the text, and the largest of 1, 2, 5, 10, 20, 50, … times the limit that was
 * exceeded, in milliseconds.
 */
export function slowStatements(
  limitMs: number,
  report: (sql: string, ms: number) => void,
  listener?: OnStatement,
): OnStatement {
  return (sql) => {
    const ended = listener?.(sql);
    const start = performance.now();
    return () => {
      ended?.();
      const ms = performance.now() - start;
      if (ms > limitMs) report(shown(sql), limitMs * stepOf(ms / limitMs));
    };
  };
}

/** The beginning of a statement in one line, without the list of columns, which may be long. */
const shown = (sql: string): string =>
  sql
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^SELECT .{30,}? FROM /, "SELECT … FROM ")
    .slice(0, shownMax);

/** The largest of 1, 2, 5, 10, 20, 50, … that is at most `factor`. */
function stepOf(factor: number): number {
  const power = 10 ** Math.floor(Math.log10(factor));
  return power * (factor >= 5 * power ? 5 : factor >= 2 * power ? 2 : 1);
}

/** A queryable that reports its statements; unchanged without a listener. */
export function observedQueries(queries: SqlQueryable, onStatement: OnStatement | undefined): SqlQueryable {
  if (!onStatement) return queries;
  return {
    provider: queries.provider,
    adapterName: queries.adapterName,
    queryRaw: (query) => reported(onStatement, query.sql, () => queries.queryRaw(query)),
    executeRaw: (query) => reported(onStatement, query.sql, () => queries.executeRaw(query)),
  };
}

/** An adapter that reports its queries. */
export const observedAdapter = (
  adapter: SqlDriverAdapter,
  onStatement: OnStatement | undefined,
): SqlDriverAdapter => ({
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
