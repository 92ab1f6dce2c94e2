import { createSaveSite } from "../core/websites/save.ts";
import { connectorTools } from "../runtime/agents/model/connector-tool.ts";
import { browserTools } from "../runtime/agents/model/tools/browser.ts";
import { subtaskTools } from "../runtime/agents/model/tools/subtasks.ts";
import { type Lease, openLease, type StartCheck } from "../runtime/lease.ts";
import { type Runs, startRuns } from "../runtime/runs.ts";
import { startWakes } from "../runtime/wakes.ts";
import { createAgents } from "./agents.ts";
import type { ProcessContext } from "./process-context.ts";
import { configuredProfiles, remoteProfiles } from "./profiles.ts";
import type { Shared } from "./shared.ts";

interface RunningTasks {
  readonly lease: Lease;
  readonly runs: Runs;
  /** Ends the look for tasks that other processes wake. */
  readonly stopWakes: () => Promise<void>;
}

/**
 * Starts to run tasks in this process.
 *
 * @param processId the id of this process's row of keys.
 * @throws the error of `check`; nothing runs then.
 */
export async function startTasks(
  context: ProcessContext,
  { files, connectors, browsers, texts, models }: Shared,
  { check, processId }: { check: StartCheck | undefined; processId: string },
): Promise<RunningTasks> {
  const { config, store, clock, ids, log } = context;
  const inBrowser = browserTools(async (taskId) => {
    const [task, resources] = [await store.tasks.byId(taskId), await store.taskResources.find(taskId)];
    if (!task || !resources?.browserId) return null;
    return { browserId: resources.browserId, connection: browsers.find(task, resources.browserId) };
  });
  const otherTools = [connectorTools(connectors.uses), subtaskTools(configuredProfiles(config)), inBrowser];
  const agentFor = await createAgents(context, models, otherTools);
  const lease = await openLease(store, clock, ids, config.database === "sqlite", check, processId);
  browsers.serve(lease.nodeId);
  const runs = startRuns({
    ...context,
    ...files,
    lease,
    agentFor,
    texts,
    saveSite: createSaveSite(context),
    excludedProfiles: remoteProfiles(config),
    permissions: config.permissions,
    prices: models.prices,
    budgetStep: config.budgetStep,
    concurrency: config.runConcurrency,
  });
  return { lease, runs, stopWakes: startWakes({ feed: store.feed, clock, log, runs, lease }) };
}
