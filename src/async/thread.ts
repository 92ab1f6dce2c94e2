import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { type ResourceLimits, type Transferable, Worker } from "node:worker_threads";

/** A request to a thread, or its answer. */
export interface Numbered<T> {
  readonly id: number;
  readonly value: T;
}

/** A thread that answers requests one at a time, in the order of their arrival. */
export interface Thread<Q, A> {
  /** The requests that are not answered yet. */
  readonly waiting: number;
  /**
   * Sends a request, and moves these buffers with it. @throws Error when the thread ends before its answer
   */
  ask(request: Q, moved?: readonly Transferable[]): Promise<A>;
  /**
   * Sends null, with which the thread must end after the answers to the requests before it. Resolves when it
   * has ended.
   */
  close(): Promise<void>;
}

/**
 * Starts a thread without the flags and the environment of the process, which are for its main thread.
 * Compiling again would cost 20 MB, and a large young generation 70 MB.
 */
export function startThread(
  module: URL,
  workerData?: unknown,
  resourceLimits: ResourceLimits = { maxYoungGenerationSizeMb: 4 },
): Worker {
  const compiled = getCompileCacheDir();
  const env = compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };
  return new Worker(module, { workerData, execArgv: [], env, resourceLimits });
}

/**
 * A thread that is started by a request and ended when it was idle. An idle thread does not keep the process
 * running. If the thread ends by itself, its waiting requests fail, and the next one starts a new thread.
 *
 * @param idleMs null: an idle thread stays.
 */
export function createThread<Q, A>(start: () => Worker, idleMs: number | null): Thread<Q, A> {
  const waiting = new Map<number, PromiseWithResolvers<A>>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last = 0;

  function open(): Worker {
    const opened = start();
    opened.on("message", ({ id, value }: Numbered<A>) => {
      waiting.get(id)?.resolve(value);
      waiting.delete(id);
      if (waiting.size === 0) rest(opened);
    });
    opened.once("error", (thrown) => fail(opened, thrown));
    opened.once("exit", () => fail(opened, new Error("the thread has ended")));
    worker = opened;
    return opened;
  }

  function rest(resting: Worker): void {
    resting.unref();
    if (idleMs === null) return;
    idle = setTimeout(() => {
      if (worker === resting) worker = undefined;
      void resting.terminate();
    }, idleMs).unref();
  }

  /** An error is followed by the exit, when the next thread may have begun. */
  function fail(ended: Worker, cause: unknown): void {
    if (worker !== ended) return;
    worker = undefined;
    for (const { reject } of waiting.values()) reject(cause);
    waiting.clear();
  }

  return {
    get waiting() {
      return waiting.size;
    },
    ask(value, moved = []) {
      clearTimeout(idle);
      const answer = Promise.withResolvers<A>();
      const thread = worker ?? open();
      last += 1;
      // It throws for a value that cannot be sent: then nothing waits.
      thread.postMessage({ id: last, value } satisfies Numbered<Q>, moved);
      waiting.set(last, answer);
      thread.ref();
      return answer.promise;
    },
    async close() {
      if (!worker) return;
      const { promise, resolve } = Promise.withResolvers<number>();
      worker.once("exit", resolve);
      worker.ref();
      worker.postMessage(null);
      await promise;
    },
  };
}
