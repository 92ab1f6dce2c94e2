import { readFile } from "node:fs/promises";
import type { TestServer } from "../../src/modules/test-mode/open.ts";
import { serve as startServer, type TestStart } from "../../src/serve.ts";
import { programName } from "../frame/checkout.ts";
import { UsageError } from "../frame/failures.ts";
import { switchFlag, textFlag } from "../frame/parameters.ts";
import { type Here, localCommand, type SettingsFlags, settingsFlags } from "./frame/command.ts";
import { faultText } from "./frame/fault.ts";
import { readConfig } from "./frame/installation.ts";

interface ServeFlags extends SettingsFlags {
  readonly test?: boolean;
  readonly seed?: string;
  readonly at?: string;
  readonly attached?: boolean;
  readonly fixtures?: string;
}

/** The flags that decide a first state. */
interface StartFlags {
  readonly seed: string | undefined;
  readonly at: string | undefined;
}

const ofTests = ["seed", "at", "fixtures", "attached"] as const;

export const serve = localCommand({
  brief: "Start a server",
  examples: [
    "atp serve",
    "PORT=8080 DATA_DIR=/var/lib/atp atp serve",
    "atp serve --config /etc/atp/atp.toml",
    "PORT=0 atp serve --test --seed 7 --at 2030-01-01T00:00:00Z",
  ],
  about:
    "The first start creates the installation: the data folder, the database and the first API key. The server logs to standard error, and ends its work at SIGTERM, SIGINT or SIGHUP. docs/reference/configuration.md has the settings.\n\n--test starts a server for tests, with new data that is removed at the end. Tests move its clock, cause faults and reset it (docs/guides/testing.md). It is reachable from this machine only. It writes one line of JSON to standard output when it is ready.",
  parameters: {
    flags: {
      ...settingsFlags,
      test: switchFlag("Start a server for tests"),
      seed: textFlag("With --test: decides ids and keys"),
      at: textFlag("With --test: the time of the start, such as 2030-01-01T00:00:00Z", "TIME"),
      fixtures: textFlag("With --test: the file of calls that are made before the server is ready", "FILE"),
      attached: switchFlag("With --test: end when standard input ends"),
    },
  },
  check(flags: ServeFlags) {
    const alone = flags.test ? undefined : ofTests.find((name) => flags[name] !== undefined);
    if (alone !== undefined) throw new UsageError(`--${alone} needs --test`);
    if (flags.at !== undefined) parseTime(flags.at);
  },
  run: async (
    { context }: Here,
    { config, test = false, seed, at, fixtures, attached = false }: ServeFlags,
  ) => {
    const { env } = context.process;
    const load = fixtures === undefined ? async () => undefined : await openFixtures(fixtures);
    const server = test ? await openTest(env, config, { seed, at }) : undefined;
    const settings = server?.config ?? readConfig(context, config);
    try {
      await startServer(
        settings,
        programName,
        process.exit,
        server && { server, ready: readyOf(server, load, attached) },
      );
    } catch (error) {
      context.process.stderr.write(faultText(error));
      await server?.close();
      // A failed start may have locked the folder and claimed tasks; without a server the process must not
      // continue.
      process.exit(1);
    }
  },
});

/** @throws UsageError */
function parseTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || time < 0)
    throw new UsageError("--at must be a time such as 2030-01-01T00:00:00Z");
  return time;
}

async function openTest(env: NodeJS.ProcessEnv, file: string | undefined, { seed, at }: StartFlags) {
  const { openTestMode } = await import("../../src/modules/test-mode/open.ts");
  const { withConfigFile } = await import("../../src/config/sources.ts");
  return openTestMode(withConfigFile(env, file), { seed, at: at === undefined ? undefined : parseTime(at) });
}

/** Reads a file of fixtures before the start. @throws UsageError for a file that is not in order */
async function openFixtures(file: string) {
  const { readFixtures } = await import("../fixtures/read.ts");
  const { runFixtures } = await import("../fixtures/run.ts");
  const text = await readFile(file, "utf8");
  const steps = readFixtures(file, text, { forTests: true });
  return (target: { readonly origin: string; readonly key: string }) =>
    runFixtures(steps, text, { ...target, fetch });
}

/** Keeps the state for `test.reset`, and writes where the server is. */
const readyOf =
  (
    server: TestServer,
    load: (target: { readonly origin: string; readonly key: string }) => Promise<unknown>,
    attached: boolean,
  ): TestStart["ready"] =>
  async ({ baseUrl, pagesUrl }) => {
    await load({ origin: baseUrl, key: server.key() });
    const secret = await server.signInSecret();
    await server.keep();
    const { seed } = server;
    const link = secret === null ? {} : { sign_in_url: `${pagesUrl}/link/${secret}` };
    process.stdout.write(
      `${JSON.stringify({ test: "on", base_url: baseUrl, pages_url: pagesUrl, api_key: server.key(), ...link, seed })}\n`,
    );
    if (!attached) return;
    process.stdin.resume();
    process.stdin.once("close", () => process.kill(process.pid, "SIGTERM"));
  };
