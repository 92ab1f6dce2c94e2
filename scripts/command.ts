import { type Config, loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { Making } from "../src/core/keys/make-key.ts";
import { faultText } from "../src/fault.ts";
import { type Installation, installationPlace, openExisting, type Surroundings } from "../src/installation.ts";
import { processLog } from "../src/log.ts";

/** A command's usage text, and its parser of the command line, which returns null for arguments that are wrong. */
export interface CommandForm<W> {
  readonly usage: string;
  readonly parse: (words: readonly string[]) => W | null;
}

/**
 * Runs a command with the arguments of the command line. Standard output gets what `run` returns and nothing else. The
 * exit code is 2, with the usage, for wrong arguments, and 1 when `run` throws.
 */
export async function runCommand<W>({ usage, parse }: CommandForm<W>, run: (wanted: W) => Promise<string | undefined>): Promise<void> {
  // Files are readable by this user alone.
  process.umask(0o077);
  const wanted = parsed(parse);
  if (wanted === null) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  await run(wanted).then(
    (text) => void process.stdout.write(text ?? ""),
    (error: unknown) => {
      process.stderr.write(faultText(error));
      process.exitCode = 1;
    },
  );
}

/** Node's parser of arguments throws for options that it does not know. */
function parsed<W>(parse: CommandForm<W>["parse"]): W | null {
  try {
    return parse(process.argv.slice(2));
  } catch {
    return null;
  }
}

/** The installation that a command works on, and what changes in it are made with. */
export interface OpenedInstallation extends Installation, AsyncDisposable {
  readonly config: Config;
  readonly outside: Surroundings;
  making(): Making;
}

/**
 * Opens the installation that DATA_DIR or DATABASE_URL names, beside running servers, and says on standard error which
 * one it is.
 *
 * @throws ConfigError when there is none.
 */
export async function useInstallation(config = loadConfig()): Promise<OpenedInstallation> {
  const outside: Surroundings = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const opened = await openExisting(config, outside);
  process.stderr.write(`installation: ${installationPlace(config)}\n`);
  return {
    ...opened,
    config,
    outside,
    making: () => ({ now: systemClock.now(), ids: systemIds, random: systemRandom }),
    [Symbol.asyncDispose]: () => opened.store.close(),
  };
}
