import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Agent, AgentEdit, Agents } from "../core/agents/agent.ts";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import type { AgentSchema } from "../gen/proto/agent/v2/agent_pb.ts";
import { AgentService, type UpdateAgentRequest } from "../gen/proto/agent/v2/agent_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";

export const toAgent = ({ id, taskId, nickname, about }: Agent): MessageInitShape<typeof AgentSchema> => ({
  id,
  taskId,
  nickname,
  about,
});

/** agent.list, agent.detail and agent.update (spec/api.md 8.21 to 8.23). */
export function agentHandlers(agents: Agents) {
  return implement(AgentService, {
    async listAgents(tx, caller) {
      return { data: (await agents.list(tx, caller)).map(toAgent) };
    },
    async getAgent(tx, caller, { agentId }) {
      return { agent: toAgent(await agents.get(tx, caller, agentId)) };
    },
    async updateAgent(tx, caller, request) {
      return { agent: toAgent(await agents.update(tx, caller, request.agentId, edit(request))) };
    },
  });
}

function edit({ nickname, about }: UpdateAgentRequest): AgentEdit {
  return {
    ...(nickname === undefined ? {} : { nickname: nicknameIn(nickname) }),
    ...defined({ about }),
  };
}

/** The nickname must not be empty, so that the agent can be identified; `about` may be empty. */
function nicknameIn(text: string): string {
  const nickname = text.trim();
  if (nickname === "") throw invalidArgument("nickname", "must not be empty");
  return nickname;
}
