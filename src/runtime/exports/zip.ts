import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";
import { Failure } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { isDevice } from "../../core/skills/files.ts";

/** The bytes for an entry; null when they were deleted in the meantime. */
export async function bytesOf(blobs: Pick<Blobs, "read">, blobId: string): Promise<Readable | null> {
  try {
    return await blobs.read(blobId);
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "not_found") return null;
    throw thrown;
  }
}

/**
 * The maximum length of a file's name in bytes of UTF-8: every file system accepts it with the file's id
 * before it.
 */
const nameBytes = 180;

/**
 * Characters that some system interprets as a separator, drive, wildcard or device, and invisible characters.
 */
const unsafe = /[/\\:*?"<>|\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * The path of an attached file in an archive. No name leads out of its folder, and names
 * are unique because the ids are.
 */
export const entryName = (taskId: string, file: { fileId: string; filename: string }): string =>
  `attachments/${toSafeId(taskId)}/${toSafeId(file.fileId)}_${toSafeName(file.filename)}`;

/** The path of a skill's ZIP in an archive (spec/enterprise.md 6.6). */
export function skillEntryName({ id, name }: { id: string; name: string }): string {
  return `skills/${toSafeId(id)}/${toSafePart(name)}.zip`;
}

/** A safe form of a file's or folder's own name, which is not the name of a device. */
export function toSafePart(name: string): string {
  const safeName = toSafeName(name);
  return `${isDevice(safeName) ? "_" : ""}${safeName}`;
}

/** A safe form of an id. Valid ids, which have only letters, digits and hyphens, stay unchanged. */
export const toSafeId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_");

function toSafeName(filename: string): string {
  // Some systems drop trailing dots and spaces, which could make two names equal.
  const name = shorten(filename.toWellFormed().replace(unsafe, "_").normalize("NFC")).replace(/[. ]+$/, "");
  return name === "" ? "file" : name;
}

/** Shortens a long name, and keeps its extension. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= nameBytes) return name;
  const dot = name.lastIndexOf(".");
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : "";
  const start = Buffer.from(name).subarray(0, nameBytes - Buffer.byteLength(end));
  // A streaming decoder omits an incomplete character at the end.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true }) + end;
}

/** One file of an archive. */
export interface Entry {
  readonly name: string;
  /** Read once, when the entry is packed. */
  readonly bytes: AsyncIterable<Buffer>;
  /** The exact size; null if unknown. */
  readonly size: number | null;
  /** False for files that are usually compressed already. */
  readonly compress: boolean;
}

/** The mode of every entry: readable and writable only for the user who unpacks it. */
const mode = 0o100600;

/**
 * A ZIP of entries, made while it is read, one entry at a time. If an entry fails, the
 * stream fails too, so that an incomplete ZIP never looks complete.
 *
 * @param mtime of all entries.
 */
export function createZip(entries: AsyncIterable<Entry>, mtime: Date): Readable {
  const zip = new ZipFile();
  // It is a PassThrough, despite its declared type.
  const output = zip.outputStream as Readable;
  const over = new AbortController();
  output.once("close", () => over.abort());
  const fail = (thrown: unknown) =>
    output.destroy(thrown instanceof Error ? thrown : new Error("packing failed", { cause: thrown }));
  zip.on("error", fail);

  async function add({ name, bytes, size, compress }: Entry): Promise<void> {
    const source = bytes instanceof Readable ? bytes : Readable.from(bytes, { objectMode: false });
    try {
      const ended = finished(source, { signal: over.signal, writable: false });
      zip.addReadStream(source, name, { mtime, mode, compress, ...(size === null ? {} : { size }) });
      await ended;
    } finally {
      source.destroy();
    }
  }

  async function pack(): Promise<void> {
    for await (const entry of entries) await add(entry);
    zip.end();
  }

  pack().catch(fail);
  return output;
}

/** Called after each completed step. It throws when the archive is no longer needed. */
export type OnStep = () => Promise<void>;

export interface Packing {
  /** The number of steps. Each calls `onStep`. */
  steps(): Promise<number>;
  /** The files of the archive, made while they are read. */
  entries(onStep: OnStep): AsyncGenerator<Entry>;
  /** The number of events, after the entries were read; null if they are not counted. */
  eventCount(): number | null;
}
