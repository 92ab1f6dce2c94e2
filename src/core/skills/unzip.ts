import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { Failure, invalid } from "../failure.ts";
import { type Allowance, allowance, isLitter, rooted, type SkillFile } from "./files.ts";
import { shown } from "./path.ts";

/** The most bytes of a ZIP that is brought. */
export const archiveBytesMax = 50 * 1024 * 1024;
/** Beyond this a file that grows so much while it is inflated is a bomb, not a text. */
const ratioMax = 200;
const ratioFrom = 1024 * 1024;

const [fileType, regular, folder] = [0o170000, 0o100000, 0o040000];
/** In the attributes that DOS and Windows give. */
const dosFolder = 0x10;
/** What stands before a file's name in its place in the archive. */
const headerBytes = 30;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the files of a skill, or of what has the same bounds, from a ZIP that a stranger has made: nothing of it is
 * written anywhere, and no more than a skill may hold is ever in memory.
 *
 * @param at the field it came in, for refusals.
 * @param what it is that they make, for refusals.
 * @throws Failure `invalid` for what is no ZIP, links, encryption, bombs, bytes that two files share, checksums that do
 * not hold, paths that leave the folder, and doubles.
 */
export async function unzip(at: string, archive: Uint8Array, what = "skill"): Promise<readonly SkillFile[]> {
  if (archive.byteLength > archiveBytesMax) throw invalid(at, `a ZIP of a ${what} has at most 50 MB`);
  try {
    const zip = await fromBufferPromise(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), { decodeStrings: false });
    return rooted(at, await readAll(at, zip, what), what);
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw invalid(at, "is no ZIP that can be read");
  }
}

/** An entry that is a file. */
interface Packed {
  readonly path: string;
  readonly entry: Entry;
}

/** All entries are judged before the first one is unpacked. */
async function readAll(at: string, zip: ZipFile, what: string): Promise<readonly SkillFile[]> {
  const room = allowance(at, what);
  const packed: Packed[] = [];
  for await (const entry of zip.eachEntry()) {
    room.entry();
    const path = checkEntry(at, entry, what);
    if (path !== null) packed.push({ path, entry });
  }
  checkApart(at, packed);
  const files: SkillFile[] = [];
  for (const { path, entry } of packed) if (!isLitter(path)) files.push({ path, bytes: await inflate(at, zip, { path, entry }, room) });
  return files;
}

/** The path of a file; null for a folder. @throws Failure `invalid` for anything else. */
function checkEntry(at: string, entry: Entry, what: string): string | null {
  const path = nameOf(at, entry);
  const isFolder = path.endsWith("/");
  if (!isOfType(entry, isFolder)) throw invalid(at, `${shown(path)} is a link, or no file at all`);
  if (entry.isEncrypted()) throw invalid(at, `${shown(path)} is encrypted`);
  if (!entry.canDecodeFileData()) throw invalid(at, `${shown(path)} is packed in a way that is not known here`);
  if (!isFolder) return path;
  if (entry.uncompressedSize > 0) throw invalid(at, `${shown(path)} is a folder with bytes`);
  // Folders come about by their files; those that would leave the skill are refused all the same.
  if (path.startsWith("/") || path.includes("\\") || path.split("/").includes(".."))
    throw invalid(at, `${shown(path)} is no path that a ${what} may have`);
  return null;
}

/** Whether an entry is what its name says, by the attributes of Unix and of DOS, as far as it has them. */
function isOfType({ externalFileAttributes }: Entry, isFolder: boolean): boolean {
  const type = (externalFileAttributes >>> 16) & fileType;
  const isOfDos = isFolder || (externalFileAttributes & dosFolder) === 0;
  return isOfDos && (type === 0 || type === (isFolder ? folder : regular));
}

/** By the bytes alone, whatever the flags say of their encoding. */
function nameOf(at: string, { fileNameRaw }: Entry): string {
  try {
    return utf8.decode(fileNameRaw);
  } catch {
    throw invalid(at, "the names of its files must be UTF-8");
  }
}

/** Files that share bytes make a bomb of a small archive, or two things of one. */
function checkApart(at: string, packed: readonly Packed[]): void {
  let end = 0;
  for (const { path, entry } of packed.toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader)) {
    if (entry.relativeOffsetOfLocalHeader < end) throw invalid(at, `${shown(path)} shares its bytes with another file`);
    end = entry.relativeOffsetOfLocalHeader + headerBytes + entry.fileNameLength + entry.compressedSize;
  }
}

/** What the header says of the size is believed of nobody: the bytes are counted as they come. */
async function inflate(at: string, zip: ZipFile, { path, entry }: Packed, room: Allowance): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let [size, sum] = [0, 0];
  const stream = await zip.openReadStreamPromise(entry);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      room.take(chunk.byteLength, size);
      size += chunk.byteLength;
      sum = crc32(chunk, sum);
      if (size > ratioFrom && size > ratioMax * entry.compressedSize) throw invalid(at, "grows too much when it is unpacked");
      chunks.push(chunk);
    }
  } finally {
    stream.destroy();
  }
  if (sum !== entry.crc32) throw invalid(at, `${shown(path)} is damaged: its checksum is another`);
  return Buffer.concat(chunks, size);
}
