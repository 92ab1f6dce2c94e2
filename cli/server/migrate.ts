import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { processLog } from "../../src/observability/log.ts";
import { installationLocation } from "../../src/start/installation.ts";
import { openStore } from "../../src/store/open.ts";
import { type Here, localCommand, type SettingsFlags, settingsFlags } from "./frame/command.ts";
import { readConfig } from "./frame/installation.ts";

export const migrate = localCommand({
  brief: "Migrate the database, and do nothing else",
  about: "A server also does this when it starts. It is for operators who want to migrate before.",
  examples: ["atp migrate", "DATABASE_URL=postgresql://platform@db.example.com/platform atp migrate"],
  parameters: { flags: settingsFlags },
  run: async ({ context }: Here, { config: file }: SettingsFlags) => {
    const config = readConfig(context, file);
    const { databaseUrl, database } = config;
    const { stderr } = context.process;
    const startedAt = performance.now();
    let count = 0;
    const applied = (name: string, seconds: number): void => {
      count += 1;
      stderr.write(`${name}: ${seconds.toFixed(2)} s\n`);
    };
    const store = await openStore({
      databaseUrl,
      clock: systemClock,
      random: systemRandom,
      log: processLog("warn"),
      applied,
    });
    await store.close();
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(2);
    const done =
      count === 0
        ? "the database is up to date"
        : `${count} migrations were applied in ${seconds} s, with new indexes`;
    stderr.write(`${database}: ${done}: ${installationLocation(config)}\n`);
  },
});
