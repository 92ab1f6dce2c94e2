import type { Readable } from "node:stream";

/** What of an answer is read, so that the receiver can say what it has to say; and what of that is kept. */
const readMax = 64 * 1024;
const keptMax = 1024;

/**
 * The beginning of a body as text; what comes after 64 kB is not read. That it breaks off or comes too late is no matter:
 * the status has been said.
 */
export async function beginningOf(body: Readable): Promise<string> {
  const kept: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      // undici gives bytes
      if (length < keptMax) kept.push(chunk.subarray(0, keptMax - length));
      length += chunk.length;
      if (length >= readMax) break;
    }
  } catch {
    // What has come until then is what there is.
  }
  return textOf(Buffer.concat(kept));
}

/** Half a character at the end is left out, and U+0000, which no PostgreSQL keeps, is shown as unreadable. */
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\ufffd");
