import { invalidArgument } from "../../../../../core/failure.ts";
import type { PdfPart } from "./pdf-worker.ts";
import type { Part, Reading, Source } from "./text.ts";
import { readInThread } from "./thread.ts";

const bytesMax = 50 * 1024 ** 2;
/** The limits of the thread of one document. */
const limits = { ms: 30_000, memory: 512 * 1024 ** 2, heapMb: 256 };
const unreadable = "the document cannot be read: it is broken, protected by a password, or takes too long";

/**
 * Reads pages of a document in a separate thread, which is ended when it exceeds its time or memory.
 *
 * @throws Failure `invalid_argument` for a document that is broken, protected, too large, or takes too long.
 */
export async function readPdf(source: Source, { from, count, signal }: Part): Promise<Reading> {
  const bytes = await readAll(source);
  const module = new URL("./pdf-worker.ts", import.meta.url);
  const part = await readInThread<PdfPart>(module, { bytes, from }, limits, unreadable, signal);
  const texts = part.texts.slice(0, count);
  const next = from + texts.length;
  const { pages } = part;
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
