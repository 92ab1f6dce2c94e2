import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Disk } from "flydrive";
import { FSDriver } from "flydrive/drivers/fs";
import { absent } from "../core/failure.ts";
import type { Blobs } from "../core/files/blobs.ts";

/** Bytes in a folder: each id in one of 65,536 subfolders, begun under another name. */
export function localBlobs(folder: string): Blobs {
  const disk = new Disk(new FSDriver({ location: folder, visibility: "private" }));

  return {
    async put(id, bytes, signal) {
      const [begun, whole] = [join(folder, begunKey(id)), join(folder, keyOf(id))];
      await mkdir(dirname(whole), { recursive: true, mode: 0o700 });
      try {
        // `flush`: what is closed is on the disk.
        await pipeline(bytes, createWriteStream(begun, { flush: true, mode: 0o600, highWaterMark: 1024 * 1024 }), { signal });
        await rename(begun, whole);
        await syncFolder(dirname(whole));
      } catch (thrown) {
        await disk.delete(begunKey(id));
        throw thrown;
      }
    },
    async read(id, range) {
      if (!(await disk.exists(keyOf(id)))) throw absent("file");
      return createReadStream(join(folder, keyOf(id)), { ...range, highWaterMark: 256 * 1024 });
    },
    async remove(id) {
      await disk.delete(begunKey(id));
      await disk.delete(keyOf(id));
    },
    address: async () => null,
  };
}

const keyOf = (id: string): string => `${id.slice(0, 2)}/${id.slice(2, 4)}/${id}`;
const begunKey = (id: string): string => `${keyOf(id)}.part`;

/** A name is on the disk once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
