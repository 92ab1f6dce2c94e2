import { statfs } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import type { Disk } from "../core/installation/checks.ts";
import { installationReader } from "../core/installation/status.ts";
import type { Tx } from "../core/store.ts";
import { type InstallationParts, installationHandlers } from "../rpc/installation.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";
import { remoteProfiles } from "./profiles.ts";

const profilesSetting = "agent_profiles";

/**
 * Stores the agents of AGENT_PROFILES for commands, which may run without this setting. The last server that
 * started counts.
 */
export const storeProfiles = (
  tx: Pick<Tx, "settings">,
  { agentProfiles }: Pick<Config, "agentProfiles">,
): Promise<void> => tx.settings.put(profilesSetting, JSON.stringify(agentProfiles));

/**
 * The settings of a command, with the agents of the servers. Before the first start of this release they are
 * those of the command.
 */
export async function withStoredProfiles(
  { settings }: Pick<Tx, "settings">,
  config: Config,
): Promise<Config> {
  const stored = await settings.get(profilesSetting);
  return stored === null ? config : { ...config, agentProfiles: JSON.parse(stored) };
}

/** What this process shows to operators (spec/api.md 8.82). */
export const installationParts = ({
  config,
  store,
  clock,
  logged,
  readDisk = diskOf,
  models: { agentProfiles } = config,
}: ProcessContext & { models?: Pick<Config, "agentProfiles"> }): InstallationParts => ({
  readInstallation: installationReader(clock, remoteProfiles(config)),
  version,
  engine: config.database,
  storage: config.bucket === null ? "local" : "s3",
  agentOf: (profile) => agentProfiles[profile] ?? "offline",
  readDisk: () => readDisk(config.dataDir),
  readReplica: async () => (await store.replica?.()) ?? null,
  logged,
});

export const createInstallation: CreateModule = (context) => ({
  handlers: [installationHandlers(installationParts(context))],
});

/** The disk of a folder; null where the system does not tell. */
export async function diskOf(folder: string): Promise<Disk> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return blocks === 0 ? null : { free: bavail * bsize, size: blocks * bsize };
  } catch {
    return null;
  }
}
