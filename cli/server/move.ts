import { randomUUID } from "node:crypto";
import { move as moveInstallation, type Side } from "../../src/backup/move.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { withConfigFile } from "../../src/config/sources.ts";
import { cipherFrom } from "../../src/core/cipher.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { openBlobs } from "../../src/modules/blobs.ts";
import { processLog } from "../../src/observability/log.ts";
import { findPeers } from "../../src/runtime/peers.ts";
import { readEncryptionKey, readPreviousKey } from "../../src/start/encryption-key.ts";
import { installationLocation, openExisting } from "../../src/start/installation.ts";
import { openStore } from "../../src/store/open.ts";
import { choiceFlag } from "../frame/parameters.ts";
import { type Here, type InstallationFlags, installationFlags, localCommand } from "./frame/command.ts";
import { progressLine } from "./frame/progress-line.ts";

const databases = ["sqlite", "postgresql"] as const;
const prefix = "TARGET_";

interface MoveFlags extends InstallationFlags {
  readonly from: Config["database"];
  readonly to: Config["database"];
  readonly files?: "reference" | "copy";
}

const log = processLog("warn");
const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log };

export const move = localCommand({
  brief: "Move an installation to another database",
  about:
    "DATABASE_URL or DATA_DIR name the installation. TARGET_DATABASE_URL or TARGET_DATA_DIR name the target: TARGET_NAME is its setting NAME, and the other settings are those of the installation. Stop all servers first. A move that was interrupted continues when the command runs again. The old database stays held: no server starts on it.",
  examples: [
    "TARGET_DATABASE_URL=postgresql://localhost/atp atp move --from sqlite --to postgresql",
    "TARGET_DATA_DIR=/srv/atp atp move --from postgresql --to sqlite --files copy",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      from: { kind: "enum", brief: "Database of the installation", values: databases },
      to: { kind: "enum", brief: "Database of the target", values: databases },
      files: choiceFlag(
        "`copy` also copies the bytes of files; without it both have the same DATA_DIR or bucket",
        ["reference", "copy"],
      ),
    },
  },
  run: async ({ context, print }: Here, flags: MoveFlags) => {
    const env = withConfigFile(context.process.env, flags.config);
    const [source, target] = [loadConfig(env), loadConfig(targetSettings(env))];
    checkDatabase("--from", flags.from, "DATABASE_URL", source);
    checkDatabase("--to", flags.to, "TARGET_DATABASE_URL", target);
    const progress = progressLine(context);
    const report = await moveInstallation({
      source: await sideOf(source, async () => (await openExisting(source, ambient)).store),
      target: await sideOf(target, (databaseUrl) =>
        openStore({ ...ambient, databaseUrl, isIncomplete: true }),
      ),
      copiesFiles: flags.files === "copy",
      env: process.env,
      now: systemClock.now,
      newId: randomUUID,
      isServed,
      onProgress: (step, { rows, files, bytes }) =>
        progress.show(`${rows} rows, ${files} files, ${bytes} bytes of files ${step}`),
    });
    progress.end();
    const place = installationLocation(target);
    context.process.stderr.write(
      `The old database is held. Start servers with the settings of the target: ${place}\n`,
    );
    print.result(report, `${place}: moved ${report.rows} rows and ${report.files} files, verified`);
  },
});

type Settings = Readonly<Record<string, string | undefined>>;

/**
 * The settings of the target: a variable TARGET_NAME is its NAME, and also replaces the source's NAME_FILE.
 */
function targetSettings(settings: Settings): Settings {
  const own = Object.entries(settings).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
  );
  // The source's database is never the target's: without TARGET_DATABASE_URL it is a file in the data folder.
  const replaced = new Set([
    "DATABASE_URL",
    "DATABASE_DIRECT_URL",
    ...own.map(([name]) => name.replace(/_FILE$/, "")),
  ]);
  const inherited = Object.entries(settings).filter(([name]) => !replaced.has(name.replace(/_FILE$/, "")));
  return Object.fromEntries([...inherited, ...own]);
}

function checkDatabase(flag: string, kind: Config["database"], setting: string, { database }: Config): void {
  if (kind !== database)
    throw new Failure(
      "failed_precondition",
      `${flag} is ${kind}, and ${setting} names another kind of database: ${database}`,
    );
}

const sideOf = async (config: Config, open: Side["open"]): Promise<Side> => ({
  config,
  open,
  blobs: openBlobs(config),
  cipher: cipherFrom(await readEncryptionKey(config), systemRandom, await readPreviousKey(config)),
});

const isServed = async (store: Store): Promise<boolean> =>
  (await findPeers(store.nodes, systemClock)).live !== null;
