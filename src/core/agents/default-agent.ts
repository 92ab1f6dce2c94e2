import type { Scope } from "../caller.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { restingTask } from "../tasks/new-task.ts";
import { defaultProfile } from "../tasks/profile.ts";

/** What new agents are made from. */
interface Making {
  readonly now: number;
  readonly ids: Ids;
}

/** Accounts that are given their agent in one go. */
const batchMax = 100;

/** Makes the default agent of an account in a space, and its main task, in which nothing has happened yet. */
export async function makeDefaultAgent(tx: Tx, { now, ids }: Making, { accountId, spaceId }: Scope): Promise<void> {
  const agent = { id: ids.uuid(), taskId: ids.short(), accountId, spaceId };
  const task = { ...restingTask(agent.taskId, agent, now), agentId: agent.id, title: "Main task", agentProfile: defaultProfile };
  await tx.tasks.insert(task, []);
  await tx.agents.insert({ ...agent, nickname: "Agent", about: "", isDefault: true, createdAt: now });
}

/** Gives a default agent to every account that has none: those of an earlier release, and the first one. */
export async function ensureDefaultAgents(tx: Tx, making: Making): Promise<void> {
  for (;;) {
    const lacking = await tx.agents.lacking(batchMax);
    for (const scope of lacking) await makeDefaultAgent(tx, making, scope);
    if (lacking.length < batchMax) return;
  }
}
