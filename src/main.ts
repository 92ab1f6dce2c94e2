import { type Config, ConfigError, loadConfig, misspeltSettings } from "./config.ts";
import { systemClock } from "./core/clock.ts";
import { systemIds, systemRandom } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import type { Store, Tx } from "./core/store.ts";
import { faultText } from "./fault.ts";
import { firstKeys } from "./first-key.ts";
import { openInstallation, type Surroundings } from "./installation.ts";
import { listenAddresses, tryListening } from "./listening.ts";
import { processLog } from "./log.ts";
import { startPlatform } from "./platform.ts";
import type { StartCheck } from "./runtime/lease.ts";
import { findNewPeer, findPeers } from "./runtime/peers.ts";
import { holdFolder, makeFolder, tightenFiles } from "./store/folder.ts";
import { pathOf } from "./store/place.ts";

/** Opens everything in order, serves until a signal comes, and closes it in reverse. */
async function main(): Promise<void> {
  // Files are readable by this process's user alone.
  process.umask(0o077);
  const config = loadConfig();
  const log = logOf(config);
  for (const warning of misspeltSettings()) log("warn", warning);
  const outside: Surroundings = { clock: systemClock, ids: systemIds, random: systemRandom, log };
  const folder = await openFolder(config, log);
  // Before the first key is made: a port that is taken leaves nothing behind.
  for (const address of listenAddresses(config)) await tryListening(address);
  const first = firstKeys({ ...config, ...outside, now: systemClock.now });
  const { store, cipher } = await openInstallation(config, outside, first.make);
  const check = needsSharedFolder(config) ? await refusePeers(store) : undefined;
  // Heard from here on: a signal that comes before all is open drains it as soon as it is.
  const signal = signalled();
  const platform = await startPlatform(config, store, cipher, outside, check);
  log("info", "ready", { host: config.host, port: platform.port, role: config.role, database: config.database });
  await first.tell(process.stdout, platform.baseUrl);
  await signal;
  log("info", "draining");
  await platform.drain();
  await store.close();
  await folder?.release();
  log("info", "stopped");
}

const logOf = ({ logLevel, dataDir, database, databaseUrl }: Config): Log =>
  processLog(logLevel, { folder: dataDir, ...(database === "sqlite" && { database: pathOf(databaseUrl) }) });

/** Makes the data folder, closes what is ours in it to other users, and holds it where one process alone may use it. */
async function openFolder({ dataDir, database, databaseUrl }: Config, log: Log) {
  makeFolder(dataDir, "DATA_DIR");
  const files = ["encryption-key", "first-key", "files", "lock.db"].map((name) => `${dataDir}/${name}`);
  const path = pathOf(databaseUrl);
  const parts = database === "sqlite" ? ["", "-wal", "-shm", "-start"].map((end) => `${path}${end}`) : [];
  const warning = tightenFiles(dataDir, [...files, ...parts]);
  if (warning !== null) log("warn", warning);
  return database === "sqlite" ? holdFolder(dataDir) : null;
}

/** Whether a second process on the database could not find the files of this one. */
const needsSharedFolder = ({ database, bucket, isDataDirShared }: Config): boolean =>
  database === "postgresql" && bucket === null && !isDataDirShared;

/**
 * Answers the check for another process that started at the same moment.
 *
 * @throws ConfigError, as the check does, when another process runs on the database.
 */
async function refusePeers(store: Store): Promise<StartCheck> {
  const { living, dead } = await findPeers(store.nodes, systemClock);
  if (living !== null) throw foldersApart;
  return async (tx: Tx) => {
    if ((await findNewPeer(tx, dead)) !== null) throw foldersApart;
  };
}

const foldersApart = new ConfigError([
  {
    variable: "DATA_DIR_SHARED",
    text: "another process runs on this database, and each would keep files where the other cannot read them: set S3_BUCKET, or DATA_DIR_SHARED=true when DATA_DIR is one folder for all processes",
  },
]);

/** Resolves at the first SIGTERM, SIGINT or SIGHUP; a second one ends the process as usual. */
const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => resolve());
  });

try {
  await main();
} catch (error) {
  process.stderr.write(faultText(error));
  // What was begun holds the folder and claims tasks; without a server it must not live on.
  process.exit(1);
}
