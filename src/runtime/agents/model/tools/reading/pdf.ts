import { invalidArgument } from "../../../../../core/failure.ts";
import type { PdfPart } from "./pdf-worker.ts";
import type { Part, Reading, Source } from "./text.ts";
import { readInThread } from "./thread.ts";

const bytesMax = 50 * 1024 ** 2;
/** The limits of the thread of one document. */
export const pdfLimits = { ms: 30_000, memory: 512 * 1024 ** 2, heapMb: 256 };
const unreadable = "the document cannot be read: it is broken, protected by a password, or takes too long";

/**
 * Reads pages of a document in a separate thread, which is ended when it exceeds its time or memory.
 *
 * @throws Failure `invalid_argument` for a document that is broken, protected, too large, or takes too long.
 */
export async function readPdf(source: Source, { from, count, signal }: Part): Promise<Reading> {
  const bytes = await readAll(source);
  const module = new URL("./pdf-worker.ts", import.meta.url);
  const part = await readInThread<PdfPart>(module, { bytes, from }, pdfLimits, unreadable, signal);
  const texts = part.texts.slice(0, count).slice(0, endOf(part.texts));
  const next = from + texts.length;
  const { pages } = part;
  return { pages, from, texts: [...texts], next: texts.length > 0 && next < pages ? next : null };
}

/** The most pages without text in one part: a model gets them as images. */
const blankMax = 5;

/** The number of texts of a part. */
function endOf(texts: readonly string[]): number {
  let blank = 0;
  const end = texts.findIndex((text) => {
    if (text.trim() === "") blank += 1;
    return blank > blankMax;
  });
  return end < 0 ? texts.length : end;
}

/** @throws Failure `invalid_argument` beyond 50 MiB. */
export async function readAll({ filename, read }: Pick<Source, "filename" | "read">): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of read()) {
    length += chunk.length;
    if (length > bytesMax)
      throw invalidArgument(
        "",
        `${JSON.stringify(filename)} is too large: it may have at most ${bytesMax} bytes`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
