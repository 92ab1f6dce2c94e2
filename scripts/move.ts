// `npm run move -- --from sqlite --to postgresql`: moves an installation to another database.
import { randomUUID } from "node:crypto";
import { move, type Side } from "../src/backup/move.ts";
import { type Config, loadConfig } from "../src/config.ts";
import { cipherFrom } from "../src/core/cipher.ts";
import { systemClock } from "../src/core/clock.ts";
import { Failure } from "../src/core/failure.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { Store } from "../src/core/store.ts";
import { readEncryptionKey } from "../src/encryption-key.ts";
import { installationLocation, openExisting } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { findPeers } from "../src/runtime/peers.ts";
import { openStore } from "../src/store/open.ts";
import { openBlobs } from "../src/wiring/files.ts";
import { type OptionValues, runCommand, textOption } from "./command.ts";
import { progressLine } from "./progress-line.ts";

const usage = `usage: ./atp move --from sqlite|postgresql --to sqlite|postgresql [--files copy] [--json]

  --from        the database of the installation, as DATABASE_URL or DATA_DIR name it
  --to          the database of the target, as TARGET_DATABASE_URL or TARGET_DATA_DIR name it
  --files copy  also copies the bytes of files; without it both have the same DATA_DIR or bucket
  --json        prints the number of rows and the sum of each table

TARGET_NAME is the setting NAME of the target; the other settings are those of the installation. Stop all servers first. A move that was
interrupted continues when the command runs again. The installation stays held: no server starts on its old database.
`;

const prefix = "TARGET_";
const databases = ["sqlite", "postgresql"] as const;
const options = { from: textOption, to: textOption, files: textOption, json: { type: "boolean" } } as const;

interface Arguments {
  readonly from: Config["database"];
  readonly to: Config["database"];
  readonly copiesFiles: boolean;
  readonly isJson: boolean;
}

function read(values: OptionValues<typeof options>): Arguments | null {
  const [from, to] = [values.from, values.to].map((given) => databases.find((each) => each === given));
  const { files = "reference", json = false } = values;
  return from && to && ["reference", "copy"].includes(files) ? { from, to, copiesFiles: files === "copy", isJson: json } : null;
}

const log = processLog("warn");
const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log };

async function run({ from, to, copiesFiles, isJson }: Arguments): Promise<string> {
  const [source, target] = [loadConfig(), loadConfig(targetSettings())];
  checkDatabase("--from", from, "DATABASE_URL", source);
  checkDatabase("--to", to, "TARGET_DATABASE_URL", target);
  const progress = progressLine();
  const report = await move({
    source: await sideOf(source, async () => (await openExisting(source, ambient)).store),
    target: await sideOf(target, (databaseUrl) => openStore({ ...ambient, databaseUrl, isIncomplete: true })),
    ...{ copiesFiles, env: process.env, now: systemClock.now, newId: randomUUID, isServed },
    onProgress: (step, { rows, files, bytes }) => progress.show(`${rows} rows, ${files} files, ${bytes} bytes of files ${step}`),
  });
  progress.end();
  const place = installationLocation(target);
  process.stderr.write(`The old database is held. Start servers with the settings of the target: ${place}\n`);
  if (isJson) return `${JSON.stringify(report)}\n`;
  return `${place}: moved ${report.rows} rows and ${report.files} files, verified\n`;
}

/** The environment of the target: a variable TARGET_NAME is its NAME, and also replaces the source's NAME_FILE. */
function targetSettings(): Record<string, string | undefined> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
  );
  // The source's database is never the target's: without TARGET_DATABASE_URL it is a file in the data folder.
  const replaced = new Set(["DATABASE_URL", ...own.map(([name]) => name.replace(/_FILE$/, ""))]);
  const inherited = Object.entries(process.env).filter(([name]) => !replaced.has(name.replace(/_FILE$/, "")));
  return Object.fromEntries([...inherited, ...own]);
}

function checkDatabase(option: string, kind: Config["database"], setting: string, { database }: Config): void {
  if (kind !== database)
    throw new Failure("failed_precondition", `${option} is ${kind}, and ${setting} names another kind of database: ${database}`);
}

const sideOf = async (config: Config, open: Side["open"]): Promise<Side> => ({
  ...{ config, open, blobs: openBlobs(config, () => undefined) },
  cipher: cipherFrom(await readEncryptionKey(config), systemRandom),
});

const isServed = async (store: Store): Promise<boolean> => (await findPeers(store.nodes, systemClock)).live !== null;

await runCommand({ usage, options, read }, run);
