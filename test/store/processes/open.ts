import { systemClock } from "../../../src/core/clock.ts";
import { systemRandom } from "../../../src/core/ids.ts";
import { openStore } from "../../../src/store/open.ts";

// Opens a store as a process that starts does, and counts the start in two changes,
// between which another start would be lost.
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
