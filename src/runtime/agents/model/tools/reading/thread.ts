import { Worker } from "node:worker_threads";
import { limitConcurrency } from "../../../../../async/limit.ts";
import { type Failure, invalidArgument } from "../../../../../core/failure.ts";

interface Limits {
  readonly ms: number;
  /** The most bytes of its memory, with buffers. */
  readonly memory: number;
  readonly heapMb: number;
}

/**
 * The interval of checks of the thread's memory: short enough that a thread exceeds its limit only a little.
 */
const watchMs = 100;

/** At most two readings at once, because each needs a thread and a part of the machine's memory. */
const runLimited = limitConcurrency(2);

/**
 * Reads what is untrusted in a separate thread, which is ended when it exceeds its time or memory. It posts
 * one message: what it has read, or null.
 *
 * @param why the text of the failure.
 * @throws Failure `invalid_argument` if there is nothing, or too late.
 */
export const readInThread = <T>(
  module: URL,
  workerData: unknown,
  limits: Limits,
  why: string,
  signal: AbortSignal,
): Promise<T> =>
  runLimited(() => runThread<T>(module, workerData, limits, () => invalidArgument("", why), signal));

async function runThread<T>(
  module: URL,
  workerData: unknown,
  { ms, memory, heapMb }: Limits,
  unreadable: () => Failure,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const worker = new Worker(module, {
    workerData,
    // The thread receives no environment, and its output is discarded.
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const fail = () => reject(unreadable());
  const onAbort = () => reject(signal.reason);
  worker
    .once("message", (read: T | null) => (read ? resolve(read) : fail()))
    .once("error", fail)
    .once("exit", fail);
  signal.addEventListener("abort", onAbort);
  // Real timers, not the injected clock: the thread runs in real time, also in tests.
  const timeout = setTimeout(fail, ms);
  const watch = setInterval(() => void memoryOf(worker).then((used) => used > memory && fail()), watchMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timeout);
    clearInterval(watch);
    signal.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}

/** With buffers, which are outside of the heap that `resourceLimits` limits; 0 when the thread has ended. */
async function memoryOf(worker: Worker): Promise<number> {
  try {
    const { external_memory: externalMemory, used_heap_size: usedHeapSize } =
      await worker.getHeapStatistics();
    return externalMemory + usedHeapSize;
  } catch {
    return 0;
  }
}
