import { Worker } from "node:worker_threads";
import { limitConcurrency } from "../../../../../async/limit.ts";
import { invalidArgument } from "../../../../../core/failure.ts";
import type { PdfPart } from "./pdf-worker.ts";
import type { Part, Reading, Source } from "./text.ts";

/** The limits of one document, in bytes: its size, and the memory of its thread. */
const bytesMax = 50 * 1024 ** 2;
const memoryMax = 512 * 1024 ** 2;
const readingMs = 30_000;
/**
 * The interval of checks of the thread's memory: short enough that a thread exceeds its limit only a little.
 */
const watchMs = 100;

/** At most two documents at once, because each needs a thread and a part of the machine's memory. */
const runLimited = limitConcurrency(2);

/**
 * Reads pages of a document in a separate thread, which is ended when it exceeds its time or memory.
 *
 * @throws Failure `invalid_argument` for a document that is broken, protected, too large, or takes too long.
 */
export async function readPdf(source: Source, { from, signal }: Part): Promise<Reading> {
  const bytes = await readAll(source);
  const { pages, texts } = await runLimited(() => readInThread(bytes, from, signal));
  const next = from + texts.length;
  return { pages, from, texts: [...texts], next: texts.length > 0 && next < pages ? next : null };
}

async function readAll({ filename, read }: Source): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of read()) {
    length += chunk.length;
    if (length > bytesMax)
      throw invalidArgument(
        "",
        `${JSON.stringify(filename)} is too large: documents may have at most ${bytesMax} bytes`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const unreadable = () =>
  invalidArgument(
    "",
    "the document cannot be read: it is broken, protected by a password, or takes too long",
  );

async function readInThread(bytes: Uint8Array, from: number, signal: AbortSignal): Promise<PdfPart> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./pdf-worker.ts", import.meta.url), {
    workerData: { bytes, from },
    // The thread receives no environment, and its output is discarded.
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PdfPart>();
  const fail = () => reject(unreadable());
  const onAbort = () => reject(signal.reason);
  worker
    .once("message", (read: PdfPart | null) => (read ? resolve(read) : fail()))
    .once("error", fail)
    .once("exit", fail);
  signal.addEventListener("abort", onAbort);
  // Real timers, not the injected clock: the thread runs in real time, also in tests.
  const timeout = setTimeout(fail, readingMs);
  const watch = setInterval(() => void exceedsMemory(worker).then((large) => large && fail()), watchMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timeout);
    clearInterval(watch);
    signal.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}

/**
 * True when the thread exceeds its memory, with buffers, which are outside of the heap that `resourceLimits`
 * limits.
 */
async function exceedsMemory(worker: Worker): Promise<boolean> {
  try {
    const { external_memory: externalMemory, used_heap_size: usedHeapSize } =
      await worker.getHeapStatistics();
    return externalMemory + usedHeapSize > memoryMax;
  } catch {
    // The thread has ended.
    return false;
  }
}
