import { systemClock } from "../../../src/core/clock.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import { openStore } from "../../../src/store/open.ts";

// Writes settings sequentially, and prints each once it is acknowledged.
const [databaseUrl = ""] = process.argv.slice(2);
const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom });
for (let n = 1; ; n += 1) {
  await store.change((tx) => tx.settings.put("n", String(n)));
  process.stdout.write(`${n}\n`);
}
