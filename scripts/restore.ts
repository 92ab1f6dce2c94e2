// `npm run restore -- FOLDER`: restores a backup into an empty place, and holds the installation until `npm run resume`.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { erasureListPath, readErasures } from "../src/backup/erasure-list.ts";
import { restore } from "../src/backup/restore.ts";
import { loadConfig } from "../src/config.ts";
import { cipherFrom } from "../src/core/cipher.ts";
import { systemClock } from "../src/core/clock.ts";
import type { Erased } from "../src/core/erasure/erasure.ts";
import { Failure } from "../src/core/failure.ts";
import { systemRandom } from "../src/core/ids.ts";
import { eraseOpen } from "../src/core/use-cases/erase.ts";
import { readEncryptionKey } from "../src/encryption-key.ts";
import { installationLocation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { openStore } from "../src/store/open.ts";
import { eraseParts } from "../src/wiring/erasure.ts";
import { openBlobs } from "../src/wiring/files.ts";
import { type OptionValues, runCommand, textOption } from "./command.ts";
import { progressLine } from "./progress-line.ts";

const usage = `usage: npm run --silent restore -- FOLDER [--revoke-all] [--erasures FILE]

  FOLDER        a backup
  --erasures    the list of erasures, which are applied again; default: DATA_DIR/erasures.jsonl, if there is one
  --revoke-all  also ends all API keys, workers' credentials, tokens of apps, sessions and sign-in links

DATABASE_URL or DATA_DIR name an empty place, and ENCRYPTION_KEY or DATA_DIR/encryption-key has the key of the backup. No server
starts on the restored installation before npm run resume. PostgreSQL needs pg_restore.
`;

const options = { "revoke-all": { type: "boolean" }, erasures: textOption } as const;

interface Arguments {
  readonly folder: string;
  readonly revokesAll: boolean;
  /** The path of the list of erasures; undefined for that of the data folder. */
  readonly list: string | undefined;
}

const read = (values: OptionValues<typeof options>, [folder, ...more]: readonly string[]): Arguments | null =>
  folder && more.length === 0 ? { folder: resolve(folder), revokesAll: values["revoke-all"] ?? false, list: values.erasures } : null;

async function run({ folder, revokesAll, list }: Arguments): Promise<string> {
  const config = loadConfig();
  const erasures = await listOfErasures(config.dataDir, list);
  const log = processLog("warn");
  const progress = progressLine();
  const cipher = cipherFrom(await readEncryptionKey(config), systemRandom);
  const open = (databaseUrl: string) => openStore({ databaseUrl, clock: systemClock, random: systemRandom, log });
  const parts = {
    ...{ config, cipher, env: process.env, now: systemClock.now, blobs: openBlobs(config, log), erasures, open },
    onProgress: (step: string, files: number) => progress.show(`${files} files ${step}`),
  };
  const { created_at, files } = await restore(parts, folder, revokesAll);
  const store = await open(config.databaseUrl);
  try {
    const erased = await eraseOpen(eraseParts(config, store, systemClock, log, (rows) => progress.show(`${rows} rows erased again`)));
    for (const { kind, subject } of erased) process.stderr.write(`erased again: ${kind} ${subject}\n`);
  } finally {
    await store.close();
  }
  progress.end();
  process.stderr.write("The installation is held: npm run resume shows what would start, and lets servers start.\n");
  return `${installationLocation(config)}: restored the backup of ${created_at}, ${files} files and the database\n`;
}

/** @throws Failure `failed_precondition` for a named file that is missing or cannot be read */
async function listOfErasures(dataDir: string, named: string | undefined): Promise<readonly Erased[]> {
  const path = named ?? erasureListPath(dataDir);
  if (existsSync(path)) return await readErasures(path);
  if (named !== undefined) throw new Failure("failed_precondition", `--erasures: there is no file ${path}`);
  process.stderr.write(`There is no list of erasures ${path}. If people were erased since the backup, name the list: --erasures FILE\n`);
  return [];
}

await runCommand({ usage, options, acceptsPositionals: true, read }, run);
