import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import type { PoolUse } from "../core/observe.ts";
import { type OnStatement, reported } from "./round-trips.ts";
import { type Statement, StatementFailure, type Statements } from "./statements.ts";

export interface ScanRequest {
  readonly id: number;
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The answer to a statement: its rows, or the driver's error. */
export type ScanAnswer = { readonly id: number } & (
  | { readonly rows: unknown[] }
  | { readonly failure: { readonly text: string; readonly code: string | undefined } }
);

/** Statements that run in a separate thread. */
export interface ScanThread extends Pick<Statements, "query"> {
  /** The thread as a pool of one connection. */
  use(): PoolUse;
  /** Resolves once the waiting statements are answered and the connection is closed. Further statements fail. */
  close(): Promise<void>;
}

/** Statements that may wait for the thread. Further ones fail, and their callers should try again. */
const waitingMax = 1_000;

interface Waiting {
  resolve(rows: unknown[]): void;
  reject(failure: StatementFailure): void;
}

/**
 * Reads in a thread with a separate connection, so that a statement that reads many rows holds up neither the event loop nor
 * the connections of other calls. The thread is started by the first statement. Each statement sees all commits before it.
 * If the thread ends, its waiting statements fail as `unavailable`, and the next one starts a new thread.
 *
 * @param startWorker starts the thread on this path.
 */
export function scanThread(path: string, onStatement?: OnStatement, startWorker = createWorker): ScanThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let last = 0;
  let closed = false;

  function start(): Worker {
    const started = startWorker(path);
    started.on("message", settle);
    started.once("error", (thrown) => fail(started, thrown));
    started.once("exit", () => fail(started, new Error("the thread that reads has ended")));
    worker = started;
    return started;
  }

  function settle(answer: ScanAnswer): void {
    const found = waiting.get(answer.id);
    waiting.delete(answer.id);
    // An idle thread does not keep the process running.
    if (waiting.size === 0) worker?.unref();
    if ("rows" in answer) found?.resolve(answer.rows);
    else found?.reject(new StatementFailure(Object.assign(new Error(answer.failure.text), { code: answer.failure.code })));
  }

  /** An error is followed by the exit, when the next thread may have begun. */
  function fail(ended: Worker, cause: unknown): void {
    if (worker !== ended) return;
    worker = undefined;
    const failed = [...waiting.values()];
    waiting.clear();
    for (const { reject } of failed) reject(new StatementFailure(cause));
  }

  async function send({ sql, values }: Statement): Promise<unknown[]> {
    if (closed) throw new StatementFailure(new Error("the store is closed"));
    if (waiting.size >= waitingMax) throw new StatementFailure(new Error("too many statements wait for the thread that reads"));
    const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
    const thread = worker ?? start();
    last += 1;
    // It throws for a value that cannot be sent: then nothing waits.
    thread.postMessage({ id: last, sql, values } satisfies ScanRequest);
    waiting.set(last, { resolve, reject });
    thread.ref();
    return promise;
  }

  return {
    query: (statement) => reported(onStatement, statement.sql, () => send(statement)),
    use: () => ({ used: Math.min(waiting.size, 1), idle: waiting.size === 0 ? 1 : 0, max: 1, waiting: Math.max(0, waiting.size - 1) }),
    async close() {
      closed = true;
      if (!worker) return;
      const { promise: ended, resolve } = Promise.withResolvers<number>();
      worker.once("exit", resolve);
      worker.ref();
      worker.postMessage(null);
      await ended;
    },
  };
}

/** Without the flags and the environment of the process, which are for its main thread. Compiling again would cost 20 MB. */
function createWorker(path: string): Worker {
  const compiled = getCompileCacheDir();
  const env = compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };
  return new Worker(new URL("./scan-worker.ts", import.meta.url), { workerData: path, execArgv: [], env });
}
