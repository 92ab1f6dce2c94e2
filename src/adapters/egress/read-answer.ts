import type { Readable } from "node:stream";

/** Reads the body of an answer. @returns null if it has more than `max` bytes. Leaving early destroys it. */
export async function readAnswer(body: Readable, max: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > max) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
