import { Worker } from "node:worker_threads";
import { invalid } from "../../../../../core/failure.ts";
import { fewAtOnce } from "../../../../../core/few-at-once.ts";
import type { PdfPart } from "./pdf-worker.ts";
import type { Part, Reading, Source } from "./source.ts";

/** What one document may take: bytes as it comes, and in its thread. */
const bytesMax = 50 * 1024 ** 2;
const memoryMax = 512 * 1024 ** 2;
const readingMs = 30_000;
/** How often the thread's memory is looked at: in so long a thread makes little more than is left then. */
const watchMs = 100;

/** Each takes a thread, and a part of the machine's memory. */
const turns = fewAtOnce(2);

/**
 * Pages of a document, read in a thread of their own: whatever a document does there ends with its time or its memory.
 *
 * @throws Failure `invalid` for one that is broken, protected, too large, or takes too long.
 */
export async function readPdf(source: Source, { from, signal }: Part): Promise<Reading> {
  const bytes = await gathered(source);
  const { pages, texts } = await turns(() => inThread(bytes, from, signal));
  const next = from + texts.length;
  return { pages, from, texts: [...texts], next: texts.length > 0 && next < pages ? next : null };
}

async function gathered({ filename, read }: Source): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of read()) {
    length += chunk.length;
    if (length > bytesMax) throw invalid("", `${JSON.stringify(filename)} is too large: documents are read up to ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const unreadable = () => invalid("", "the document cannot be read: it is broken, protected by a password, or takes too long");

async function inThread(bytes: Uint8Array, from: number, signal: AbortSignal): Promise<PdfPart> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./pdf-worker.ts", import.meta.url), {
    workerData: { bytes, from },
    // Nothing of ours is known there, and nothing that it writes comes out.
    ...{ env: {}, argv: [], execArgv: [], stdin: false, stdout: true, stderr: true },
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<PdfPart>();
  const giveUp = () => reject(unreadable());
  const onAbort = () => reject(signal.reason);
  worker
    .once("message", (read: PdfPart | null) => (read ? resolve(read) : giveUp()))
    .once("error", giveUp)
    .once("exit", giveUp);
  signal.addEventListener("abort", onAbort);
  // The thread is the machine's, and so are its time and memory: no clock of a test moves them.
  const late = setTimeout(giveUp, readingMs);
  const watch = setInterval(() => void tooLarge(worker).then((large) => large && giveUp()), watchMs);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    clearInterval(watch);
    signal.removeEventListener("abort", onAbort);
    await worker.terminate();
  }
}

/** Buffers are outside of the heap that `resourceLimits` bounds. */
async function tooLarge(worker: Worker): Promise<boolean> {
  try {
    const { external_memory: outside, used_heap_size: inside } = await worker.getHeapStatistics();
    return outside + inside > memoryMax;
  } catch {
    // It has ended.
    return false;
  }
}
