import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FetchMode } from "../core/tasks/fetch-policy.ts";
import type { AgentProfile, AgentProfiles } from "../core/tasks/profile-settings.ts";
import { type Price, type PriceTable, perCredit } from "../core/usage/price.ts";
import type { AgentProfilePricesSchema, AgentProfileSchema } from "../gen/proto/agent/v2/agent_profile_pb.ts";
import { AgentProfileService } from "../gen/proto/agent/v2/agent_profile_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { editedRules, toRules } from "./permissions.ts";

/** agentProfile.* (spec/api.md 8.46, 8.78). */
export function agentProfileHandlers(profiles: AgentProfiles, prices: PriceTable) {
  const toMessage = ({
    concurrency,
    timeLimit,
    labels,
    fetch,
    permissions,
    ...profile
  }: AgentProfile): MessageInitShape<typeof AgentProfileSchema> => ({
    ...profile,
    ...(concurrency === null ? {} : { concurrency }),
    ...(timeLimit === null ? {} : { timeLimitSeconds: timeLimit }),
    labels: [...labels],
    permissions: toRules(permissions),
    ...(fetch && { fetch: { mode: fetch.mode, hosts: [...fetch.hosts] } }),
    ...pricesIn(prices[profile.id]),
  });
  return implement(AgentProfileService, {
    async listAgentProfiles(tx, caller) {
      return { data: (await profiles.list(tx, caller)).map(toMessage) };
    },
    async updateAgentProfile(
      tx,
      caller,
      { agentProfile, title, description, concurrency, timeLimitSeconds, fetch, ...rules },
    ) {
      const edit = {
        ...(title === undefined ? {} : { title: title || null }),
        ...(description === undefined ? {} : { description: description || null }),
        ...(concurrency === undefined ? {} : { concurrency: concurrency || null }),
        ...(timeLimitSeconds === undefined ? {} : { timeLimit: timeLimitSeconds || null }),
        ...(fetch === undefined
          ? {}
          : // Safe cast: the field's rule has the modes.
            {
              fetch: (fetch.mode || null) as FetchMode | null,
              fetchHosts: fetch.hosts.length === 0 ? null : fetch.hosts,
            }),
        ...editedRules(rules),
      };
      return { agentProfile: toMessage(await profiles.update(tx, caller, agentProfile, edit)) };
    },
  });
}

const pricesIn = (price: Price | undefined) => (price ? { prices: toPrices(price) } : {});

/** Prices as the operator writes them: tokens by the thousand, in credits. */
export const toPrices = ({
  inputToken,
  cachedInputToken = inputToken,
  cacheWriteToken = inputToken,
  outputToken,
  toolCall,
  turn,
}: Price): MessageInitShape<typeof AgentProfilePricesSchema> => ({
  input: byThousand(inputToken),
  output: byThousand(outputToken),
  toolCall: toolCall / perCredit,
  turn: turn / perCredit,
  ...(cachedInputToken === inputToken ? {} : { cachedInput: byThousand(cachedInputToken) }),
  ...(cacheWriteToken === inputToken ? {} : { cacheWrite: byThousand(cacheWriteToken) }),
});

const byThousand = (token: number): number => (token * 1000) / perCredit;
