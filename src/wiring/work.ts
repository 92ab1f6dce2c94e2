import type { Config } from "../config.ts";
import { deployer } from "../core/websites/deploy.ts";
import { siteSaver } from "../core/websites/save.ts";
import { type SenderParts, startSender } from "../delivery/sender.ts";
import { embeddedQueue } from "../jobs/embedded.ts";
import type { Queue } from "../jobs/queue.ts";
import { mailer } from "../mail/mailer.ts";
import { webhookOffMail } from "../mail/webhook-off.ts";
import type { Agent } from "../runtime/agent.ts";
import { offlineAgent } from "../runtime/agents/offline/offline.ts";
import { openLease } from "../runtime/lease.ts";
import { startRuns } from "../runtime/runs.ts";
import type { FileParts } from "./files.ts";
import type { Ground } from "./ground.ts";
import type { Sending } from "./sending.ts";

/** Agents by the name that AGENT_PROFILES gives them. */
const agents: Readonly<Record<Config["agentProfiles"][string], Agent>> = { offline: offlineAgent };

/** Runs tasks and makes deliveries in this process; the answer gives them back. */
export async function startWork(
  ground: Ground,
  { staging, readFile }: FileParts,
  { send }: Pick<Sending, "send">,
): Promise<() => Promise<void>> {
  const { config, store, cipher, clock, ids, random, log } = ground;
  const agentFor = (profile: string): Agent => agents[config.agentProfiles[profile] ?? "offline"];
  const lease = await openLease(store, clock, ids, config.database === "sqlite");
  const saveSite = siteSaver({ clock, ids, random });
  const runs = startRuns({
    store,
    clock,
    ids,
    cipher,
    log,
    lease,
    staging,
    readFile,
    saveSite,
    concurrency: config.runConcurrency,
    agentFor,
  });
  const sender = startSender({ store, clock, random, log, send, notify: notifier(config) });
  const queue = await openQueue(ground);
  // Whoever has no room looks for itself when a run ends, or an attempt.
  await queue.subscribe("run", runs.wake, () => runs.size() < config.runConcurrency);
  await queue.subscribe("deliver", async () => sender.wake(), sender.hasRoom);
  const deploy = deployer(store, clock);
  await queue.subscribe("publish", async (sites) => {
    for (const { key } of sites) await deploy(key);
  });
  return async () => {
    await queue.drain();
    await Promise.all([runs.drain(), sender.drain(config.drainSeconds * 1000)]);
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
