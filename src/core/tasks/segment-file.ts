import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { limitConcurrency } from "../../async/limit.ts";
import { type Cipher, cipherFrom } from "../cipher.ts";
import { Failure } from "../failure.ts";
import type { Blobs } from "../files/blob.ts";
import type { Random } from "../ids.ts";
import type { Log } from "../log.ts";
import type { TaskEvent } from "./event.ts";
import { type EventSegment, type ReadSegment, segmentContext } from "./segment.ts";

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];

/** The associated data of a file's bytes. Its key is used for nothing else. */
const fileContext = "event segment file";
/** Segments in memory at once. */
const readsMax = 4;

/** A segment without its place in the storage, and the bytes of its file. */
export interface PackedSegment {
  readonly segment: Omit<EventSegment, "blobId" | "sha256" | "createdAt">;
  readonly file: Uint8Array<ArrayBuffer>;
}

/**
 * Writes events as lines of JSON, compresses them with zstd, and encrypts them with AES-256-GCM under a new
 * key. The installation's key encrypts only that key, so a rotation changes no file.
 *
 * @param range the numbers that the segment covers: its events may be fewer.
 */
export async function packSegment(
  { cipher, random }: { cipher: Pick<Cipher, "seal">; random: Random },
  { taskId, spaceId, firstSeq, lastSeq }: Pick<EventSegment, "taskId" | "spaceId" | "firstSeq" | "lastSeq">,
  events: readonly TaskEvent[],
): Promise<PackedSegment> {
  const text = Buffer.from(
    events
      .map(({ seq, type, timestamp, payload }) => JSON.stringify([seq, type, timestamp, payload]))
      .join("\n"),
  );
  const key = random(32);
  const file = cipherFrom(key, random).seal(await compress(text), fileContext);
  const dataKey = cipher.seal(key, segmentContext({ taskId, firstSeq }));
  return {
    segment: { taskId, spaceId, firstSeq, lastSeq, events: events.length, bytes: text.length, dataKey },
    file,
  };
}

/** Creates the reader of segments. It verifies the sum of each file, and holds at most 4 segments at once. */
export function segmentReader({ blobs, cipher, log }: SegmentReaderParts): ReadSegment {
  const limited = limitConcurrency(readsMax);
  return (segment) =>
    limited(async () => {
      try {
        return await unpack(cipher, segment, await readFile(blobs, segment));
      } catch (cause) {
        if (cause instanceof Failure && cause.reason === "unavailable") throw cause;
        const { taskId, firstSeq, lastSeq, blobId } = segment;
        log("error", "archived events cannot be read: their file is missing or damaged", {
          taskId,
          firstSeq,
          lastSeq,
          blobId,
          cause,
        });
        throw new Failure(
          "internal",
          "archived events of the task cannot be read: their file is missing or damaged",
          { cause },
        );
      }
    });
}

interface SegmentReaderParts {
  readonly blobs: Pick<Blobs, "read">;
  readonly cipher: Pick<Cipher, "open">;
  readonly log: Log;
}

/** @throws Error when the bytes are not those that were written; Failure as `Blobs.read` */
async function readFile(
  blobs: Pick<Blobs, "read">,
  { blobId, sha256 }: EventSegment,
): Promise<Buffer<ArrayBuffer>> {
  const stream: Readable = await blobs.read(blobId);
  const file = Buffer.concat(await stream.toArray());
  if (createHash("sha256").update(file).digest("hex") !== sha256)
    throw new Error("a segment has another SHA-256 than the database says");
  return file;
}

async function unpack(
  cipher: Pick<Cipher, "open">,
  segment: EventSegment,
  file: Uint8Array,
): Promise<readonly TaskEvent[]> {
  const key = cipher.open(segment.dataKey, segmentContext(segment));
  // Only the key of this file opens it, so the random source is not used.
  const packed = cipherFrom(key, (bytes) => new Uint8Array(bytes)).open(file, fileContext);
  const text = (await decompress(packed, { maxOutputLength: Math.max(1, segment.bytes) })).toString();
  if (text === "") return [];
  const { taskId } = segment;
  return text.split("\n").map((line) => {
    const [seq, type, timestamp, payload] = JSON.parse(line); // as packSegment wrote it
    return { taskId, seq, type, timestamp, payload };
  });
}
