import { type Config, loadConfig } from "../../../src/config/config.ts";
import { withConfigFile } from "../../../src/config/sources.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import type { CreationContext } from "../../../src/core/keys/api-key.ts";
import { diskOf } from "../../../src/modules/installation.ts";
import { processLog } from "../../../src/observability/log.ts";
import {
  type Ambient,
  type Installation,
  installationLocation,
  openExisting,
} from "../../../src/start/installation.ts";
import type { CliContext } from "../../frame/context.ts";

/** The installation of a command, with the context for changes. */
export interface OpenedInstallation extends Installation, AsyncDisposable {
  readonly config: Config;
  readonly ambient: Ambient;
  creationContext(): CreationContext;
}

/** The settings of a command. @throws ConfigError with every problem */
export const readConfig = ({ process: { env } }: CliContext, file: string | undefined): Config =>
  loadConfig(withConfigFile(env, file));

/** Below this number of free bytes a command that writes will fail. */
const freeMin = 1024 * 1024;

/** Says first what makes the rest of the output hard to understand. */
async function warnIfFull({ process: { stderr } }: CliContext, folder: string): Promise<void> {
  const disk = await diskOf(folder);
  if (disk !== null && disk.free < freeMin)
    stderr.write(`the disk of ${folder} is full: only commands that read will work\n`);
}

/**
 * Opens the installation, also while servers run, and prints its location on standard error.
 *
 * @throws ConfigError if there is none.
 */
export async function openInstallation(
  context: CliContext,
  file: string | undefined,
): Promise<OpenedInstallation> {
  const config = readConfig(context, file);
  await warnIfFull(context, config.dataDir);
  const ambient: Ambient = {
    clock: systemClock,
    ids: systemIds,
    random: systemRandom,
    log: processLog("warn"),
  };
  const opened = await openExisting(config, ambient);
  context.process.stderr.write(`installation: ${installationLocation(config)}\n`);
  return {
    ...opened,
    config,
    ambient,
    creationContext: () => ({ now: systemClock.now(), ids: systemIds, random: systemRandom }),
    [Symbol.asyncDispose]: () => opened.store.close(),
  };
}
