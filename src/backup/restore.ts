import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { KeyRing } from "../core/cipher.ts";
import type { Erased } from "../core/erasure/erasure.ts";
import { Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blob.ts";
import { hold, keepBytesUntil } from "../core/processes/hold.ts";
import type { Store, Tx } from "../core/store.ts";
import { copierOf, isKnownMigration } from "./copier.ts";
import type { Environment } from "./copy.ts";
import { blobIdOf, databasePath, type Manifest, readManifest, verifyFiles } from "./folder.ts";

export interface RestoreParts {
  readonly config: Pick<Config, "database" | "databaseUrl" | "dataDir" | "bucket">;
  readonly cipher: Pick<KeyRing, "checks">;
  readonly blobs: Pick<Blobs, "put">;
  readonly now: () => number;
  readonly env: Environment;
  /** The list of erasures: what the backup still has of it is erased again. */
  readonly erasures: readonly Erased[];
  /** Opens the restored database, which migrates it. */
  readonly open: (databaseUrl: string) => Promise<Pick<Store, "change" | "close">>;
  readonly onProgress: (step: "verified" | "restored", files: number) => void;
}

/**
 * Restores a backup into an empty place. Every sum is checked before anything is written. The installation is
 * held then: no server starts on it before `atp resume`, which waits for the erasures of the list:
 * `eraseOpen` completes them.
 *
 * @param revokesAll also ends all API keys, workers' credentials, tokens of apps, sessions and sign-in links.
 * @throws Failure `failed_precondition` when the backup is damaged, of another database or key, or the place
 * is not empty
 */
export async function restore(parts: RestoreParts, folder: string, revokesAll: boolean): Promise<Manifest> {
  const { config, now, onProgress } = parts;
  const manifest = await readManifest(folder);
  checkFits(manifest, parts);
  const copier = await copierOf(config.database, parts.env);
  await copier.checkEmpty(config.databaseUrl);
  await checkNoFiles(config);
  const paths = await verifyFiles(folder, manifest, (files) => onProgress("verified", files));
  await restoreBlobs(parts, folder, paths);
  await copier.restore(
    config.databaseUrl,
    join(folder, databasePath[config.database]),
    async (databaseUrl) => {
      const store = await parts.open(databaseUrl);
      try {
        await store.change(async (tx: Tx) => {
          await hold(tx, now());
          // The backup was being made when its database was copied.
          await keepBytesUntil(tx, 0);
          for (const erased of parts.erasures) await tx.erasures.begin(erased, now());
          if (revokesAll) await tx.installation.revokeAll(now());
        });
      } finally {
        await store.close();
      }
    },
  );
  return manifest;
}

function checkFits(manifest: Manifest, { config, cipher }: RestoreParts): void {
  const { database, migration, key_fingerprint, previous_key_fingerprint = key_fingerprint } = manifest;
  if (database !== config.database)
    throw new Failure(
      "failed_precondition",
      `the backup is of ${names[database]}, and DATABASE_URL names ${names[config.database]}`,
    );
  if (!cipher.checks.includes(key_fingerprint))
    throw new Failure(
      "failed_precondition",
      "ENCRYPTION_KEY is not the key of this backup: use the key of the installation that was backed up",
    );
  if (!cipher.checks.includes(previous_key_fingerprint))
    throw new Failure(
      "failed_precondition",
      "the backup was made while the key was rotated: it needs ENCRYPTION_KEY and ENCRYPTION_KEY_PREVIOUS of that time",
    );
  if (!isKnownMigration(database, migration))
    throw new Failure(
      "failed_precondition",
      `the backup is of a newer release (${migration}): restore it with that release`,
    );
}

const names = { sqlite: "SQLite", postgresql: "PostgreSQL" } as const;

async function checkNoFiles({ bucket, dataDir }: RestoreParts["config"]): Promise<void> {
  if (bucket !== null) return;
  const folder = join(dataDir, "files");
  const found = await readdir(folder).catch(() => []);
  if (found.length > 0)
    throw new Failure("failed_precondition", `there are files in ${folder}: restore into an empty place`);
}

async function restoreBlobs(
  { blobs, onProgress }: RestoreParts,
  folder: string,
  paths: readonly string[],
): Promise<void> {
  const never = new AbortController().signal;
  for (const [index, path] of paths.entries()) {
    const id = blobIdOf(path);
    if (id !== null) await blobs.put(id, createReadStream(join(folder, path)), never);
    onProgress("restored", index + 1);
  }
}
