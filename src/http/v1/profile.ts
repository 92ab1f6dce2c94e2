import { z } from "zod";

/** The oldest spelling of a profile (contract/v1.md 4.1, 4.6), in the words of today. */
const spellings: Readonly<Record<string, string>> = { speed: "lite", quality: "standard" };

/** The members of a request that name a profile. */
export const profileFields = { agent_profile: z.string().optional(), mode: z.enum(["speed", "quality"]).optional() };

/** The profile asked for, in any spelling that v2 takes too; `mode` counts where nothing else is said. */
export function profileIn({ agent_profile, mode }: { readonly agent_profile?: string | undefined; readonly mode?: string | undefined }) {
  const asked = agent_profile || mode;
  return asked === undefined ? {} : { agentProfile: spellings[asked] ?? asked };
}
