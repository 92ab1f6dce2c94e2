import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Failure, notFound } from "../../core/failure.ts";
import { type Blobs, checkBlobId } from "../../core/files/blob.ts";
import { syncFolder } from "./durable-file.ts";

/**
 * The write buffer. It is small because buffers that wait long leave V8's young generation, which doubled the
 * time when measured.
 */
const writeBytes = 64 * 1024;
/**
 * The read buffer. Larger buffers are newly allocated each time, which took three times as long when
 * measured.
 */
const readBytes = 64 * 1024;

/**
 * Bytes in a folder, each id in one of 65,536 subfolders. A blob is written under a
 * temporary name and renamed when it is on the disk, so that a file with its final name
 * is complete.
 *
 * @throws Failure `unavailable` from `put` when the disk is full.
 */
export function createLocalBlobs(folder: string): Blobs {
  const remove = (key: string) => rm(join(folder, key), { force: true });
  const subfolders = durableFolders(folder);
  return {
    async put(id, bytes, signal) {
      const [partPath, finalPath] = [join(folder, partKey(id)), join(folder, keyOf(id))];
      try {
        await subfolders(dirname(keyOf(id)));
        await write(partPath, bytes, signal);
        await rename(partPath, finalPath);
        await syncFolder(dirname(finalPath));
      } catch (thrown) {
        bytes.destroy();
        await remove(partKey(id));
        throw isFull(thrown)
          ? new Failure("unavailable", "the storage is full, try again later", { cause: thrown })
          : thrown;
      }
    },
    async read(id, range) {
      // An open file stays readable after it is removed.
      const file = await open(join(folder, keyOf(id)), "r").catch((thrown: unknown) => {
        throw codeOf(thrown) === "ENOENT" ? notFound("file") : thrown;
      });
      return file.createReadStream({ ...range, highWaterMark: readBytes });
    },
    async remove(id) {
      await remove(partKey(id));
      await remove(keyOf(id));
    },
    address: async () => null,
  };
}

/** The digest distributes ids evenly, independent of their first characters. */
function keyOf(id: string): string {
  const digest = createHash("sha256").update(checkBlobId(id)).digest("hex");
  return `${digest.slice(0, 2)}/${digest.slice(2, 4)}/${id}`;
}

const partKey = (id: string): string => `${keyOf(id)}.part`;

/** Writes a file. Resolves when it is synced and closed; rejects after it is closed on an error. */
async function write(path: string, bytes: Readable, signal: AbortSignal): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600, flush: true, highWaterMark: writeBytes });
  const closed = new Promise<void>((resolve) => file.once("close", resolve));
  // The stream syncs when it closes, and this may fail after the last byte was accepted.
  file.on("error", () => undefined);
  try {
    await pipeline(bytes, file, { signal });
  } finally {
    await closed;
  }
  if (file.errored) throw file.errored;
}

/** Creates each subfolder once, and resolves when it is on the disk. */
function durableFolders(folder: string): (name: string) => Promise<void> {
  const made = new Map<string, Promise<void>>();
  async function make(name: string): Promise<void> {
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
    await syncFolder(join(folder, dirname(name)));
    await syncFolder(folder);
  }
  return (name) => {
    const making = made.get(name) ?? make(name);
    made.set(name, making);
    making.catch(() => made.delete(name));
    return making;
  };
}

const codeOf = (thrown: unknown): unknown =>
  thrown instanceof Error && "code" in thrown ? thrown.code : undefined;

/** True if the disk or the user's quota is full. */
const isFull = (thrown: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(String(codeOf(thrown)));
