import { dirname } from "node:path";
import { type Config, findMisspeltSettings } from "./config/config.ts";
import { ConfigError } from "./config/variable.ts";
import { currentBuild } from "./config/version.ts";
import { systemClock } from "./core/clock.ts";
import { systemIds, systemRandom } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import type { Store, Tx } from "./core/store.ts";
import { collectOnceIdle } from "./modules/collect.ts";
import { openMetrics, openTelemetry } from "./modules/observing.ts";
import type { TestServer } from "./modules/test-mode/open.ts";
import { processLog } from "./observability/log.ts";
import type { Telemetry } from "./observability/telemetry/otlp.ts";
import type { StartCheck } from "./runtime/lease.ts";
import { findNewPeer, findPeers } from "./runtime/peers.ts";
import { firstKeys } from "./start/first-key.ts";
import { type Ambient, openInstallation } from "./start/installation.ts";
import { checkListenAddress, listenAddresses } from "./start/listening.ts";
import { type Platform, startPlatform } from "./start/platform.ts";
import { awaitEnd } from "./start/process/ending.ts";
import { outputOf } from "./start/process/output.ts";
import { pathOf } from "./store/backend.ts";
import { isTestFolder, lockFolder, makeFolder, tightenFiles } from "./store/folder.ts";

/**
 * Opens everything in order, serves until a signal arrives, and closes everything in reverse order.
 *
 * @param program how the operator starts commands, for messages
 * @param exit ends the process with this code.
 * @param test what test mode adds, and its messages.
 * @throws ConfigError, Failure when it cannot start. It may have locked the folder and claimed tasks: then
 * the process must end.
 */
export async function serve(
  config: Config,
  program: string,
  exit: (code: number) => never,
  test?: TestStart,
): Promise<void> {
  const metrics = await openMetrics(config);
  const telemetry = await openTelemetry(config, { metrics, log: (...line) => log(...line) });
  const log = createLog(config, telemetry);
  // Git answers in a clone, while the checks below are made.
  const build = currentBuild();
  for (const warning of findMisspeltSettings()) log("warn", warning);
  const ambient: Ambient = {
    clock: systemClock,
    ids: systemIds,
    random: systemRandom,
    log,
    ...(metrics && { metrics }),
    ...(telemetry && { telemetry }),
    ...test?.server.ambient,
  };
  if (!test) refuseTestFolder(config);
  const folder = await openFolder(config, log);
  // Check ports before the first key is created: a start with a port in use creates nothing.
  for (const address of listenAddresses(config)) await checkListenAddress(address);
  log("info", "starting", { ...(await build) });
  const first = firstKeys({ ...config, ...ambient, now: ambient.clock.now });
  const { store, cipher } = await openInstallation(config, ambient, first.create);
  await test?.server.open();
  const check = needsSharedFolder(config) ? await refusePeers(store) : undefined;
  // Handle signals from here on: a signal during the start drains the platform as soon as it is open.
  const { asked, step } = awaitEnd(
    endLimitMs(config),
    (cause) => log("warn", "the end is not watched", { cause }),
    exit,
  );
  const platform = await startPlatform(config, store, cipher, ambient, check);
  const { host, role, database, rateFactor } = config;
  log("info", "ready", { host, port: platform.port, role, database, rate_limits: rateFactor ?? "off" });
  if (test) await test.ready(platform);
  else
    await first.show(
      { isTTY: process.stdout.isTTY === true, ...outputOf(1) },
      { store, program, ...platform },
    );
  const stopping = new AbortController();
  const uncollected = (cause: unknown) =>
    log("warn", "the garbage of the start was not collected", { cause });
  collectOnceIdle(systemClock, stopping.signal).catch(uncollected);
  await asked;
  stopping.abort();
  log("info", "draining");
  await platform.drain(step);
  await step("database", store.close());
  await folder?.release();
  await test?.server.close();
  log("info", "stopped");
  if (telemetry) await step("telemetry", telemetry.stop());
}

/** A start in test mode. */
export interface TestStart {
  readonly server: TestServer;
  /** Loads the fixtures and says where the server is. */
  readonly ready: (platform: Pick<Platform, "baseUrl" | "pagesUrl">) => Promise<void>;
}

/** @throws ConfigError for data that test mode made: its keys are not secret, and its clock may be ahead. */
function refuseTestFolder({ dataDir, database, databaseUrl }: Config): void {
  const folders = [dataDir, ...(database === "sqlite" ? [dirname(pathOf(databaseUrl))] : [])];
  const found = folders.find((folder) => isTestFolder(folder));
  if (found === undefined) return;
  const text = `DATA_DIR: the folder ${found} was made by atp serve --test: choose another one, or remove it`;
  throw new ConfigError([{ variable: "DATA_DIR", text }]);
}

function createLog(
  { logLevel, dataDir, database, databaseUrl }: Config,
  telemetry: Telemetry | undefined,
): Log {
  const places = { folder: dataDir, ...(database === "sqlite" && { database: pathOf(databaseUrl) }) };
  return processLog(logLevel, places, undefined, telemetry?.recordLine ?? null);
}

/**
 * Creates the data folder, removes other users' access to its files, and locks it if only one process may use
 * it.
 */
async function openFolder({ dataDir, database, databaseUrl }: Config, log: Log) {
  makeFolder(dataDir, "DATA_DIR");
  const files = ["encryption-key", "encryption-key-previous", "first-key", "files", "lock.db"].map(
    (name) => `${dataDir}/${name}`,
  );
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
 * Refuses to start if another process runs on the database. Returns a check for processes that start at the
 * same time.
 *
 * @throws ConfigError when another process runs on the database; the returned check throws it too.
 */
async function refusePeers(store: Store): Promise<StartCheck> {
  const { live, dead } = await findPeers(store.nodes, systemClock);
  if (live !== null) throw separateFolders;
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

/**
 * A drain that is not over after this time, in milliseconds, ends by a kill: DRAIN_NOTICE_SECONDS,
 * DRAIN_SECONDS and 10 seconds.
 */
const endLimitMs = ({ noticeSeconds, drainSeconds }: Config): number =>
  (noticeSeconds + drainSeconds + 10) * 1_000;
