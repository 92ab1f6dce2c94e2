import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { invalidArgument, notFound } from "../failure.ts";
import type { Blobs } from "../files/blob.ts";
import { fileAt } from "../files/file.ts";
import type { Tx } from "../store.ts";
import type { SkillFile } from "./files.ts";
import { archiveBytesMax } from "./unzip.ts";

/** The source of a new skill's ZIP; the kinds are the fields' names. */
export type SkillSource =
  | { readonly kind: "archive"; readonly bytes: Uint8Array }
  | { readonly kind: "file_id"; readonly fileId: string };

/**
 * Reads the bytes of a file that the caller has uploaded. @throws Failure `not_found`, or `invalid_argument`
 * when it is too large.
 */
export async function readUploaded(
  { store, blobs, clock }: { store: Tx; blobs: Pick<Blobs, "read">; clock: Pick<Clock, "now"> },
  caller: Caller,
  fileId: string,
): Promise<Uint8Array> {
  const found = await store.files.find(caller, fileId);
  const file = found && fileAt(found, clock.now());
  if (file?.status !== "uploaded" || file.blobId === null) throw notFound("file", "file_id");
  if ((file.bytes ?? 0) > archiveBytesMax)
    throw invalidArgument("file_id", "a ZIP of a skill has at most 50 MB");
  return Buffer.concat(await Array.fromAsync(await blobs.read(file.blobId)));
}

/** The file that makes a folder a skill. */
export const manifestPath = "SKILL.md";

/** The front matter of SKILL.md. */
interface Manifest {
  readonly name: string;
  readonly description: string;
}

const frontMatterMax = 16_384;
const nameMax = 64;
const descriptionMax = 1_024;

const frontMatter = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
/** At least one visible character, and none that makes a text look like another. */
const nameForm = /^(?=\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*(?<=\S)$/u;
const hidden = /[\p{Cs}\p{Bidi_Control}]|(?![\n\r\t])\p{Cc}/u;

/**
 * Reads the front matter of a skill's SKILL.md.
 *
 * @param at the field that the skill came in, for error texts.
 * @throws Failure `invalid_argument` when there is none, or it has no valid name.
 */
async function readManifest(at: string, files: readonly SkillFile[]): Promise<Manifest> {
  const file = files.find(({ path }) => path === manifestPath);
  if (!file) throw invalidArgument(at, `has no ${manifestPath}`);
  const [, yaml] = frontMatter.exec(decodeText(at, file).slice(0, frontMatterMax)) ?? [];
  if (yaml === undefined)
    throw invalidArgument(
      at,
      `${manifestPath} must begin with front matter between two lines of ---, of at most 16 KB`,
    );
  const { name, description = "" } = await parseMembers(at, yaml);
  if (typeof name !== "string" || !nameForm.test(name) || [...name].length > nameMax)
    throw invalidArgument(
      at,
      `name in ${manifestPath} must have 1 to ${nameMax} characters, no space at its start or end, no control or bidirectional characters`,
    );
  const trimmed = typeof description === "string" ? description.trim() : undefined;
  if (trimmed === undefined || [...trimmed].length > descriptionMax || hidden.test(trimmed))
    throw invalidArgument(
      at,
      `description in ${manifestPath} must be a text of at most ${descriptionMax} characters, without control or bidirectional ones`,
    );
  return { name, description: trimmed };
}

function decodeText(at: string, { bytes }: SkillFile): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidArgument(at, `${manifestPath} must be UTF-8`);
  }
}

/** Plain YAML: no custom tags, no aliases, no duplicate members. */
async function parseMembers(at: string, yaml: string): Promise<Readonly<Record<string, unknown>>> {
  const invalid = () =>
    invalidArgument(
      at,
      `the front matter of ${manifestPath} must be YAML, without aliases, with name and description`,
    );
  const { parse } = await import("yaml");
  let read: unknown;
  try {
    read = parse(yaml, {
      schema: "core",
      maxAliasCount: 0,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: "error",
    });
  } catch {
    throw invalid();
  }
  if (typeof read !== "object" || read === null || Array.isArray(read)) throw invalid();
  return { ...read };
}

/** A skill as it is stored: a ZIP that this installation packed. */
export interface PackedSkill extends Manifest {
  readonly zip: Uint8Array;
}

/** Equal files make an equal ZIP, independent of uploader and time. */
const options = { mtime: new Date(Date.UTC(1980, 0, 1)), mode: 0o100644, forceDosTimestamp: true } as const;

/** @throws Failure `invalid_argument` for files that are not a skill. */
export async function pack(at: string, files: readonly SkillFile[]): Promise<PackedSkill> {
  const manifest = await readManifest(at, files);
  const zip = new ZipFile();
  for (const { path, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    zip.addBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), path, options);
  }
  zip.end();
  // The stream is a PassThrough; its declared type is too narrow.
  return { ...manifest, zip: await buffer(zip.outputStream as Readable) };
}
