// `npm run migrate`: brings the database up to date and does nothing else. A server does so itself when it
// starts; this is for who wants it done before, and apart.
import { loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemRandom } from "../src/core/ids.ts";
import { processLog } from "../src/log.ts";
import { openStore } from "../src/store/open.ts";
import { fail } from "./fail.ts";

try {
  const { databaseUrl, database } = loadConfig();
  const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom, log: processLog("warn") });
  await store.close();
  console.error(`${database}: the database is up to date`);
} catch (error) {
  fail(error);
}
