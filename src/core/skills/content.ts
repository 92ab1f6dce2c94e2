import { PassThrough, pipeline, Readable } from "node:stream";
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl";
import { notFound } from "../failure.ts";
import type { Blobs } from "../files/blob.ts";
import type { StoredFile } from "../files/file.ts";
import { fileBytesMax } from "./files.ts";
import type { Skill } from "./skill.ts";

/** The prefix of a skill's id in a download link. No file id begins with it. */
const idPrefix = "skill-";

export const toDownloadId = (skillId: string): string => `${idPrefix}${skillId}`;

/** The skill id in a download link; undefined when the link is for a file. */
export const parseDownloadId = (linked: string): string | undefined =>
  linked.startsWith(idPrefix) ? linked.slice(idPrefix.length) : undefined;

/** A skill's ZIP as a file that does not expire, for downloads. */
export const toSkillFile = ({
  id,
  spaceId,
  accountId,
  clientId,
  blobId,
  bytes,
  sha256,
  updatedAt,
}: Skill): StoredFile => ({
  id: toDownloadId(id),
  accountId: accountId ?? "",
  spaceId: spaceId ?? "",
  clientId,
  apiKeyId: null,
  taskId: null,
  filename: `skill-${id}.zip`,
  contentType: "application/zip",
  status: "uploaded",
  blobId,
  bytes,
  sha256,
  error: null,
  createdAt: updatedAt,
  uploadUntil: updatedAt,
  expiresAt: null,
  deletedAt: null,
});

/** The files of a skill. They are read from the storage on each call, one by one. */
export interface SkillContent {
  /** The files with their sizes, by path. */
  list(): Promise<readonly { path: string; bytes: number }[]>;
  /**
   * The first bytes of a file, by default at most 20 MB: all of it.
   *
   * @throws Failure `not_found` when there is no such file, or the skill is deleted.
   */
  read(path: string, bytesMax?: number): Promise<Uint8Array>;
}

export type OpenSkill = (skill: Pick<Skill, "id">) => SkillContent;

type StoredContent = Pick<Skill, "blobId" | "bytes">;

/**
 * Opens skills by id: each call reads the content that the skill has then, so a run in progress sees a
 * replacement (spec/decisions.md 84).
 */
export function createOpenCurrentSkill(
  blobs: Pick<Blobs, "read">,
  find: (id: string) => Promise<StoredContent | null>,
): OpenSkill {
  const open = createOpenSkill(blobs);
  return ({ id }) => {
    async function readCurrent<T>(read: (content: SkillContent) => Promise<T>): Promise<T> {
      const skill = await find(id);
      if (!skill) throw notFound("skill");
      return read(open(skill)).catch(async (thrown: unknown) => {
        // A replacement during the read deletes the bytes: read the new ones.
        const now = await find(id);
        if (!now || now.blobId === skill.blobId) throw thrown;
        return read(open(now));
      });
    }
    return {
      list: () => readCurrent((content) => content.list()),
      read: (path, bytesMax) => readCurrent((content) => content.read(path, bytesMax)),
    };
  };
}

export const createOpenSkill =
  (blobs: Pick<Blobs, "read">) =>
  (skill: StoredContent): SkillContent => {
    const open = () =>
      fromRandomAccessReaderPromise(new BlobReader(blobs, skill.blobId), skill.bytes, { autoClose: false });
    return {
      async list() {
        const entries = await Array.fromAsync((await open()).eachEntry());
        return entries.map(({ fileName, uncompressedSize }) => ({ path: fileName, bytes: uncompressedSize }));
      },
      async read(path, bytesMax = fileBytesMax) {
        const zip = await open();
        const entry = await findEntry(zip, path);
        if (!entry) throw notFound("file of the skill");
        return readStart(await zip.openReadStreamPromise(entry), bytesMax);
      },
    };
  };

/** Unpacks no more than the chunk in which the limit is reached. */
async function readStart(stream: Readable, bytesMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

/** Compares names in Unicode NFC: the system that packed a file may write accents differently. */
async function findEntry(zip: ZipFile, path: string): Promise<Entry | undefined> {
  const normalized = path.normalize("NFC");
  for await (const entry of zip.eachEntry()) if (entry.fileName.normalize("NFC") === normalized) return entry;
  return undefined;
}

/** Reads ranges of the ZIP directly from the storage; yauzl requires a class. */
class BlobReader extends RandomAccessReader {
  readonly #blobs: Pick<Blobs, "read">;
  readonly #id: string;

  constructor(blobs: Pick<Blobs, "read">, id: string) {
    super();
    this.#blobs = blobs;
    this.#id = id;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (start === end) return Readable.from([]);
    const through = new PassThrough();
    this.#blobs.read(this.#id, { start, end: end - 1 }).then(
      (bytes) => pipeline(bytes, through, () => undefined),
      (thrown: Error) => through.destroy(thrown),
    );
    return through;
  }
}
