import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { poll } from "../async/poll.ts";
import type { Config } from "../config/config.ts";
import type { KeyRing } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { causeText, Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blob.ts";
import type { Log } from "../core/log.ts";
import { keepBytesUntil } from "../core/processes/hold.ts";
import type { Store } from "../core/store.ts";
import { copierOf } from "./copier.ts";
import type { CopiedBlob, Environment } from "./copy.ts";
import {
  blobPath,
  databasePath,
  hashFile,
  type Manifest,
  makeBackupFolder,
  meter,
  writeManifest,
} from "./folder.ts";

export interface BackUpParts {
  readonly config: Pick<Config, "database" | "databaseUrl">;
  readonly store: Store;
  readonly cipher: Pick<KeyRing, "checks">;
  readonly blobs: Pick<Blobs, "read">;
  readonly clock: Clock;
  readonly log: Log;
  readonly env: Environment;
  /** Called after the database (0 files), and after each file. */
  readonly onProgress: (done: { files: number; bytes: number }) => void;
}

/** Servers keep the bytes of deleted files for this long after the backup last asked them to. */
const keepMs = 120_000;
const keepEveryMs = 20_000;

/**
 * Writes a backup into a new folder, while servers run: first the database, then the bytes of the files that
 * it names. ENCRYPTION_KEY is not in it. The database stays as it is, except for the time until which bytes
 * of deleted files are kept.
 *
 * @throws Failure `failed_precondition` when the folder is not empty, or the database or a file cannot be
 * copied; the folder has no manifest then.
 */
export async function backUp(parts: BackUpParts, folder: string): Promise<Pick<Manifest, "files" | "bytes">> {
  const { config, store, cipher, clock, log, onProgress } = parts;
  await makeBackupFolder(folder);
  const over = new AbortController();
  const keep = async () => store.change((tx) => keepBytesUntil(tx, clock.now() + keepMs));
  await keep();
  const keeping = poll(clock, keepEveryMs, over.signal, log, keep);
  try {
    const database = databasePath[config.database];
    await mkdir(join(folder, "database"), { mode: 0o700 });
    // The programs that copy keep the mode of an existing file.
    await writeFile(join(folder, database), "", { mode: 0o600, flag: "wx" });
    await using copy = await (await copierOf(config.database, parts.env)).copy(
      config.databaseUrl,
      join(folder, database),
    );
    const { bytes, sha256 } = await hashFile(join(folder, database));
    const total = { files: 0, bytes };
    const sums = [`${sha256}  ${database}`];
    onProgress(total);
    for await (const blob of copy.blobs()) {
      sums.push(await copyBlob(parts.blobs, blob, folder));
      total.files += 1;
      total.bytes += blob.bytes;
      onProgress(total);
    }
    const created_at = new Date(clock.now()).toISOString();
    const [key_fingerprint = "", previous_key_fingerprint] = cipher.checks;
    await writeManifest(folder, sums, {
      created_at,
      database: config.database,
      migration: copy.migration,
      key_fingerprint,
      ...defined({ previous_key_fingerprint }),
      ...total,
    });
    return total;
  } finally {
    over.abort();
    await keeping;
    await store.change((tx) => keepBytesUntil(tx, 0));
  }
}

/** Copies the bytes of a file. Returns its line in SHA256SUMS. */
async function copyBlob(
  blobs: BackUpParts["blobs"],
  { id, bytes }: CopiedBlob,
  folder: string,
): Promise<string> {
  const path = blobPath(id);
  const target = join(folder, path);
  const { stream, result } = meter();
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await pipeline(
      await blobs.read(id),
      stream,
      createWriteStream(target, { flags: "wx", mode: 0o600, flush: true }),
    );
  } catch (thrown) {
    throw new Failure(
      "failed_precondition",
      `the bytes of a file cannot be copied to ${target}: ${causeText(thrown)}`,
    );
  }
  const read = result();
  if (read.bytes !== bytes)
    throw new Failure(
      "failed_precondition",
      `the bytes of a file have another length than the database says: ${id}`,
    );
  return `${read.sha256}  ${path}`;
}
