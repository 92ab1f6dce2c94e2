import { buffer } from "node:stream/consumers";
import { fromBufferPromise } from "yauzl";
import { ZipFile } from "yazl";

/** Packs files by path. */
export async function zip(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [path, content] of Object.entries(files))
    archive.addBuffer(Buffer.from(content), path, { mtime: new Date(0) });
  archive.end();
  return buffer(archive.outputStream);
}

const bytesMax = 20 * 1024 * 1024;

/** Reads the files of an archive by path, without folders. @throws Error for one that is not readable. */
export async function unzip(archive: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const read = await fromBufferPromise(archive);
  let bytes = 0;
  for await (const entry of read.eachEntry()) {
    if (entry.fileName.endsWith("/")) continue;
    bytes += entry.uncompressedSize;
    if (bytes > bytesMax) throw new Error("the archive is too large");
    files.set(entry.fileName, await buffer(await read.openReadStreamPromise(entry)));
  }
  return files;
}
