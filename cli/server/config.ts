import {
  findMisspeltSettings,
  loadConfig,
  type ShownSetting,
  showSettings,
} from "../../src/config/config.ts";
import { withConfigFile } from "../../src/config/sources.ts";
import { ConfigError, type Problem } from "../../src/config/variable.ts";
import { type Here, type InstallationFlags, installationFlags, localCommand } from "./frame/command.ts";

/** The problems of the settings; none when a server would start with them. */
export function problemsOf(env: Readonly<Record<string, string | undefined>>): readonly Problem[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** A secret is never shown, only that it is set. */
const shownValue = ({ value, isSecret, source }: ShownSetting): string =>
  isSecret && source !== "default" ? "set" : (value ?? "");

const columns = [
  { title: "SETTING", text: ({ name }: ShownSetting) => name },
  { title: "SOURCE", text: ({ source }: ShownSetting) => source },
  { title: "VALUE", text: shownValue },
];

export const config = localCommand({
  brief: "Show the settings with their sources, and check them",
  about:
    "The source of a setting is the environment, the file of settings, or the default. The value of a secret is never shown, only that it is set. All mistakes are written to standard error, and then the exit code is 1. docs/reference/configuration.md explains each setting.",
  examples: [
    "atp config",
    "atp config --config /etc/atp/atp.toml",
    "atp config --json | jq '.settings[] | select(.source != \"default\")'",
  ],
  parameters: { flags: installationFlags },
  run: async ({ context, print }: Here, { config: file }: InstallationFlags) => {
    const env = withConfigFile(context.process.env, file);
    const [settings, problems, warnings] = [showSettings(env), problemsOf(env), findMisspeltSettings(env)];
    if (problems.length > 0) context.process.exitCode = 1;
    if (print.isJson) {
      const shown = settings.map((setting) => ({
        name: setting.name,
        source: setting.source,
        value: shownValue(setting) || null,
      }));
      return print.json({ settings: shown, problems, warnings });
    }
    print.list(settings, columns, "");
    for (const text of warnings) print.note(`warning: ${text}`);
    for (const { text } of problems) print.note(text);
  },
});
