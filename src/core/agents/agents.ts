import type { Caller } from "../caller.ts";
import { absent, invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Agent, AgentEdit } from "./agent.ts";

/** Agents of a caller (contract/v2.md 8.21 to 8.23); `agent-default` is an id too. */
export interface Agents {
  /** The default one is always there, and first. */
  list(tx: Tx, caller: Caller): Promise<readonly Agent[]>;
  /** @throws Failure `absent`. */
  get(tx: Tx, caller: Caller, id: string): Promise<Agent>;
  /** @throws Failure `absent`, or `invalid` when nothing is to be changed (contract/v2.md 14.5). */
  update(tx: Tx, caller: Caller, id: string, edit: AgentEdit): Promise<Agent>;
}

export const agents: Agents = {
  list: (tx, caller) => tx.agents.list(caller),
  async get(tx, caller, id) {
    return present(await tx.agents.find(caller, id));
  },
  async update(tx, caller, id, edit) {
    if (Object.keys(edit).length === 0) throw invalid("", "give nickname, about or both");
    const before = present(await tx.agents.find(caller, id));
    const after = present(await tx.agents.update(caller, before.id, edit));
    const { nickname } = after;
    tx.audit.note({ subject: after.id, before: { nickname: before.nickname }, after: { nickname, described: edit.about !== undefined } });
    return after;
  },
};

function present(agent: Agent | null): Agent {
  if (!agent) throw absent("agent");
  return agent;
}
