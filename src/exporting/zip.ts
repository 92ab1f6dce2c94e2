import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

/** One file of an archive. */
export interface Entry {
  readonly name: string;
  /** Asked for once, when it is its turn. */
  readonly bytes: AsyncIterable<Buffer>;
  /** As far as it is known: then it must be true. */
  readonly size: number | null;
  /** False for what is mostly small already. */
  readonly compress: boolean;
}

/** Every entry is of this mode: to be read, by whoever unpacked it. */
const mode = 0o100600;

/**
 * A ZIP of entries, made while it is read, one entry at a time. Where one fails, so does
 * the ZIP: it breaks off, and never ends as if it were whole.
 *
 * @param mtime of all entries.
 */
export function zipOf(entries: AsyncIterable<Entry>, mtime: Date): Readable {
  const zip = new ZipFile();
  // It is a PassThrough, whatever its type says.
  const output = zip.outputStream as Readable;
  const over = new AbortController();
  output.once("close", () => over.abort());
  const fail = (thrown: unknown) => output.destroy(thrown instanceof Error ? thrown : new Error("packing failed", { cause: thrown }));
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
