import { serve as startServer } from "../../src/serve.ts";
import { programName } from "../frame/checkout.ts";
import { type Here, localCommand, type SettingsFlags, settingsFlags } from "./frame/command.ts";
import { faultText } from "./frame/fault.ts";
import { readConfig } from "./frame/installation.ts";

export const serve = localCommand({
  brief: "Start a server",
  examples: ["atp serve", "PORT=8080 DATA_DIR=/var/lib/atp atp serve", "atp serve --config /etc/atp/atp.toml"],
  about:
    "The first start creates the installation: the data folder, the database and the first API key. The server logs to standard error, and ends its work at SIGTERM, SIGINT or SIGHUP. docs/reference/configuration.md has the settings.",
  parameters: { flags: settingsFlags },
  run: async ({ context }: Here, { config }: SettingsFlags) => {
    const settings = readConfig(context, config);
    try {
      await startServer(settings, programName, process.exit);
    } catch (error) {
      context.process.stderr.write(faultText(error));
      // A failed start may have locked the folder and claimed tasks; without a server the process must not continue.
      process.exit(1);
    }
  },
});
