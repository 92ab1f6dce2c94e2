import type { Caller, Scope } from "../accounts/caller.ts";
import { invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { idleTask } from "../tasks/lifecycle.ts";
import { defaultProfile } from "../tasks/profile.ts";

interface CreationParts {
  readonly now: number;
  readonly ids: Ids;
}

/** Accounts per query. */
const batchMax = 100;

/** Also creates its main task, which has no events. */
export async function makeDefaultAgent(
  tx: Tx,
  { now, ids }: CreationParts,
  { accountId, spaceId }: Scope,
): Promise<void> {
  const agent = { id: ids.uuid(), taskId: ids.short(), accountId, spaceId };
  const task = {
    ...idleTask(agent.taskId, agent, now),
    agentId: agent.id,
    title: "Main task",
    agentProfile: defaultProfile,
  };
  await tx.tasks.insert(task, []);
  await tx.agents.insert({ ...agent, nickname: "Agent", about: "", isDefault: true, createdAt: now });
}

/**
 * Creates the default agent of every account that has none: accounts of an earlier release, and the first
 * account.
 */
export async function ensureDefaultAgents(tx: Tx, parts: CreationParts): Promise<void> {
  for (;;) {
    const scopes = await tx.agents.withoutDefault(batchMax);
    for (const scope of scopes) await makeDefaultAgent(tx, parts, scope);
    if (scopes.length < batchMax) return;
  }
}

/** An agent of an account, with a main task that never ends (spec/api.md 7.9, 9.11). */
export interface Agent {
  /** A UUID. */
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly taskId: string;
  readonly nickname: string;
  readonly about: string;
  /** An account has one default agent in each of its spaces. */
  readonly isDefault: boolean;
  readonly createdAt: number;
}

/** The alias of the default agent, accepted as an agent's id (spec/api.md 6). */
export const defaultAgent = "agent-default";
/** The alias of the default agent's main task, accepted as a task's id (spec/api.md 6). */
export const defaultMainTask = "agent-default-main_task";

/** The members that may be changed; absent ones stay as they are. */
export type AgentEdit = Partial<Pick<Agent, "nickname" | "about">>;

type Owner = Pick<Scope, "accountId" | "spaceId">;

export interface AgentRows {
  insert(agent: Agent): Promise<void>;
  /** The default one first. */
  list(scope: Owner): Promise<readonly Agent[]>;
  /** The agent with this id, or the default one for `agent-default`. */
  find(scope: Owner, id: string): Promise<Agent | null>;
  /** Returns the changed agent; null when there is none. */
  update(scope: Owner, id: string, edit: AgentEdit): Promise<Agent | null>;
  /** Up to `max` pairs of account and space without a default agent. */
  withoutDefault(max: number): Promise<readonly Scope[]>;
}

/** Agents of a caller (spec/api.md 8.21 to 8.23); `agent-default` is accepted as an id. */
export interface Agents {
  /** The default agent always exists and is first. */
  list(tx: Tx, caller: Caller): Promise<readonly Agent[]>;
  /** @throws Failure `not_found`. */
  get(tx: Tx, caller: Caller, id: string): Promise<Agent>;
  /** @throws Failure `not_found`, or `invalid_argument` for an empty edit (spec/api.md 14.5). */
  update(tx: Tx, caller: Caller, id: string, edit: AgentEdit): Promise<Agent>;
}

export const agents: Agents = {
  list: (tx, caller) => tx.agents.list(caller),
  async get(tx, caller, id) {
    return requireAgent(await tx.agents.find(caller, id));
  },
  async update(tx, caller, id, edit) {
    if (Object.keys(edit).length === 0) throw invalidArgument("", "nickname or about is required");
    const before = requireAgent(await tx.agents.find(caller, id));
    const after = requireAgent(await tx.agents.update(caller, before.id, edit));
    const { nickname } = after;
    tx.audit.note({
      subject: after.id,
      before: { nickname: before.nickname },
      after: { nickname, described: edit.about !== undefined },
    });
    return after;
  },
};

function requireAgent(agent: Agent | null): Agent {
  if (!agent) throw notFound("agent");
  return agent;
}
