import { systemClock } from "../../../src/core/clock.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import { openStore } from "../../../src/store/open.ts";

// Opens a store as a starting process does, and counts the start in two changes;
// a simultaneous start between them would be lost.
const [databaseUrl = ""] = process.argv.slice(2);
const store = await openStore({
  databaseUrl,
  clock: systemClock,
  random: systemRandom,
  async prepare({ change }) {
    const starts = await change((tx) => tx.settings.get("starts"));
    await change((tx) => tx.settings.put("starts", String(Number(starts ?? 0) + 1)));
  },
});
await store.close();
