import { poll } from "../async/poll.ts";
import { installationWatch } from "../core/installation/watch.ts";
import { diskOf } from "./installation.ts";
import type { ProcessContext } from "./process-context.ts";
import { remoteProfiles } from "./profiles.ts";

/** A warning comes at most this long after its condition begins to hold. */
const lookMs = 10_000;

/** Looks at the installation in every process, and warns its operator; the returned function stops it. */
export function startWatch(context: ProcessContext): () => Promise<void> {
  const { config, store, clock, log, warnings, readDisk = diskOf } = context;
  const stopping = new AbortController();
  const watchInstallation = installationWatch({
    store,
    clock,
    warnings,
    remoteProfiles: remoteProfiles(config),
    readDisk: () => readDisk(config.dataDir),
    replica: store.replica,
    databaseTime: context.databaseTime ?? store.installation.databaseTime,
  });
  const looks = poll(clock, lookMs, stopping.signal, log, watchInstallation);
  return async () => {
    stopping.abort();
    await looks;
  };
}
