import { resolve } from "node:path";
import { restore as restoreBackup } from "../../src/backup/restore.ts";
import { cipherFrom } from "../../src/core/cipher.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { readEncryptionKey } from "../../src/encryption-key.ts";
import { installationLocation } from "../../src/installation.ts";
import { processLog } from "../../src/log.ts";
import { openStore } from "../../src/store/open.ts";
import { openBlobs } from "../../src/wiring/files.ts";
import { argument, exactly, switchFlag } from "../frame/parameters.ts";
import { type Here, type InstallationFlags, installationFlags, localCommand } from "./frame/command.ts";
import { readConfig } from "./frame/installation.ts";
import { progressLine } from "./frame/progress-line.ts";

interface RestoreFlags extends InstallationFlags {
  readonly "revoke-all"?: boolean;
}

export const restore = localCommand({
  brief: "Restore a backup into an empty place",
  about:
    "DATABASE_URL or DATA_DIR name an empty place, and ENCRYPTION_KEY or DATA_DIR/encryption-key has the key of the backup. The installation is held then: no server starts on it before `atp resume`. PostgreSQL needs pg_restore.",
  examples: ["DATA_DIR=/var/lib/atp atp restore /backups/2026-11-24", "atp restore /backups/2026-11-24 --revoke-all"],
  parameters: {
    flags: {
      ...installationFlags,
      "revoke-all": switchFlag("Also end all API keys, workers' credentials, tokens of apps, sessions and sign-in links"),
    },
    positional: exactly(argument("A backup", "FOLDER")),
  },
  run: async ({ context, print }: Here, flags: RestoreFlags, folder: string) => {
    const progress = progressLine(context);
    const { config, parts } = await restoreParts(context, flags.config);
    const onProgress = (step: string, count: number) => progress.show(`${count} files ${step}`);
    const { created_at, files } = await restoreBackup({ ...parts, onProgress }, resolve(folder), flags["revoke-all"] ?? false);
    progress.end();
    context.process.stderr.write("The installation is held: `atp resume` shows what would start, and lets servers start.\n");
    const location = installationLocation(config);
    print.result({ location, created_at, files }, `${location}: restored the backup of ${created_at}, ${files} files and the database`);
  },
});

async function restoreParts(context: Here["context"], file: string | undefined) {
  const config = readConfig(context, file);
  const log = processLog("warn");
  const cipher = cipherFrom(await readEncryptionKey(config), systemRandom);
  const parts = {
    ...{ config, cipher, env: process.env, now: systemClock.now, blobs: openBlobs(config, log) },
    open: (databaseUrl: string) => openStore({ databaseUrl, clock: systemClock, random: systemRandom, log, isIncomplete: true }),
  };
  return { config, parts };
}
