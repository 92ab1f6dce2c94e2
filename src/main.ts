import { loadConfig } from "./config.ts";
import { firstStart } from "./core/accounts/first-start.ts";
import { systemClock } from "./core/clock.ts";
import { systemIds, systemRandom } from "./core/ids.ts";
import { faultText } from "./fault.ts";
import { openInstallation, type Surroundings } from "./installation.ts";
import { processLog } from "./log.ts";
import { startPlatform } from "./platform.ts";
import { holdFolder } from "./store/folder.ts";
import { welcome } from "./welcome.ts";

/** Opens everything in order, serves until a signal comes, and closes it in reverse. */
async function main(): Promise<void> {
  const config = loadConfig();
  const log = processLog(config.logLevel);
  const outside: Surroundings = { clock: systemClock, ids: systemIds, random: systemRandom, log };
  const folder = config.database === "sqlite" ? await holdFolder(config.dataDir) : null;
  let firstKey: string | null = null;
  const { store, cipher } = await openInstallation(config, outside, async (tx) => {
    firstKey = await firstStart(tx, { now: systemClock.now(), ids: systemIds, random: systemRandom }, config.ownerEmail);
  });
  // Heard from here on: a signal that comes before all is open drains it as soon as it is.
  const signal = signalled();
  const platform = await startPlatform(config, store, cipher, outside);
  log("info", "ready", { host: config.host, port: platform.port, role: config.role, database: config.database });
  // PORT 0 takes any free port: only now it is known which.
  const baseUrl = config.port === 0 ? config.baseUrl.replace(/:0$/, `:${platform.port}`) : config.baseUrl;
  if (firstKey !== null) await welcome(process.stdout, { baseUrl, dataDir: config.dataDir, key: firstKey });
  await signal;
  log("info", "draining");
  await platform.drain();
  await store.close();
  folder?.release();
  log("info", "stopped");
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process as usual. */
const signalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });

try {
  await main();
} catch (error) {
  process.stderr.write(faultText(error));
  // What was begun holds the folder and claims tasks; without a server it must not live on.
  process.exit(1);
}
