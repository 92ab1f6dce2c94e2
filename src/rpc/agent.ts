import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { Agent, AgentEdit } from "../core/agents/agent.ts";
import type { Agents } from "../core/agents/agents.ts";
import { invalid } from "../core/failure.ts";
import type { AgentSchema } from "../gen/proto/agent/v2/agent_pb.ts";
import type { AgentService, UpdateAgentRequest } from "../gen/proto/agent/v2/agent_service_pb.ts";

/** The agent as callers see it. */
const toMessage = ({ id, taskId, nickname, about }: Agent): MessageInitShape<typeof AgentSchema> => ({ id, taskId, nickname, about });

/** agent.list, agent.detail and agent.update (contract/v2.md 8.21 to 8.23). */
export function agentHandlers(agents: Agents): Handlers<typeof AgentService> {
  return {
    async listAgents(tx, caller) {
      return { data: (await agents.list(tx, caller)).map(toMessage) };
    },
    async getAgent(tx, caller, { agentId }) {
      return { agent: toMessage(await agents.get(tx, caller, agentId)) };
    },
    async updateAgent(tx, caller, request) {
      return { agent: toMessage(await agents.update(tx, caller, request.agentId, edit(request))) };
    },
  };
}

function edit({ nickname, about }: UpdateAgentRequest): AgentEdit {
  return {
    ...(nickname === undefined ? {} : { nickname: named(nickname) }),
    ...(about === undefined ? {} : { about }),
  };
}

/** An agent without a name could not be told from nothing; what it is for may be empty. */
function named(text: string): string {
  const nickname = text.trim();
  if (nickname === "") throw invalid("nickname", "must not be empty");
  return nickname;
}
