import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { Transform } from "node:stream";
import { z } from "zod";
import { syncFolder } from "../adapters/storage/durable-file.ts";
import { causeText, Failure } from "../core/failure.ts";
import { parseJson } from "../core/json.ts";

/** What a backup is of. It is written last: a folder without it is not a complete backup. */
export const manifestSchema = z.strictObject({
  version: z.literal(1),
  created_at: z.iso.datetime(),
  database: z.enum(["sqlite", "postgresql"]),
  /** The latest migration of the database. */
  migration: z.string().max(200),
  /** Identifies ENCRYPTION_KEY without revealing it. */
  key_fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  /** While the key is rotated: that of ENCRYPTION_KEY_PREVIOUS, which the backup needs too. */
  previous_key_fingerprint: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  /** SHA-256 of the file SHA256SUMS, lower-case hex. */
  sums: z.string().regex(/^[0-9a-f]{64}$/),
});

export type Manifest = z.output<typeof manifestSchema>;

const manifestName = "manifest.json";
const sumsName = "SHA256SUMS";
const manifestMaxBytes = 64 * 1024;

/** The path of a database's copy in a backup. */
export const databasePath = { sqlite: "database/platform.db", postgresql: "database/platform.dump" } as const;

/**
 * The path of a blob in a backup. Folders have the names of the last two characters of ids: they are random.
 */
export const blobPath = (id: string): string => `files/${id.slice(-2)}/${id}`;

/** The paths that a backup can have. None leads out of its folder. */
const knownPath = /^(database\/platform\.(db|dump)|files\/[A-Za-z0-9_-]{1,2}\/[A-Za-z0-9_-]{1,128})$/;

/** The id of a blob's path; null for the database. */
export const blobIdOf = (path: string): string | null =>
  path.startsWith("files/") ? (path.split("/")[2] ?? null) : null;

/**
 * Creates the folder of a backup. @throws Failure `failed_precondition` when it has contents or cannot be
 * created
 */
export async function makeBackupFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((thrown: unknown) => {
    throw new Failure("failed_precondition", `the folder ${folder} cannot be created: ${causeText(thrown)}`);
  });
  if ((await readdir(folder)).length > 0)
    throw new Failure("failed_precondition", `${folder} is not empty: name a new folder for each backup`);
}

/** Counts and hashes the bytes that pass. */
export interface Meter {
  readonly stream: Transform;
  /** Call it once, after the end of the stream. */
  result(): { bytes: number; sha256: string };
}

export function meter(): Meter {
  const hash = createHash("sha256");
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest("hex") }) };
}

/** SHA-256 and size of a file, which is not a link. */
export async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of file.createReadStream()) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Writes the list of sums and the manifest, in this order, and syncs the folder. */
export async function writeManifest(
  folder: string,
  sums: readonly string[],
  manifest: Omit<Manifest, "sums" | "version">,
): Promise<void> {
  const text = sums.map((line) => `${line}\n`).join("");
  await writeSynced(join(folder, sumsName), text);
  const complete: Manifest = {
    version: 1,
    ...manifest,
    sums: createHash("sha256").update(text).digest("hex"),
  };
  await writeSynced(join(folder, manifestName), `${JSON.stringify(complete, null, 2)}\n`);
  await syncFolder(folder);
}

const writeSynced = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { mode: 0o600, flag: "wx", flush: true });

/** @throws Failure `failed_precondition` for a folder without a complete backup */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName);
  const { size } = await lstat(path).catch((thrown: unknown) => {
    throw notBackup(folder, causeText(thrown));
  });
  const parsed =
    size > manifestMaxBytes ? undefined : manifestSchema.safeParse(parseJson(await readFile(path, "utf8")));
  if (!parsed?.success) throw notBackup(folder, `${manifestName} has another form`);
  return parsed.data;
}

const notBackup = (folder: string, reason: string): Failure =>
  new Failure("failed_precondition", `${folder} has no complete backup: ${reason}`);

/**
 * Checks every file of a backup: its path, that neither it nor a folder on its path is a link, and its sum.
 * Returns the paths.
 *
 * @throws Failure `failed_precondition` that names the first wrong file
 */
export async function verifyFiles(
  folder: string,
  { sums }: Manifest,
  onFile: (files: number) => void,
): Promise<readonly string[]> {
  const wrong = (path: string, reason: string) =>
    new Failure("failed_precondition", `the backup is damaged: ${path}: ${reason}`);
  if ((await hashFile(join(folder, sumsName))).sha256 !== sums)
    throw wrong(sumsName, "its sum differs from that in manifest.json");
  const paths: string[] = [];
  const folders = new Set<string>();
  for await (const line of createInterface(createReadStream(join(folder, sumsName)))) {
    const [, sum = "", path = ""] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (!knownPath.test(path)) throw wrong(JSON.stringify(line.slice(0, 200)), "not a path of a backup");
    if (!folders.has(dirname(path))) await checkFolders(folder, path, wrong);
    folders.add(dirname(path));
    const found = await hashFile(join(folder, path)).catch((thrown: unknown) => {
      throw wrong(path, causeText(thrown));
    });
    if (found.sha256 !== sum) throw wrong(path, "its sum differs from that in SHA256SUMS");
    paths.push(path);
    onFile(paths.length);
  }
  return paths;
}

async function checkFolders(
  folder: string,
  path: string,
  wrong: (path: string, reason: string) => Failure,
): Promise<void> {
  for (let at = dirname(path); at !== "."; at = dirname(at)) {
    const found = await lstat(join(folder, at)).catch(() => null);
    if (!found?.isDirectory()) throw wrong(at, "not a folder");
  }
}
