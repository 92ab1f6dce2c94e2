import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { erasureListPath, readErasures } from "../../src/backup/erasure-list.ts";
import { restore as restoreBackup } from "../../src/backup/restore.ts";
import type { Config } from "../../src/config/config.ts";
import { cipherFrom } from "../../src/core/cipher.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Erased } from "../../src/core/erasure/erasure.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { eraseOpen } from "../../src/core/use-cases/erase.ts";
import { openBlobs } from "../../src/modules/blobs.ts";
import { eraseParts } from "../../src/modules/erasure.ts";
import { processLog } from "../../src/observability/log.ts";
import { readEncryptionKey, readPreviousKey } from "../../src/start/encryption-key.ts";
import { installationLocation } from "../../src/start/installation.ts";
import { openStore } from "../../src/store/open.ts";
import type { CliContext } from "../frame/context.ts";
import { argument, exactly, switchFlag, textFlag } from "../frame/parameters.ts";
import { type Here, type InstallationFlags, installationFlags, localCommand } from "./frame/command.ts";
import { readConfig } from "./frame/installation.ts";
import { progressLine } from "./frame/progress-line.ts";

const log = processLog("warn");
const ambient = { clock: systemClock, random: systemRandom, log };

interface RestoreFlags extends InstallationFlags {
  readonly erasures?: string;
  readonly "revoke-all"?: boolean;
}

export const restore = localCommand({
  brief: "Restore a backup into an empty place",
  about:
    "DATABASE_URL or DATA_DIR name an empty place, and ENCRYPTION_KEY or DATA_DIR/encryption-key has the key of the backup. The installation is held then: no server starts on it before `atp resume`. PostgreSQL needs pg_restore.",
  examples: [
    "DATA_DIR=/var/lib/atp atp restore /backups/2026-11-24",
    "atp restore /backups/2026-11-24 --revoke-all",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      erasures: textFlag(
        "List of erasures to apply again; by default DATA_DIR/erasures.jsonl, if there is one",
        "FILE",
      ),
      "revoke-all": switchFlag(
        "Also end all API keys, workers' credentials, tokens of apps, sessions and sign-in links",
      ),
    },
    positional: exactly(argument("A backup", "FOLDER")),
  },
  run: async ({ context, print }: Here, flags: RestoreFlags, folder: string) => {
    const progress = progressLine(context);
    const config = readConfig(context, flags.config);
    const erasures = await listOfErasures(context, config.dataDir, flags.erasures);
    const cipher = cipherFrom(await readEncryptionKey(config), systemRandom, await readPreviousKey(config));
    const parts = {
      config,
      cipher,
      env: process.env,
      now: systemClock.now,
      blobs: openBlobs(config, log),
      erasures,
      open: (databaseUrl: string) => openStore({ ...ambient, databaseUrl, isIncomplete: true }),
      onProgress: (step: string, count: number) => progress.show(`${count} files ${step}`),
    };
    const { created_at, files } = await restoreBackup(parts, resolve(folder), flags["revoke-all"] ?? false);
    const erased = await eraseAgain(config, (rows) => progress.show(`${rows} rows erased again`));
    progress.end();
    for (const { kind, subject } of erased)
      context.process.stderr.write(`erased again: ${kind} ${subject}\n`);
    context.process.stderr.write(
      "The installation is held: `atp resume` shows what would start, and lets servers start.\n",
    );
    const location = installationLocation(config);
    print.result(
      { location, created_at, files, erased_again: erased },
      `${location}: restored the backup of ${created_at}, ${files} files and the database`,
    );
  },
});

async function eraseAgain(config: Config, onProgress: (rows: number) => void): Promise<readonly Erased[]> {
  const store = await openStore({ ...ambient, databaseUrl: config.databaseUrl });
  try {
    return await eraseOpen(eraseParts(config, store, systemClock, log, onProgress));
  } finally {
    await store.close();
  }
}

/** @throws Failure `failed_precondition` for a named file that is missing or cannot be read */
async function listOfErasures(
  { process }: CliContext,
  dataDir: string,
  named: string | undefined,
): Promise<readonly Erased[]> {
  const path = named ?? erasureListPath(dataDir);
  if (existsSync(path)) return await readErasures(path);
  if (named !== undefined) throw new Failure("failed_precondition", `--erasures: there is no file ${path}`);
  process.stderr.write(
    `There is no list of erasures ${path}. If people were erased since the backup, name the list: --erasures FILE\n`,
  );
  return [];
}
