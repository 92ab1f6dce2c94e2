import type { Config } from "../config.ts";
import { embeddedQueue } from "../jobs/embedded.ts";
import type { Queue } from "../jobs/queue.ts";
import type { Agent } from "../runtime/agent.ts";
import { offlineAgent } from "../runtime/agents/offline/offline.ts";
import { openLease } from "../runtime/lease.ts";
import { startRuns } from "../runtime/runs.ts";
import type { FileParts } from "./files.ts";
import type { Ground } from "./ground.ts";

/** Agents by the name that AGENT_PROFILES gives them. */
const agents: Readonly<Record<Config["agentProfiles"][string], Agent>> = { offline: offlineAgent };

/** Runs tasks in this process; the answer gives them back. */
export async function startWork(ground: Ground, { staging, readFile }: FileParts): Promise<() => Promise<void>> {
  const { config, store, cipher, clock, ids, log } = ground;
  const agentFor = (profile: string): Agent => agents[config.agentProfiles[profile] ?? "offline"];
  const lease = await openLease(store, clock, ids, config.database === "sqlite");
  const runs = startRuns({ store, clock, ids, cipher, log, lease, staging, readFile, concurrency: config.runConcurrency, agentFor });
  const queue = await openQueue(ground);
  // Whoever has no room looks for itself when a run ends.
  await queue.subscribe("run", runs.wake, () => runs.size() < config.runConcurrency);
  return async () => {
    await queue.drain();
    await runs.drain();
  };
}

/** pg-boss is loaded only where it is wanted. */
async function openQueue({ config: { database, databaseUrl }, store, clock, log }: Ground): Promise<Queue> {
  if (database === "sqlite") return embeddedQueue(store, clock, log);
  return (await import("../jobs/postgres.ts")).postgresQueue(databaseUrl, store.feed, log);
}
