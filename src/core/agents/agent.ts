import type { Scope } from "../caller.ts";

/** Somebody to talk to, with a main task that goes on and on (contract/v2.md 7.9, 9.11). */
export interface Agent {
  /** A UUID. */
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The main task. */
  readonly taskId: string;
  readonly nickname: string;
  readonly about: string;
  /** An account has one such in each of its spaces. */
  readonly isDefault: boolean;
  readonly createdAt: number;
}

/** Stands for the default agent where an agent's id is taken (contract/v2.md 6). */
export const defaultAgent = "agent-default";
/** Stands for the default agent's main task where a task's id is taken (contract/v2.md 6). */
export const defaultMainTask = "agent-default-main_task";

/** What may be changed; absent stays as it is. */
export type AgentEdit = Partial<Pick<Agent, "nickname" | "about">>;

/** Whose agents. */
type Owner = Pick<Scope, "accountId" | "spaceId">;

export interface AgentRows {
  insert(agent: Agent): Promise<void>;
  /** Those of an account in a space, the default one first. */
  list(scope: Owner): Promise<readonly Agent[]>;
  /** The one of this id, or that `agent-default` stands for. */
  find(scope: Owner, id: string): Promise<Agent | null>;
  /** What it is then; null when there is none. */
  update(scope: Owner, id: string, edit: AgentEdit): Promise<Agent | null>;
  /** Up to `max` accounts in a space of theirs that have no default agent there. */
  lacking(max: number): Promise<readonly Scope[]>;
}
