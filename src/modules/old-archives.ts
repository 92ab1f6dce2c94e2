import type { Readable } from "node:stream";
import type { KeyRing } from "../core/cipher.ts";
import { openArchive } from "../core/exports/seal.ts";
import type { Blobs } from "../core/files/blob.ts";
import type { Store } from "../core/store.ts";

/**
 * Counts the archives of exports that only the previous key opens. An archive is deleted 30 days after it was
 * made.
 */
export async function countOldArchives(
  { exports }: Pick<Store, "exports">,
  blobs: Pick<Blobs, "read">,
  ring: KeyRing,
): Promise<number> {
  let old = 0;
  for (const archive of await exports.listArchives())
    if (!(await opensWithNewest(archive, blobs, ring))) old += 1;
  return old;
}

async function opensWithNewest(
  archive: Parameters<typeof openArchive>[2],
  blobs: Pick<Blobs, "read">,
  ring: KeyRing,
): Promise<boolean> {
  // The newest key seals during a rotation, so it is the first.
  const newest = { deriveAll: (kind: string, salt: Uint8Array) => ring.deriveAll(kind, salt).slice(0, 1) };
  try {
    const bytes: Readable = await openArchive(newest, blobs, archive, { start: 0, end: 0 });
    for await (const _ of bytes) return true;
    return true;
  } catch {
    return false;
  }
}
