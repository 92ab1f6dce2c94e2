import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isObject, type JsonObject } from "../../core/json.ts";
import { PlatformServer } from "./initialize.ts";
import { listParams, result } from "./params.ts";
import { addPrompts } from "./prompts.ts";
import { addResources } from "./resources.ts";
import { errorResult, protocolErrors } from "./results.ts";
import { clientFor, type ServerParts } from "./server-parts.ts";
import { addTasks, tasksExtension } from "./tasks.ts";
import type { Resumed, Use } from "./tools/tool.ts";

const instructions =
  "Tasks are work that autonomous agents do. task_create starts one and waits for its result. A task can stop with a question, which task_answer answers, or with an action that only a person can approve.";

/**
 * A server for one request over HTTP, or for one connection over stdio. It holds no policy: every call is an
 * operation.
 */
export function mcpServer(parts: ServerParts): Server {
  const { version, places } = parts;
  const server = new PlatformServer(
    { name: "agent-task-platform", title: "Agent Task Platform", version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, extensions: { [tasksExtension]: {} } },
      instructions,
      requestState: { verify: (text) => opened(places, text) },
    },
  );
  server.setRequestHandler("tools/list", { params: listParams, result }, async (_, context) => {
    const tools = await protocolErrors(() => parts.listTools(clientFor(parts, context)));
    return {
      tools: tools.map(({ name, title, description, inputSchema, annotations }) => ({
        name,
        title,
        description,
        inputSchema,
        annotations,
      })),
    };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const client = clientFor(parts, context);
    const tool = (await protocolErrors(() => parts.listTools(client))).find(
      ({ name }) => name === params.name,
    );
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool ${params.name.slice(0, 64)}`);
    try {
      return { ...(await tool.run(client, params.arguments ?? {}, useOf(parts, server, context))) };
    } catch (thrown) {
      return { ...errorResult(thrown) };
    }
  });
  addResources(server, parts);
  addPrompts(server, parts);
  addTasks(server, parts);
  return server;
}

function useOf({ places, sleep }: ServerParts, server: Server, { mcpReq }: ServerContext): Use {
  const { elicitation, extensions } = capabilitiesOf(server, mcpReq.envelope);
  const token = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    sleep,
    seal: places.seal,
    // Without modes, a client shows forms.
    canAsk: isObject(elicitation) && ("form" in elicitation || Object.keys(elicitation).length === 0),
    takesTasks: isObject(extensions) && tasksExtension in extensions,
    responses: mcpReq.inputResponses,
    resumed: mcpReq.inputResponses && mcpReq.requestState<Resumed>(),
    async report(message) {
      progress += 1;
      if (token === undefined) return;
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: token, progress, message },
      });
    },
  };
}

/**
 * The client's capabilities: since 2026-07-28 each request has them, before that only the first one of a
 * connection.
 */
function capabilitiesOf(server: Server, envelope: ServerContext["mcpReq"]["envelope"]): JsonObject {
  const { [CLIENT_CAPABILITIES_META_KEY]: sent } = isObject(envelope) ? envelope : {};
  const capabilities: unknown = sent ?? server.getClientCapabilities();
  return isObject(capabilities) ? capabilities : {};
}

function opened({ open }: ServerParts["places"], text: string): Resumed {
  const place = open(text);
  if (place === null) throw new Error("forged or expired");
  return place;
}
