import { statfs } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import type { Disk } from "../core/installation/checks.ts";
import { installationReader } from "../core/installation/status.ts";
import type { Log } from "../core/log.ts";
import type { Tx } from "../core/store.ts";
import type { InstallationParts } from "../rpc/installation.ts";
import type { ProcessContext } from "./process-context.ts";
import { remoteProfiles } from "./remote.ts";

/** A log that counts its errors and warnings. */
export interface CountedLog {
  readonly log: Log;
  readonly counts: InstallationParts["logged"];
}

export function countedLog(log: Log): CountedLog {
  const counts = { error: 0, warn: 0 };
  return {
    log(level, text, fields) {
      if (level === "error" || level === "warn") counts[level] += 1;
      log(level, text, fields);
    },
    counts: () => counts,
  };
}

const profilesSetting = "agent_profiles";

/** Stores the agents of AGENT_PROFILES for commands, which may run without this setting. The last server that started counts. */
export const storeProfiles = (tx: Pick<Tx, "settings">, { agentProfiles }: Pick<Config, "agentProfiles">): Promise<void> =>
  tx.settings.put(profilesSetting, JSON.stringify(agentProfiles));

/** The settings of a command, with the agents of the servers. Before the first start of this release they are those of the command. */
export async function withStoredProfiles({ settings }: Pick<Tx, "settings">, config: Config): Promise<Config> {
  const stored = await settings.get(profilesSetting);
  return stored === null ? config : { ...config, agentProfiles: JSON.parse(stored) };
}

/** What this process shows to operators (spec/api.md 8.82). */
export const installationParts = (
  { config, store, clock, readDisk = diskOf }: ProcessContext,
  logged: CountedLog["counts"],
): InstallationParts => ({
  readInstallation: installationReader(clock, remoteProfiles(config)),
  version,
  engine: config.database,
  storage: config.bucket === null ? "local" : "s3",
  agentOf: (profile) => config.agentProfiles[profile] ?? "offline",
  readDisk: () => readDisk(config.dataDir),
  readReplica: async () => (await store.replica?.()) ?? null,
  logged,
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
