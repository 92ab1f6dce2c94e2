// `npm run migrate`: brings the database up to date and does nothing else. A server does so itself when it
// starts; this is for who wants it done before, and apart.
import { loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemRandom } from "../src/core/ids.ts";
import { installationPlace } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { openStore } from "../src/store/open.ts";
import { runCommand } from "./command.ts";

const usage = "usage: npm run migrate\n";

/** Nothing is asked for. */
const parse = (words: readonly string[]): true | null => words.length === 0 || null;

async function migrate(): Promise<undefined> {
  const config = loadConfig();
  const { databaseUrl, database } = config;
  const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom, log: processLog("warn") });
  await store.close();
  process.stderr.write(`${database}: the database is up to date: ${installationPlace(config)}\n`);
}

await runCommand({ usage, parse }, migrate);
