import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import { defaultProfile, profileTexts } from "../core/tasks/profile.ts";
import { type Price, type PriceTable, perCredit } from "../core/usage/price.ts";
import type { AgentProfilePricesSchema } from "../gen/proto/agent/v2/agent_profile_pb.ts";
import type { AgentProfileService } from "../gen/proto/agent/v2/agent_profile_service_pb.ts";

/** agentProfile.list (spec/api.md 8.46). */
export const agentProfileHandlers = (prices: PriceTable): Handlers<typeof AgentProfileService> => ({
  async listAgentProfiles() {
    return { data: profileTexts.map((text) => ({ ...text, isDefault: text.id === defaultProfile, ...pricesIn(prices[text.id]) })) };
  },
});

const pricesIn = (price: Price | undefined) => (price ? { prices: toPrices(price) } : {});

/** Prices as the operator writes them: tokens by the thousand, in credits. */
const toPrices = ({ inputToken, outputToken, toolCall, turn }: Price): MessageInitShape<typeof AgentProfilePricesSchema> => ({
  input: (inputToken * 1000) / perCredit,
  output: (outputToken * 1000) / perCredit,
  toolCall: toolCall / perCredit,
  turn: turn / perCredit,
});
