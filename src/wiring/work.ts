import type { Config } from "../config.ts";
import type { AttachedBrowsers } from "../core/browsers/attached.ts";
import type { ConnectorUses } from "../core/connectors/use.ts";
import { deployer } from "../core/websites/deploy.ts";
import { siteSaver } from "../core/websites/save.ts";
import { type SenderParts, startSender } from "../delivery/sender.ts";
import { startExporter } from "../exporting/exporter.ts";
import { embeddedQueue } from "../jobs/embedded.ts";
import type { Queue } from "../jobs/queue.ts";
import { mailer } from "../mail/mailer.ts";
import { webhookOffMail } from "../mail/webhook-off.ts";
import { connectorTools } from "../runtime/agents/model/connector-tool.ts";
import { browserTools } from "../runtime/agents/model/tools/browser.ts";
import { subtaskTools } from "../runtime/agents/model/tools/subtasks.ts";
import { openLease, type StartCheck } from "../runtime/lease.ts";
import { startRuns } from "../runtime/runs.ts";
import { agentsOf } from "./agents.ts";
import { exportWriters } from "./export-writers.ts";
import type { FileParts } from "./files.ts";
import type { Ground } from "./ground.ts";
import type { Sending } from "./sending.ts";
import { toolsOf } from "./tools.ts";

/** The profiles whose tasks are left to remote workers. */
export const remoteProfiles = ({ agentProfiles }: Pick<Config, "agentProfiles">): readonly string[] =>
  Object.entries(agentProfiles).flatMap(([profile, agent]) => (agent === "remote" ? [profile] : []));

/** What runs share with the rest of the process. */
export interface WorkParts {
  readonly files: FileParts;
  readonly connectors: ConnectorUses;
  readonly sending: Pick<Sending, "send">;
  readonly browsers: AttachedBrowsers;
  /** Whether this process may run tasks. */
  readonly check: StartCheck | undefined;
}

/** The work of a process that runs tasks. */
export interface Work {
  /** Writes the address of this process where commands find it. */
  readonly announce: (address: string) => Promise<void>;
  /** Gives back what runs. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs tasks and makes deliveries in this process.
 *
 * @throws what `check` throws; then nothing runs.
 */
export async function startWork(ground: Ground, { files, connectors, sending: { send }, browsers, check }: WorkParts): Promise<Work> {
  const { config, store, cipher, clock, ids, random, log } = ground;
  const { staging, readFile, workspaceOf, openSkill } = files;
  const inBrowser = browserTools(async (taskId) => {
    const [task, means] = [await store.tasks.byId(taskId), await store.means.find(taskId)];
    return task && means?.browserId ? browsers.find(task, means.browserId) : null;
  });
  const agentFor = await agentsOf(ground, await toolsOf(ground, [connectorTools(connectors), subtaskTools, inBrowser]));
  const lease = await openLease(store, clock, ids, config.database === "sqlite", check);
  browsers.serve(lease.nodeId);
  const otherThan = remoteProfiles(config);
  const saveSite = siteSaver({ clock, ids, random });
  const runs = startRuns({
    ...{ store, clock, ids, cipher, log, lease, staging, readFile, workspaceOf, openSkill, saveSite, agentFor, otherThan },
    prices: config.prices,
    concurrency: config.runConcurrency,
  });
  const sender = startSender({ store, clock, random, log, send, notify: notifier(config) });
  const exporter = startExporter({ ...ground, ...files, writers: exportWriters });
  const queue = await openQueue(ground);
  // Whoever has no room looks for itself when a run ends, or an attempt.
  await queue.subscribe("run", runs.wake, () => runs.size() < config.runConcurrency);
  await queue.subscribe("deliver", async () => sender.wake(), sender.hasRoom);
  await queue.subscribe("export", exporter.wake, exporter.hasRoom);
  const deploy = deployer(store, clock);
  await queue.subscribe("publish", async (sites) => {
    for (const { key } of sites) await deploy(key);
  });
  return {
    announce: lease.announce,
    async stop() {
      await queue.drain();
      await Promise.all([runs.drain(), exporter.drain(), sender.drain(config.drainSeconds * 1000)]);
    },
  };
}

/** Owners are told by mail, where there is a mail server: whoever looks at the webhook is told the reason anyway. */
const notifier =
  ({ mail }: Config): SenderParts["notify"] =>
  async ({ email, url, reason }) => {
    if (mail !== null && email !== null) await mailer(mail)(webhookOffMail({ email, url, reason }));
  };

/** pg-boss is loaded only where it is wanted. */
async function openQueue({ config: { database, databaseUrl }, store, clock, log }: Ground): Promise<Queue> {
  if (database === "sqlite") return embeddedQueue(store, clock, log);
  return (await import("../jobs/postgres.ts")).postgresQueue(databaseUrl, store.feed, log);
}
