import type { Pool } from "pg";
import type { PoolUse } from "../core/observe.ts";

/**
 * The pool handles errors of an idle connection, the adapter handles those of a connection
 * in a transaction. Between the two there is no handler, and an error would end the process.
 * This handler ignores the error: the next statement reports it.
 */
export const ignoreErrors = (connection: PoolConnection): void =>
  void connection.on("error", () => undefined);

export interface PoolConnection {
  on(event: "error", listener: () => void): unknown;
  query(text: string): Promise<unknown>;
}

/**
 * The pool waits for the settings. They are not parameters of the connection, because poolers refuse those
 * that they do not know.
 */
export const prepareSession = (settings: string) => async (connection: PoolConnection) => {
  ignoreErrors(connection);
  await connection.query(settings);
};

/** Counts the connections of a pool. */
export const useOf = (pool: Pool) => (): PoolUse => ({
  used: pool.totalCount - pool.idleCount,
  idle: pool.idleCount,
  max: pool.options.max,
  waiting: pool.waitingCount,
});
