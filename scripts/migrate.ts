// `npm run migrate`: migrates the database and does nothing else. A server also does this when it starts;
// this command is for operators who want to migrate separately first.
import { loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemRandom } from "../src/core/ids.ts";
import { installationLocation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { openStore } from "../src/store/open.ts";
import { runCommand } from "./command.ts";

const usage = "usage: npm run migrate\n";

async function migrate(): Promise<undefined> {
  const config = loadConfig();
  const { databaseUrl, database } = config;
  const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom, log: processLog("warn") });
  await store.close();
  process.stderr.write(`${database}: the database is up to date: ${installationLocation(config)}\n`);
}

await runCommand({ usage, options: {}, read: () => true }, migrate);
