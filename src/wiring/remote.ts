import type { ConnectorUses } from "../core/connectors/use.ts";
import { siteSaver } from "../core/websites/save.ts";
import type { RemoteRuns } from "../core/workers/remote-run.ts";
import { type Dispatch, startDispatch } from "../runtime/remote/dispatch.ts";
import { remoteRuns } from "../runtime/remote/runs.ts";
import { siteOpener } from "../runtime/remote/sites.ts";
import type { FileParts } from "./files.ts";
import type { Ground } from "./ground.ts";
import { remoteProfiles } from "./work.ts";

/** The side of remote workers, in a process of whatever role. */
export interface RemoteSide {
  readonly runs: RemoteRuns;
  /** Lets held polls go. Runs stay with their workers: their leases outlast a restart. */
  drain(): Promise<void>;
}

export function remoteSide(
  ground: Ground,
  { staging, blobs, links, readFile, workspaceOf, openSkill }: FileParts,
  connectors: ConnectorUses,
  draining: AbortSignal,
): RemoteSide {
  const { config, store, clock, ids, random, cipher, log } = ground;
  const dispatch: Dispatch = startDispatch({ store, clock, log });
  draining.addEventListener("abort", () => void dispatch.drain(), { once: true });
  const runs = remoteRuns({
    ...{ store, clock, ids, cipher, staging, links, readFile, workspaceOf, openSkill, dispatch, connectors },
    openSite: siteOpener({ staging, blobs }),
    saveSite: siteSaver({ clock, ids, random }),
    quota: config.fileQuota,
    prices: config.prices,
    remoteProfiles: remoteProfiles(config),
    pollsMax: config.watchLimit,
    pollMs: config.waitSeconds * 1000,
  });
  return { runs, drain: dispatch.drain };
}
