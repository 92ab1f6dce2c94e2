import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import type { Readable as Source } from "./files.ts";

/**
 * The file at a path, for `client.files.upload`. It is read while it is sent. @throws Error of Node when
 * there is no file
 */
export async function fileAt(
  path: string,
): Promise<Source & { readonly name: string; readonly size: number }> {
  const { size } = await stat(path);
  return {
    name: basename(path),
    size,
    // The two declarations of web streams differ only in their generics.
    open: () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>,
  };
}
