import type { Config } from "../config/config.ts";
import { agents } from "../core/agents/agent.ts";
import { type Profiles, profilesOf } from "../core/tasks/profile.ts";
import { agentProfiles } from "../core/tasks/profile-settings.ts";
import { agentHandlers } from "../rpc/agent.ts";
import { agentProfileHandlers } from "../rpc/agent-profile.ts";
import { modelOf } from "./models.ts";
import type { CreateModule } from "./module.ts";

/** The profiles that tasks of this installation can have. */
export const configuredProfiles = ({ agentProfiles: configured }: Pick<Config, "agentProfiles">): Profiles =>
  profilesOf(Object.keys(configured));

export const remoteProfiles = ({
  agentProfiles: configured,
}: Pick<Config, "agentProfiles">): readonly string[] =>
  Object.entries(configured).flatMap(([profile, agent]) => (agent === "remote" ? [profile] : []));

export const createProfiles: CreateModule = ({ config, clock, models }) => {
  const settings = agentProfiles({
    clock,
    profiles: configuredProfiles(config),
    remoteProfiles: remoteProfiles(config),
    labels: config.profileLabels,
    entryOf: (profile) => modelOf(models, profile) ?? null,
  });
  return {
    handlers: [agentHandlers(agents), agentProfileHandlers(settings, models.prices)],
  };
};
