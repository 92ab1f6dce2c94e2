// `npm run --silent export -- list` shows the exports that have not ended, `npm run --silent export -- cancel ID` ends one.
import { loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { cancelExport, openExports } from "../src/core/exports/operator.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { openInstallation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { fail } from "./fail.ts";

const usage = `usage: npm run --silent export -- list
       npm run --silent export -- cancel ID

  list    the exports that have not ended, oldest first: id, status, percent, account, when it was asked for
  cancel  ends one; nothing of its archive is left
`;

/** Works beside a running server. */
async function run([command, id]: readonly string[]): Promise<string> {
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const { store } = await openInstallation(loadConfig(), outside, async () => undefined);
  try {
    if (command === "list") return await openExports(store);
    await store.change((tx) => cancelExport(tx, { now: systemClock.now(), ids: systemIds, random: systemRandom }, id ?? ""));
    return "";
  } finally {
    await store.close();
  }
}

const words = process.argv.slice(2);
const isKnown = (words[0] === "list" && words.length === 1) || (words[0] === "cancel" && words.length === 2);
if (!isKnown) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  try {
    process.stdout.write(await run(words));
  } catch (error) {
    fail(error);
  }
}
