import { z } from "zod";

/** Agents that a profile can name in addition to models. */
const agentNames = ["offline", "remote"] as const;
/**
 * An agent as AGENT_PROFILES names it; `model:NAME` uses a model of MODELS_FILE, `a2a:NAME` an agent of
 * A2A_AGENTS_FILE, `remote` is a polling worker.
 */
export type AgentName = (typeof agentNames)[number] | ModelAgentName | A2aAgentName;
type ModelAgentName = `model:${string}`;
type A2aAgentName = `a2a:${string}`;

/** The rule of `agentProfiles` for messages and documentation. */
export const agentProfilesRule = `profile=agent pairs separated by commas, each profile once, the agent one of: ${agentNames.join(", ")}, model:NAME, a2a:NAME; remote may be followed by ;labels= and labels separated by +`;

/** Whether an agent uses a model. */
export const isModelAgent = (text: string): text is ModelAgentName =>
  /^model:[a-z][a-z0-9-]{0,62}$/.test(text);

export const modelName = (agent: ModelAgentName): string => agent.slice("model:".length);

/** Whether an agent is one of another system. */
export const isA2aAgent = (text: string): text is A2aAgentName => /^a2a:[a-z][a-z0-9-]{0,62}$/.test(text);

export const a2aName = (agent: A2aAgentName): string => agent.slice("a2a:".length);

const isAgent = (text: string): text is AgentName =>
  isModelAgent(text) || isA2aAgent(text) || agentNames.some((name) => name === text);
const name = "[a-z0-9][a-z0-9.-]{0,62}";
const pair = new RegExp(
  `^(?<profile>${name})=(?<agent>[a-z][a-z0-9:-]{0,99})(?:;labels=(?<labels>${name}(?:\\+${name}){0,19}))?$`,
);

export interface ProfileAgent {
  readonly agent: AgentName;
  /** The labels that a worker needs for its tasks, sorted; only for `remote`. */
  readonly labels: readonly string[];
}

/** Agents by profile name, for instance `manus-1.6=offline` or `train=remote;labels=gpu+eu`. */
export const agentProfiles: z.ZodType<Readonly<Record<string, ProfileAgent>>, string> = z
  .string()
  .transform((text, context) => {
    const agents = new Map<string, ProfileAgent>();
    for (const part of text.split(",")) {
      const { profile = "", agent = "", labels } = pair.exec(part.trim())?.groups ?? {};
      if (!isAgent(agent) || agents.has(profile) || (labels !== undefined && agent !== "remote")) {
        context.addIssue("not a profile");
        return z.NEVER;
      }
      agents.set(profile, { agent, labels: [...new Set(labels?.split("+"))].toSorted() });
    }
    return Object.fromEntries(agents);
  });
