import { PassThrough, pipeline, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl";
import { absent } from "../failure.ts";
import type { Blobs } from "../files/blobs.ts";
import type { Skill } from "./skill.ts";

/** What is in a skill; read from the storage when it is asked for, file by file. */
export interface SkillContent {
  /** Its files with their sizes, by path. */
  list(): Promise<readonly { readonly path: string; readonly bytes: number }[]>;
  /** At most 20 MB. @throws Failure `absent` when there is no such file, or the skill is gone. */
  read(path: string): Promise<Uint8Array>;
}

/** Opens a skill that is kept. */
export type OpenSkill = (skill: Pick<Skill, "blobId" | "bytes">) => SkillContent;

export const skillOpener =
  (blobs: Pick<Blobs, "read">): OpenSkill =>
  (skill) => {
    const open = () => fromRandomAccessReaderPromise(new BlobReader(blobs, skill.blobId), skill.bytes, { autoClose: false });
    return {
      async list() {
        const entries = await Array.fromAsync((await open()).eachEntry());
        return entries.map(({ fileName: path, uncompressedSize: bytes }) => ({ path, bytes }));
      },
      async read(path) {
        const zip = await open();
        const entry = await entryAt(zip, path);
        if (!entry) throw absent("file of the skill");
        return buffer(await zip.openReadStreamPromise(entry));
      },
    };
  };

/** However accents are written: a text on one system may name a file as another system has packed it. */
async function entryAt(zip: ZipFile, path: string): Promise<Entry | undefined> {
  const wanted = path.normalize("NFC");
  for await (const entry of zip.eachEntry()) if (entry.fileName.normalize("NFC") === wanted) return entry;
  return undefined;
}

/** The ZIP stays where it is; yauzl wants a class. */
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
