import type { Readable } from "node:stream";
import { Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blobs.ts";

/** Bytes for an entry; null when they were removed a moment ago. */
export async function bytesOf(blobs: Pick<Blobs, "read">, blobId: string): Promise<Readable | null> {
  try {
    return await blobs.read(blobId);
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "absent") return null;
    throw thrown;
  }
}
