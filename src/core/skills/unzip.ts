import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { Failure, invalidArgument } from "../failure.ts";
import {
  createReadLimits,
  isSystemFile,
  normalizeFiles,
  quotePath,
  type ReadLimits,
  type SkillFile,
} from "./files.ts";

/** The most bytes of a received ZIP. */
export const archiveBytesMax = 50 * 1024 * 1024;
/** A file that is more than 200 times its packed size after 1 MB is a decompression bomb. */
const ratioMax = 200;
const ratioFrom = 1024 * 1024;

const [fileType, regular, folder] = [0o170000, 0o100000, 0o040000];
/** The folder bit in DOS and Windows attributes. */
const dosFolder = 0x10;
/** The bytes of a local file header before the name. */
const headerBytes = 30;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the files of a skill, or of a website with the same limits, from an untrusted ZIP. Writes nothing to
 * disk, and holds no more than a skill's limit in memory.
 *
 * @param at the field that the ZIP came in, for error texts.
 * @param what the name of the content, for error texts.
 * @throws Failure `invalid_argument` for an unreadable ZIP, links, encryption, bombs, bytes that two files
 * share, wrong checksums, paths that leave the folder, and duplicates.
 */
export async function unzip(at: string, archive: Uint8Array, what = "skill"): Promise<readonly SkillFile[]> {
  if (archive.byteLength > archiveBytesMax) throw invalidArgument(at, `a ZIP of a ${what} has at most 50 MB`);
  try {
    const zip = await fromBufferPromise(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), {
      decodeStrings: false,
    });
    return normalizeFiles(at, await readAll(at, zip, what), what);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw invalidArgument(at, "is not a readable ZIP");
  }
}

/** An entry that is a file. */
interface Packed {
  readonly path: string;
  readonly entry: Entry;
}

/** Checks all entries before it unpacks the first. */
async function readAll(at: string, zip: ZipFile, what: string): Promise<readonly SkillFile[]> {
  const limits = createReadLimits(at, what);
  const packed: Packed[] = [];
  for await (const entry of zip.eachEntry()) {
    limits.countEntry();
    const path = checkEntry(at, entry, what);
    if (path !== null) packed.push({ path, entry });
  }
  checkOverlap(at, packed);
  const files: SkillFile[] = [];
  for (const { path, entry } of packed)
    if (!isSystemFile(path)) files.push({ path, bytes: await inflate(at, zip, { path, entry }, limits) });
  return files;
}

/** The path of a file; null for a folder. @throws Failure `invalid_argument` for any other entry. */
function checkEntry(at: string, entry: Entry, what: string): string | null {
  const path = decodeName(at, entry);
  const isFolder = path.endsWith("/");
  if (!isOfType(entry, isFolder))
    throw invalidArgument(at, `${quotePath(path)} is a link, or not a regular file`);
  if (entry.isEncrypted()) throw invalidArgument(at, `${quotePath(path)} is encrypted`);
  if (!entry.canDecodeFileData())
    throw invalidArgument(at, `${quotePath(path)} has an unsupported compression method`);
  if (!isFolder) return path;
  if (entry.uncompressedSize > 0) throw invalidArgument(at, `${quotePath(path)} is a folder with content`);
  // Folders are implied by their files. Folder entries that would leave the skill are refused anyway.
  if (path.startsWith("/") || path.includes("\\") || path.split("/").includes(".."))
    throw invalidArgument(at, `${quotePath(path)} is not a valid path in a ${what}`);
  return null;
}

/** Whether the attributes of Unix and of DOS, if set, agree with the entry's name. */
function isOfType({ externalFileAttributes }: Entry, isFolder: boolean): boolean {
  const type = (externalFileAttributes >>> 16) & fileType;
  const fitsDos = isFolder || (externalFileAttributes & dosFolder) === 0;
  return fitsDos && (type === 0 || type === (isFolder ? folder : regular));
}

/** Decodes the bytes as UTF-8 and ignores the encoding flag. */
function decodeName(at: string, { fileNameRaw }: Entry): string {
  try {
    return utf8.decode(fileNameRaw);
  } catch {
    throw invalidArgument(at, "the names of its files must be UTF-8");
  }
}

/** Overlapping files make a bomb of a small archive, or show different content to different readers. */
function checkOverlap(at: string, packed: readonly Packed[]): void {
  let end = 0;
  for (const { path, entry } of packed.toSorted(
    (a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader,
  )) {
    if (entry.relativeOffsetOfLocalHeader < end)
      throw invalidArgument(at, `${quotePath(path)} shares its bytes with another file`);
    end = entry.relativeOffsetOfLocalHeader + headerBytes + entry.fileNameLength + entry.compressedSize;
  }
}

/** Does not trust the sizes in the header: counts the bytes while it reads. */
async function inflate(
  at: string,
  zip: ZipFile,
  { path, entry }: Packed,
  limits: ReadLimits,
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let [size, sum] = [0, 0];
  const stream = await zip.openReadStreamPromise(entry);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      limits.countBytes(chunk.byteLength, size);
      size += chunk.byteLength;
      sum = crc32(chunk, sum);
      if (size > ratioFrom && size > ratioMax * entry.compressedSize)
        throw invalidArgument(at, "grows too much when it is unpacked");
      chunks.push(chunk);
    }
  } finally {
    stream.destroy();
  }
  if (sum !== entry.crc32) throw invalidArgument(at, `${quotePath(path)} is damaged: its checksum differs`);
  return Buffer.concat(chunks, size);
}
