import type { Config } from "../config/config.ts";
import type { ConnectorUses } from "../core/connectors/use.ts";
import type { LiveTexts } from "../core/tasks/live-texts.ts";
import { createSaveSite } from "../core/websites/save.ts";
import type { RemoteRuns } from "../core/workers/remote-run.ts";
import { type Dispatch, startDispatch } from "../runtime/remote/dispatch.ts";
import { remoteRuns } from "../runtime/remote/runs.ts";
import { createSiteOpener } from "../runtime/remote/uploads.ts";
import type { FileParts } from "./files.ts";
import type { ProcessContext } from "./process-context.ts";

/** The profiles whose tasks are left to remote workers. */
export const remoteProfiles = ({ agentProfiles }: Pick<Config, "agentProfiles">): readonly string[] =>
  Object.entries(agentProfiles).flatMap(([profile, agent]) => (agent === "remote" ? [profile] : []));

/** The part of a process, in any role, that serves remote workers. */
export interface RemoteWorkers {
  readonly runs: RemoteRuns;
  /** Ends held polls. Runs stay with their workers: their leases outlast a restart. */
  drain(): Promise<void>;
}

/** What runs of workers share with other parts of the process. */
export interface RemoteParts {
  readonly connectors: ConnectorUses;
  readonly texts: LiveTexts;
  readonly draining: AbortSignal;
}

export function createRemoteWorkers(
  context: ProcessContext,
  { staging, blobs, links, readFile, workspaceOf, openSkill }: FileParts,
  { connectors, texts, draining }: RemoteParts,
): RemoteWorkers {
  const { config, store, clock, ids, random, cipher, log, observe } = context;
  const dispatch: Dispatch = startDispatch({ store, clock, log, observe });
  draining.addEventListener("abort", () => void dispatch.drain(), { once: true });
  const runs = remoteRuns({
    ...{ store, clock, ids, cipher, staging, links, readFile, workspaceOf, openSkill, dispatch, connectors, texts, observe },
    openSite: createSiteOpener({ staging, blobs }),
    saveSite: createSaveSite({ clock, ids, random }),
    quota: config.fileQuota,
    prices: config.prices,
    budgetStep: config.budgetStep,
    remoteProfiles: remoteProfiles(config),
    profileLabels: config.profileLabels,
    pollsMax: config.watchLimit,
    pollMs: config.waitSeconds * 1000,
  });
  return { runs, drain: dispatch.drain };
}
