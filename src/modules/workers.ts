import { createSaveSite } from "../core/websites/save.ts";
import { workers } from "../core/workers/worker.ts";
import { workerHandlers, workerSettingsHandlers } from "../rpc/worker.ts";
import { startDispatch } from "../runtime/remote/dispatch.ts";
import { remoteRuns } from "../runtime/remote/runs.ts";
import { createSiteOpener } from "../runtime/remote/uploads.ts";
import type { CreateModule } from "./module.ts";
import { remoteProfiles } from "./profiles.ts";

/**
 * Remote workers, which a process in any role serves. Its drain ends held polls. Runs stay with their
 * workers: their leases outlast a restart.
 */
export const createWorkers: CreateModule = (context) => {
  const { config, files, connectors, draining, models } = context;
  const dispatch = startDispatch(context);
  draining.addEventListener("abort", () => void dispatch.drain(), { once: true });
  const runs = remoteRuns({
    ...context,
    ...files,
    dispatch,
    connectors: connectors.uses,
    openSite: createSiteOpener(files),
    saveSite: createSaveSite(context),
    quota: config.fileQuota,
    permissions: config.permissions,
    prices: models.prices,
    budgetStep: config.budgetStep,
    remoteProfiles: remoteProfiles(config),
    profileLabels: config.profileLabels,
    pollsMax: config.watchLimit,
    pollMs: config.waitSeconds * 1000,
  });
  const settings = workers({ ...context, remoteProfiles: remoteProfiles(config) });
  return {
    handlers: [workerSettingsHandlers(settings), workerHandlers(runs, files.link)],
    drain: dispatch.drain,
  };
};
