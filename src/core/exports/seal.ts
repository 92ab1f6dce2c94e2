import { createCipheriv, createDecipheriv } from "node:crypto";
import { Readable, Transform } from "node:stream";
import type { Cipher } from "../cipher.ts";
import type { Blobs, ByteRange } from "../files/blob.ts";
import type { Random } from "../ids.ts";

/** Bytes of the archive in one chunk; the last may have fewer. */
export const chunkBytes = 64 * 1024;
const saltBytes = 32;
const tagBytes = 16;
const sealedBytes = chunkBytes + tagBytes;
const algorithm = "aes-256-gcm";

type KeyDerivation = Pick<Cipher, "derive">;
/** Finds the key of an archive: it may be older than the newest key of the installation. */
type ArchiveKeys = Pick<Cipher, "deriveAll">;

/**
 * The format of stored archives: a salt, then chunks of AES-256-GCM under a key derived from
 * the installation's and the salt, each followed by its tag. A chunk's nonce has its index and
 * whether it is the last one; its associated data is the export's id. So chunks that were cut,
 * moved or exchanged do not open (STREAM, Hoang et al. 2015). No nonce is used twice, because
 * no key is.
 */
const kind = "export archive";

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

/** A stream that encrypts its bytes in chunks of 64 KiB. */
export function createSeal(cipher: KeyDerivation, exportId: string, random: Random): Transform {
  const salt = random(saltBytes);
  const key = cipher.derive(kind, salt);
  let [index, rest] = [0, Buffer.alloc(0)];

  function seal(chunk: Buffer, isLast: boolean): Buffer {
    const sealer = createCipheriv(algorithm, key, nonceOf(index, isLast)).setAAD(Buffer.from(exportId));
    index += 1;
    return Buffer.concat([sealer.update(chunk), sealer.final(), sealer.getAuthTag()]);
  }

  const sealed = new Transform({
    highWaterMark: chunkBytes,
    transform(chunk: Buffer, _encoding, done) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      // Hold the bytes that may be the last chunk.
      for (; bytes.length - at > chunkBytes; at += chunkBytes)
        this.push(seal(bytes.subarray(at, at + chunkBytes), false));
      rest = Buffer.from(bytes.subarray(at));
      done();
    },
    flush(done) {
      done(null, seal(rest, true));
    },
  });
  sealed.push(Buffer.from(salt));
  return sealed;
}

export interface SealedArchive {
  readonly exportId: string;
  readonly blobId: string;
  /** The size of the archive before encryption. */
  readonly bytes: number;
}

/**
 * Decrypts an archive, or a range of it, while it is read. It returns no byte of a chunk before
 * the chunk's tag is verified. At a forged chunk the stream fails and does not end normally.
 *
 * @throws Failure `not_found` when the bytes do not exist.
 */
export async function openArchive(
  cipher: ArchiveKeys,
  blobs: Pick<Blobs, "read">,
  archive: SealedArchive,
  range: ByteRange = { start: 0, end: archive.bytes - 1 },
): Promise<Readable> {
  const [first, last] = [Math.floor(range.start / chunkBytes), Math.floor(range.end / chunkBytes)];
  const salt = await read(await blobs.read(archive.blobId, { start: 0, end: saltBytes - 1 }));
  const bounds = { start: saltBytes + first * sealedBytes, end: saltBytes + (last + 1) * sealedBytes - 1 };
  const source = await blobs.read(archive.blobId, {
    start: bounds.start,
    end: Math.min(bounds.end, storedSizeOf(archive) - 1),
  });
  const opened = Readable.from(decryptChunks(cipher.deriveAll(kind, salt), source, archive, range), {
    objectMode: false,
    highWaterMark: chunkBytes,
  });
  // The stream may be closed before it is read.
  opened.once("close", () => source.destroy());
  return opened;
}

const chunksOf = ({ bytes }: SealedArchive): number => Math.max(1, Math.ceil(bytes / chunkBytes));

export const storedSizeOf = (archive: SealedArchive): number =>
  saltBytes + archive.bytes + chunksOf(archive) * tagBytes;

async function* decryptChunks(
  keys: readonly Uint8Array[],
  source: Readable,
  archive: SealedArchive,
  { start, end }: ByteRange,
): AsyncGenerator<Buffer> {
  const count = chunksOf(archive);
  let index = Math.floor(start / chunkBytes);
  let key: Uint8Array | undefined;
  const last = Math.floor(end / chunkBytes);
  for await (const sealed of rechunk(source, sealedBytes)) {
    const at = index * chunkBytes;
    const nonce = nonceOf(index, index === count - 1);
    key ??= keys.length === 1 ? keys[0] : keys.find((each) => canOpen(each, sealed, archive.exportId, nonce));
    if (key === undefined) throw new Error("an archive opens with no key of the installation");
    const plain = open(key, sealed, archive.exportId, nonce);
    yield plain.subarray(Math.max(0, start - at), end + 1 - at);
    index += 1;
  }
  if (index !== last + 1) throw new Error("an archive is truncated");
}

function canOpen(...sealed: Parameters<typeof open>): boolean {
  try {
    return open(...sealed).length >= 0;
  } catch {
    return false;
  }
}

/** @throws Error for bytes that are not the chunk that was sealed with this nonce. */
function open(key: Uint8Array, sealed: Buffer, exportId: string, nonce: Buffer): Buffer {
  const body = sealed.length - tagBytes;
  if (body < 0) throw new Error("an archive is truncated");
  const opener = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  opener.setAAD(Buffer.from(exportId)).setAuthTag(sealed.subarray(body));
  return Buffer.concat([opener.update(sealed.subarray(0, body)), opener.final()]);
}

/** The same bytes in pieces of one size; the last may be smaller. */
async function* rechunk(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let [parts, length]: [Buffer[], number] = [[], 0];
  for await (const part of source) {
    parts.push(part);
    length += part.length;
    if (length < size) continue;
    const bytes = Buffer.concat(parts);
    let at = 0;
    for (; bytes.length - at >= size; at += size) yield bytes.subarray(at, at + size);
    [parts, length] = [[bytes.subarray(at)], bytes.length - at];
  }
  if (length > 0) yield Buffer.concat(parts);
}

async function read(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}
