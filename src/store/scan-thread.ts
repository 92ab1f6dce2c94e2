import type { Worker } from "node:worker_threads";
import { createThread, startThread } from "../async/thread.ts";
import type { PoolUse } from "../core/observe.ts";
import { type OnStatement, reported } from "./round-trips.ts";
import { type Statement, StatementFailure, type Statements } from "./statements.ts";

export type ScanRequest = Pick<Statement, "sql" | "values">;

/** The answer to a statement: its rows, or the driver's error. */
export type ScanAnswer =
  | { readonly rows: unknown[] }
  | { readonly failure: { readonly text: string; readonly code: string | undefined } };

/** Statements that run in a separate thread. */
export interface ScanThread extends Pick<Statements, "query"> {
  /** The thread as a pool of one connection. */
  use(): PoolUse;
  /**
   * Resolves once the waiting statements are answered and the connection is closed. Further statements fail.
   */
  close(): Promise<void>;
}

/** Statements that may wait for the thread. Further ones fail, and their callers should try again. */
const waitingMax = 1_000;

/**
 * Reads in a thread with a separate connection, so that a statement that reads many rows holds up neither the
 * event loop nor the connections of other calls. The thread is started by the first statement. Each statement
 * sees all commits before it. If the thread ends, its waiting statements fail as `unavailable`, and the next
 * one starts a new thread.
 *
 * @param startWorker starts the thread on this path.
 */
export function scanThread(path: string, onStatement?: OnStatement, startWorker = createWorker): ScanThread {
  const thread = createThread<ScanRequest, ScanAnswer>(() => startWorker(path), null);
  let closed = false;

  async function send({ sql, values }: Statement): Promise<unknown[]> {
    if (closed) throw new StatementFailure(new Error("the store is closed"));
    if (thread.waiting >= waitingMax)
      throw new StatementFailure(new Error("too many statements wait for the thread that reads"));
    const answer = await thread.ask({ sql, values }).catch((thrown: unknown) => {
      throw new StatementFailure(thrown);
    });
    if ("rows" in answer) return answer.rows;
    throw new StatementFailure(Object.assign(new Error(answer.failure.text), { code: answer.failure.code }));
  }

  return {
    query: (statement) => reported(onStatement, statement.sql, () => send(statement)),
    use() {
      const { waiting } = thread;
      return {
        used: Math.min(waiting, 1),
        idle: waiting === 0 ? 1 : 0,
        max: 1,
        waiting: Math.max(0, waiting - 1),
      };
    },
    close() {
      closed = true;
      return thread.close();
    },
  };
}

const createWorker = (path: string): Worker =>
  startThread(new URL("./scan-worker.ts", import.meta.url), path, {});
