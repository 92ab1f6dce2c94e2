import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { PgQueryable } from "./postgresql-statements.ts";
import { type OnStatement, observedQueries, reported } from "./round-trips.ts";
import { ProgrammingError, type Statement, StatementFailure, type Statements } from "./statements.ts";

/** A connection in the driver's pipeline mode: a statement does not wait for the answers of earlier ones. */
export interface PipelinedConnection extends PgQueryable {
  query: PgQueryable["query"] & ((query: Control) => Promise<{ readonly command: string }>);
  on(event: "error", listener: (thrown: Error) => void): unknown;
  removeListener(event: "error", listener: (thrown: Error) => void): unknown;
  release(broken?: boolean): void;
}

/**
 * Begins or ends a transaction. Once `query_timeout` milliseconds are over, the driver closes the connection.
 */
interface Control {
  readonly text: string;
  readonly query_timeout?: number;
}

/** A transaction on a connection. */
export interface Pipeline {
  readonly statements: Statements;
  /** For Prisma's client, which waits for each answer. */
  readonly queries: SqlQueryable;
  /** The first failure of a statement whose answer was not awaited: it is the cause of failures after it. */
  readonly failure: () => unknown;
  /** Resolves when everything that was sent is durable. */
  commit(): Promise<void>;
  /**
   * Resolves whether it is rolled back, which it is not if the connection is broken, or a statement still
   * runs: then it is closed.
   */
  rollBack(): Promise<boolean>;
}

export interface PipelineParts {
  readonly connection: PipelinedConnection;
  readonly adapter: SqlDriverAdapter;
  readonly statementsOn: (connection: PgQueryable) => Statements;
  readonly onStatement: OnStatement | undefined;
}

/**
 * A change that writes many rows waits for the answer of each of these: otherwise they would all be in
 * memory, unsent.
 */
const unansweredMax = 16;
/** The longest time for a rollback while a statement still runs. */
const rollBackMs = 1_000;

/**
 * Begins a transaction. BEGIN is sent with the first statement, and COMMIT with the last writes.
 *
 * PostgreSQL would run a statement behind a BEGIN that failed outside a transaction, so only reads are sent
 * before its answer. Behind any other failed statement it refuses all others up to COMMIT, which then rolls
 * back.
 *
 * @param begin BEGIN, and what sets the transaction up.
 */
export function beginPipeline(
  { connection, adapter, statementsOn, onStatement }: PipelineParts,
  begin: string,
): Pipeline {
  let failed: { readonly thrown: unknown } | undefined;
  let isBegun = false;
  let isOver = false;
  let written = 0;
  const control = (query: Control) =>
    reported(onStatement, query.text, () => connection.query(query)).catch((thrown: unknown) => {
      throw new StatementFailure(thrown);
    });
  const note = (thrown: unknown): void => {
    failed ??= { thrown };
  };
  const { query, execute } = statementsOn(connection);
  const begun = control({ text: begin }).then(() => {
    isBegun = true;
  }, note);
  /**
   * @throws the failure of a statement that was sent before; ProgrammingError after the end of the
   * transaction.
   */
  async function ready(): Promise<void> {
    if (!isBegun) await begun;
    if (failed) throw failed.thrown;
    if (isOver) throw new ProgrammingError("the change is over");
  }
  const end = (query: Control) => {
    isOver = true;
    return control(query);
  };
  return {
    statements: {
      async query(statement) {
        if (isBegun || failed || isOver || !isRead(statement)) await ready();
        return query(statement);
      },
      async execute(statement) {
        await ready();
        return execute(statement);
      },
      async write(statement) {
        await ready();
        const answered = execute(statement).catch(note);
        written += 1;
        if (written % unansweredMax > 0) return;
        await answered;
        await ready();
      },
    },
    queries: afterReady(observedQueries(queriesOn(adapter, connection), onStatement), ready),
    failure: () => failed?.thrown,
    async commit() {
      const { command } = await end({ text: "COMMIT" });
      if (failed) throw failed.thrown;
      if (command !== "COMMIT")
        throw new ProgrammingError("a change continued after a statement had failed, and was rolled back");
    },
    rollBack: () =>
      end({ text: "ROLLBACK", query_timeout: rollBackMs }).then(
        () => true,
        () => false,
      ),
  };
}

const isRead = ({ text }: Statement): boolean => /^\s*SELECT\b/.test(text);

/**
 * The adapter's queries, on a connection: it runs them on its member `client`, which is missing in its type.
 */
function queriesOn(adapter: SqlDriverAdapter, connection: PipelinedConnection): SqlQueryable {
  if (!("client" in adapter))
    throw new ProgrammingError("@prisma/adapter-pg no longer keeps its pool as `client`");
  return Object.create(adapter, { client: { value: connection } });
}

const afterReady = (queries: SqlQueryable, ready: () => Promise<void>): SqlQueryable => ({
  provider: queries.provider,
  adapterName: queries.adapterName,
  async queryRaw(query) {
    await ready();
    return queries.queryRaw(query);
  },
  async executeRaw(query) {
    await ready();
    return queries.executeRaw(query);
  },
});
