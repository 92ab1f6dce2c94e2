// Migrates a database: for tests by `migrated`, and as a program the one whose URL is its argument.
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";

export const migrated = async (databaseUrl: string): Promise<void> =>
  (await openStore({ databaseUrl, clock: systemClock, random: systemRandom })).close();

if (import.meta.main) await migrated(process.argv[2] ?? "");
