import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Disk } from "flydrive";
import { FSDriver } from "flydrive/drivers/fs";
import { absent, Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { checkedId } from "./blob-id.ts";
import { syncFolder } from "./durable-file.ts";

/** What waits for the disk. Small: buffers that wait long outlive V8's young generation, which doubled the time when measured. */
const writeBytes = 64 * 1024;
/** Larger pieces are fresh memory each time, which took three times as long when measured. */
const readBytes = 64 * 1024;

/**
 * Bytes in a folder, each id in one of 65,536 subfolders. They are begun under
 * another name and get their own when they are on the disk, so that whatever has
 * its name is whole.
 *
 * @throws Failure `unavailable` from `put` when the disk is full.
 */
export function localBlobs(folder: string): Blobs {
  const disk = new Disk(new FSDriver({ location: folder, visibility: "private" }));
  const subfolders = durableFolders(folder);
  return {
    async put(id, bytes, signal) {
      const [begun, whole] = [join(folder, begunKey(id)), join(folder, keyOf(id))];
      try {
        await subfolders(dirname(keyOf(id)));
        await write(begun, bytes, signal);
        await rename(begun, whole);
        await syncFolder(dirname(whole));
      } catch (thrown) {
        bytes.destroy();
        await disk.delete(begunKey(id));
        throw isFull(thrown) ? new Failure("unavailable", "there is no room to store this now", { cause: thrown }) : thrown;
      }
    },
    async read(id, range) {
      // Open, it can be read to its end whoever removes it meanwhile.
      const file = await open(join(folder, keyOf(id)), "r").catch((thrown: unknown) => {
        throw codeOf(thrown) === "ENOENT" ? absent("file") : thrown;
      });
      return file.createReadStream({ ...range, highWaterMark: readBytes });
    },
    async remove(id) {
      await disk.delete(begunKey(id));
      await disk.delete(keyOf(id));
    },
    address: async () => null,
  };
}

/** The digest spreads ids evenly, however they begin. */
function keyOf(id: string): string {
  const digest = createHash("sha256").update(checkedId(id)).digest("hex");
  return `${digest.slice(0, 2)}/${digest.slice(2, 4)}/${id}`;
}

const begunKey = (id: string): string => `${keyOf(id)}.part`;

/** Writes a file, and answers when it is on the disk and closed, or closed without that. */
async function write(path: string, bytes: Readable, signal: AbortSignal): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600, flush: true, highWaterMark: writeBytes });
  const closed = new Promise<void>((resolve) => file.once("close", resolve));
  // It syncs when it closes, and that may fail after the last byte was taken.
  file.on("error", () => undefined);
  try {
    await pipeline(bytes, file, { signal });
  } finally {
    await closed;
  }
  if (file.errored) throw file.errored;
}

/** Makes subfolders, each once, and answers when they are on the disk. */
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

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && "code" in thrown ? thrown.code : undefined);

/** Full, or full for this user. */
const isFull = (thrown: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(String(codeOf(thrown)));
