import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { backUp } from "../../src/backup/back-up.ts";
import { type RestoreParts, restore } from "../../src/backup/restore.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";
import { type FilePlatform, openFilePlatform } from "../files/files-rig.ts";
import { cipher } from "../support/cipher.ts";
import { databaseUrl, type TestDatabase } from "../support/database.ts";

/** A platform with files, a folder for backups, and empty places to restore them. */
export interface BackupRig extends AsyncDisposable {
  readonly platform: FilePlatform;
  /** A path at which there is nothing. */
  path(name: string): string;
  backUp(folder: string, change?: Partial<Parameters<typeof backUp>[0]>): ReturnType<typeof backUp>;
  /** An empty database and data folder. */
  place(): Promise<Place>;
}

export interface Place {
  readonly database: TestDatabase;
  readonly config: Config;
  readonly dataDir: string;
  restore(
    folder: string,
    change?: Partial<RestoreParts> & { readonly revokesAll?: boolean },
  ): ReturnType<typeof restore>;
}

export async function openBackupRig(
  kind: TestDatabase["kind"],
  options: Parameters<typeof openFilePlatform>[1] = {},
): Promise<BackupRig> {
  const root = mkdtempSync(join(tmpdir(), "backup-"));
  const platform = await openFilePlatform(kind, options);
  const databases: TestDatabase[] = [];
  const env = process.env;
  return {
    platform,
    path: (name) => join(root, name),
    backUp: (folder, change = {}) =>
      backUp(
        {
          config: { database: kind, databaseUrl: platform.database.url },
          ...{
            store: platform.service.store,
            cipher,
            blobs: createLocalBlobs(platform.folder),
            clock: systemClock,
            env,
          },
          ...{ log: () => undefined, onProgress: () => undefined, ...change },
        },
        folder,
      ),
    async place() {
      const database = await databaseUrl(kind, { empty: true });
      databases.push(database);
      const dataDir = join(root, `place-${databases.length}`);
      const config = loadConfig({
        ...{ DATA_DIR: dataDir, DATABASE_URL: database.url, DATA_DIR_SHARED: "true" },
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
      });
      const open = (url: string) =>
        openStore({ databaseUrl: url, clock: systemClock, random: systemRandom, isIncomplete: true });
      return {
        ...{ database, config, dataDir },
        restore: (folder, { revokesAll = false, ...change } = {}) =>
          restore(
            {
              ...{
                config,
                cipher,
                blobs: createLocalBlobs(join(dataDir, "files")),
                now: systemClock.now,
                env,
                open,
                erasures: [],
              },
              ...{ onProgress: () => undefined, ...change },
            },
            folder,
            revokesAll,
          ),
      };
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]();
      for (const database of databases) await database[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
