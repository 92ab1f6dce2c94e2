import { Worker } from "node:worker_threads";

/** A message to the thread: the steps that are open, and a new limit in milliseconds from now. */
export interface WatchdogNote {
  readonly open?: readonly string[];
  readonly endMs?: number;
}

/** A thread that ends the process if it is not over in time. */
export interface Watchdog {
  tell(note: WatchdogNote): void;
  /**
   * Ends the other threads, which a process waits for at its exit. A thread in a native call ends only with
   * the call.
   */
  endOthers(): Promise<void>;
}

const threads = new Set<Worker>();
process.on("worker", (worker) => {
  threads.add(worker);
  worker.once("exit", () => threads.delete(worker));
});

/**
 * Starts the thread. It works while the main thread is blocked. SIGKILL leaves nothing behind that a next
 * start does not repair. Process 1 of a container cannot be killed from inside: there the engine has its own
 * limit.
 *
 * @param afterMs when the thread kills the process, in milliseconds.
 */
export function startWatchdog(afterMs: number, onError: (cause: unknown) => void): Watchdog {
  const thread = new Worker(new URL("./watchdog-worker.ts", import.meta.url), {
    workerData: afterMs,
    execArgv: [],
    env: {},
  });
  thread.once("error", onError).unref();
  return {
    tell: (note) => thread.postMessage(note),
    // Node ends the newest thread first, which is this one, and then waits for the others without a limit.
    endOthers: async () =>
      void (await Promise.all(
        [...threads].filter((each) => each !== thread).map((each) => each.terminate()),
      )),
  };
}
