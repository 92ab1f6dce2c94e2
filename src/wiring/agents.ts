import { isModelAgent, modelNamed } from "../config/agent-profiles.ts";
import type { Agent } from "../runtime/agent.ts";
import type { ToolsFor } from "../runtime/agents/model/tool.ts";
import { offlineAgent } from "../runtime/agents/offline/offline.ts";
import type { Ground } from "./ground.ts";

/** The agent behind each profile, by AGENT_PROFILES; a profile that is not named there has the offline agent. */
export async function agentsOf(ground: Ground, toolsFor: ToolsFor): Promise<(profile: string) => Agent> {
  const { agentProfiles } = ground.config;
  const models = await modelAgents(ground, toolsFor);
  return (profile) => {
    const name = agentProfiles[profile] ?? "offline";
    return (isModelAgent(name) ? models.get(modelNamed(name)) : undefined) ?? offlineAgent;
  };
}

/** The SDKs of models are loaded only where there is one. */
async function modelAgents({ config, random, log }: Ground, toolsFor: ToolsFor): Promise<ReadonlyMap<string, Agent>> {
  const models = Object.entries(config.models);
  if (models.length === 0) return new Map();
  const [{ modelAgent }, { languageModel }] = await Promise.all([
    import("../runtime/agents/model/model.ts"),
    import("../runtime/agents/model/provider.ts"),
  ]);
  const agentOf = (of: (typeof models)[number][1]): Agent => modelAgent({ config: of, model: languageModel(of), toolsFor, random, log });
  return new Map(models.map(([name, model]) => [name, agentOf(model)]));
}
