import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Config, loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { CreationContext } from "../src/core/keys/api-key.ts";
import { faultText } from "../src/fault.ts";
import { type Ambient, type Installation, installationLocation, openExisting } from "../src/installation.ts";
import { processLog } from "../src/log.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The values of a command line's options, as `util.parseArgs` types them. */
export type OptionValues<O extends Options> = ReturnType<typeof parseArgs<{ options: O; strict: true }>>["values"];

/** An option with a text value. */
export const textOption = { type: "string" } as const;

/** A command's arguments and usage. */
export interface CommandForm<O extends Options, Arguments> {
  readonly usage: string;
  readonly options: O;
  /** Whether it accepts positional arguments in addition to options. */
  readonly acceptsPositionals?: boolean;
  /** Parses the arguments; returns null if they are invalid. */
  readonly read: (values: OptionValues<O>, positionals: readonly string[]) => Arguments | null;
}

/**
 * Runs a command with the arguments of the command line. Only the result of `run` goes to standard output. The
 * exit code is 2, with the usage, for invalid arguments, and 1 if `run` throws.
 */
export async function runCommand<O extends Options, Arguments>(
  form: CommandForm<O, Arguments>,
  run: (args: Arguments) => Promise<string | undefined>,
): Promise<void> {
  // Only this user can read its files.
  process.umask(0o077);
  const args = parseArguments(form);
  if (args === null) {
    process.stderr.write(form.usage);
    process.exitCode = 2;
    return;
  }
  await run(args).then(
    (output) => void process.stdout.write(output ?? ""),
    (error: unknown) => {
      process.stderr.write(faultText(error));
      process.exitCode = 1;
    },
  );
}

/** Like `runCommand`, on the installation of DATA_DIR or DATABASE_URL; closes it when `run` ends. */
export async function runOnInstallation<O extends Options, Arguments>(
  form: CommandForm<O, Arguments>,
  run: (args: Arguments, installation: OpenedInstallation) => Promise<string | undefined>,
): Promise<void> {
  await runCommand(form, async (args) => {
    await using installation = await openInstallation();
    return await run(args, installation);
  });
}

/** Returns null for invalid arguments; Node's parser throws for unknown options. */
function parseArguments<O extends Options, Arguments>({
  options,
  acceptsPositionals: takesWords = false,
  read,
}: CommandForm<O, Arguments>): Arguments | null {
  try {
    const { values, positionals } = parseArgs<{ options: O; strict: true; allowPositionals: boolean }>({
      options,
      strict: true,
      allowPositionals: takesWords,
    });
    return read(values, positionals);
  } catch {
    return null;
  }
}

/** The installation of a command, with the context for changes. */
export interface OpenedInstallation extends Installation, AsyncDisposable {
  readonly config: Config;
  readonly ambient: Ambient;
  creationContext(): CreationContext;
}

/**
 * Opens the installation, also while servers run, and prints its location on standard error.
 *
 * @throws ConfigError if there is none.
 */
async function openInstallation(): Promise<OpenedInstallation> {
  const config = loadConfig();
  const outside: Ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const opened = await openExisting(config, outside);
  process.stderr.write(`installation: ${installationLocation(config)}\n`);
  return {
    ...opened,
    config,
    ambient: outside,
    creationContext: () => ({ now: systemClock.now(), ids: systemIds, random: systemRandom }),
    [Symbol.asyncDispose]: () => opened.store.close(),
  };
}
