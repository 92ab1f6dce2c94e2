// `npm run restore -- FOLDER`: restores a backup into an empty place, and holds the installation until `npm run resume`.
import { resolve } from "node:path";
import { restore } from "../src/backup/restore.ts";
import { loadConfig } from "../src/config.ts";
import { cipherFrom } from "../src/core/cipher.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemRandom } from "../src/core/ids.ts";
import { readEncryptionKey } from "../src/encryption-key.ts";
import { installationLocation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { openStore } from "../src/store/open.ts";
import { openBlobs } from "../src/wiring/files.ts";
import { type OptionValues, runCommand } from "./command.ts";
import { progressLine } from "./progress-line.ts";

const usage = `usage: npm run --silent restore -- FOLDER [--revoke-all]

  FOLDER        a backup
  --revoke-all  also ends all API keys, workers' credentials, tokens of apps, sessions and sign-in links

DATABASE_URL or DATA_DIR name an empty place, and ENCRYPTION_KEY or DATA_DIR/encryption-key has the key of the backup. No server
starts on the restored installation before npm run resume. PostgreSQL needs pg_restore.
`;

const options = { "revoke-all": { type: "boolean" } } as const;

interface Arguments {
  readonly folder: string;
  readonly revokesAll: boolean;
}

const read = (values: OptionValues<typeof options>, [folder, ...more]: readonly string[]): Arguments | null =>
  folder && more.length === 0 ? { folder: resolve(folder), revokesAll: values["revoke-all"] ?? false } : null;

async function run({ folder, revokesAll }: Arguments): Promise<string> {
  const config = loadConfig();
  const log = processLog("warn");
  const progress = progressLine();
  const cipher = cipherFrom(await readEncryptionKey(config), systemRandom);
  const parts = {
    ...{ config, cipher, env: process.env, now: systemClock.now, blobs: openBlobs(config, log) },
    open: (databaseUrl: string) => openStore({ databaseUrl, clock: systemClock, random: systemRandom, log, isIncomplete: true }),
    onProgress: (step: string, files: number) => progress.show(`${files} files ${step}`),
  };
  const { created_at, files } = await restore(parts, folder, revokesAll);
  progress.end();
  process.stderr.write("The installation is held: npm run resume shows what would start, and lets servers start.\n");
  return `${installationLocation(config)}: restored the backup of ${created_at}, ${files} files and the database\n`;
}

await runCommand({ usage, options, acceptsPositionals: true, read }, run);
