import { ConfigError } from "./config/variable.ts";
import { type Config, findMisspeltSettings, loadServerConfig } from "./config.ts";
import { systemClock } from "./core/clock.ts";
import { systemIds, systemRandom } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import type { Store, Tx } from "./core/store.ts";
import { faultText } from "./fault.ts";
import { firstKeys } from "./first-key.ts";
import { type Ambient, openInstallation } from "./installation.ts";
import { checkListenAddress, listenAddresses } from "./listening.ts";
import { processLog } from "./log.ts";
import { startPlatform } from "./platform.ts";
import type { StartCheck } from "./runtime/lease.ts";
import { findNewPeer, findPeers } from "./runtime/peers.ts";
import { pathOf } from "./store/backend.ts";
import { lockFolder, makeFolder, tightenFiles } from "./store/folder.ts";
import { openMetrics } from "./wiring/observing.ts";

/** Opens everything in order, serves until a signal arrives, and closes everything in reverse order. */
async function main(): Promise<void> {
  // Only this process's user can read its files.
  process.umask(0o077);
  const config = loadServerConfig(process.argv.slice(2));
  const log = createLog(config);
  for (const warning of findMisspeltSettings()) log("warn", warning);
  const metrics = await openMetrics(config);
  const ambient: Ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log, ...(metrics && { metrics }) };
  const folder = await openFolder(config, log);
  // Check ports before the first key is created: a start with a port in use creates nothing.
  for (const address of listenAddresses(config)) await checkListenAddress(address);
  const first = firstKeys({ ...config, ...ambient, now: systemClock.now });
  const { store, cipher } = await openInstallation(config, ambient, first.create);
  const check = needsSharedFolder(config) ? await refusePeers(store) : undefined;
  // Handle signals from here on: a signal during the start drains the platform as soon as it is open.
  const signal = waitForSignal();
  const platform = await startPlatform(config, store, cipher, ambient, check);
  log("info", "ready", { host: config.host, port: platform.port, role: config.role, database: config.database });
  await first.show(process.stdout, { store, ...platform });
  await signal;
  log("info", "draining");
  await platform.drain();
  await store.close();
  await folder?.release();
  log("info", "stopped");
}

const createLog = ({ logLevel, dataDir, database, databaseUrl }: Config): Log =>
  processLog(logLevel, { folder: dataDir, ...(database === "sqlite" && { database: pathOf(databaseUrl) }) });

/** Creates the data folder, removes other users' access to its files, and locks it if only one process may use it. */
async function openFolder({ dataDir, database, databaseUrl }: Config, log: Log) {
  makeFolder(dataDir, "DATA_DIR");
  const files = ["encryption-key", "encryption-key-previous", "first-key", "files", "lock.db"].map((name) => `${dataDir}/${name}`);
  const path = pathOf(databaseUrl);
  const parts = database === "sqlite" ? ["", "-wal", "-shm", "-start"].map((end) => `${path}${end}`) : [];
  const warning = tightenFiles(dataDir, [...files, ...parts]);
  if (warning !== null) log("warn", warning);
  return database === "sqlite" ? lockFolder(dataDir) : null;
}

/** Whether a second process on the database could not read the files of this one. */
const needsSharedFolder = ({ database, bucket, isDataDirShared }: Config): boolean =>
  database === "postgresql" && bucket === null && !isDataDirShared;

/**
 * Refuses to start if another process runs on the database. Returns a check for processes that start at the same time.
 *
 * @throws ConfigError when another process runs on the database; the returned check throws it too.
 */
async function refusePeers(store: Store): Promise<StartCheck> {
  const { live: living, dead } = await findPeers(store.nodes, systemClock);
  if (living !== null) throw separateFolders;
  return async (tx: Tx) => {
    if ((await findNewPeer(tx, dead)) !== null) throw separateFolders;
  };
}

const separateFolders = new ConfigError([
  {
    variable: "DATA_DIR_SHARED",
    text: "another process runs on this database, and neither could read the other's files: set S3_BUCKET, or DATA_DIR_SHARED=true when DATA_DIR is one folder for all processes",
  },
]);

/** Resolves at the first SIGTERM, SIGINT or SIGHUP; a second one ends the process as usual. */
const waitForSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => resolve());
  });

try {
  await main();
} catch (error) {
  process.stderr.write(faultText(error));
  // A failed start may have locked the folder and claimed tasks; without a server the process must not continue.
  process.exit(1);
}
