import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { SkillFile } from "./files.ts";
import { type Manifest, manifestOf } from "./manifest.ts";

/** A skill as it is kept: a ZIP of our own making. */
export interface PackedSkill extends Manifest {
  readonly zip: Uint8Array;
}

/** The same files give the same ZIP, whoever brought them and whenever. */
const options = { mtime: new Date(Date.UTC(1980, 0, 1)), mode: 0o100644, forceDosTimestamp: true } as const;

/** @throws Failure `invalid` for files that are no skill. */
export async function pack(at: string, files: readonly SkillFile[]): Promise<PackedSkill> {
  const manifest = manifestOf(at, files);
  const zip = new ZipFile();
  for (const { path, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    zip.addBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), path, options);
  }
  zip.end();
  // It is a PassThrough, whatever its type says.
  return { ...manifest, zip: await buffer(zip.outputStream as Readable) };
}
