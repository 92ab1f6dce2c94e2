import { z } from "zod";

/** Agents that a profile can name. */
export const agentNames = ["offline", "remote"] as const;
export type AgentName = (typeof agentNames)[number];

/** The rule of `agentProfiles` in words. */
export const agentProfilesRule = `profile=agent pairs separated by commas, each profile once, the agent one of: ${agentNames.join(", ")}`;

const isAgent = (text: string): text is AgentName => agentNames.some((name) => name === text);
const pair = /^(?<profile>[a-z0-9][a-z0-9.-]{0,62})=(?<agent>[a-z][a-z0-9-]{0,62})$/;

/** Which agent works under which profile name, for instance `manus-1.6=offline`. */
export const agentProfiles: z.ZodType<Readonly<Record<string, AgentName>>, string> = z.string().transform((text, context) => {
  const agents = new Map<string, AgentName>();
  for (const part of text.split(",")) {
    const { profile = "", agent = "" } = pair.exec(part.trim())?.groups ?? {};
    if (!isAgent(agent) || agents.has(profile)) {
      context.addIssue("not a profile");
      return z.NEVER;
    }
    agents.set(profile, agent);
  }
  return Object.fromEntries(agents);
});
