import { CLIENT_CAPABILITIES_META_KEY, ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "@modelcontextprotocol/server";
import type { Json } from "../shared/operations.ts";
import { listParams, result } from "./params.ts";
import { addPrompts } from "./prompts.ts";
import { addResources } from "./resources.ts";
import { errorResult, protocolErrors } from "./results.ts";
import { type ServerParts, signalOf } from "./server-parts.ts";
import { addTasks, tasksExtension } from "./tasks.ts";
import type { Resumed, Use } from "./tools/tool.ts";

const instructions =
  "Tasks are work that autonomous agents do. task_create starts one and waits for its result. A task can stop with a question, which task_answer answers, or with an action that only a person can approve.";

/** A server for one request over HTTP, or for one connection over stdio. It holds no policy: every call is an operation. */
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
  server.setRequestHandler("tools/list", { params: listParams, result }, async (_, { mcpReq }) => {
    const tools = await protocolErrors(() => parts.listTools(signalOf(parts, mcpReq.signal)));
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
    const use = useOf(parts, server, context);
    const tool = (await protocolErrors(() => parts.listTools(use.signal))).find(({ name }) => name === params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool ${params.name.slice(0, 64)}`);
    try {
      return { ...(await tool.run(params.arguments ?? {}, use)) };
    } catch (thrown) {
      return { ...errorResult(thrown) };
    }
  });
  addResources(server, parts);
  addPrompts(server, parts);
  addTasks(server, parts);
  return server;
}

/** The SDK would answer an `initialize` that does not fit with an internal error, which has the text of an exception. */
class PlatformServer extends Server {
  protected override _wrapHandler(...[method, handler]: Parameters<Server["_wrapHandler"]>): ReturnType<Server["_wrapHandler"]> {
    const handle = super._wrapHandler(method, handler);
    if (method !== "initialize") return handle;
    return async (request, context) => {
      try {
        return await handle(request, context);
      } catch (thrown) {
        if (thrown instanceof ProtocolError) throw thrown;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, "initialize needs protocolVersion, capabilities and clientInfo");
      }
    };
  }
}

function useOf(parts: ServerParts, server: Server, { mcpReq }: ServerContext): Use {
  const { operations, places, sleep } = parts;
  const capabilities = capabilitiesOf(server, mcpReq.envelope);
  const token = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    ...{ operations, sleep, signal: signalOf(parts, mcpReq.signal) },
    ...{ canAsk: showsForms(capabilities["elicitation"]), takesTasks: takesTasks(capabilities) },
    responses: mcpReq.inputResponses,
    resumed: mcpReq.inputResponses && mcpReq.requestState<Resumed>(),
    seal: places.seal,
    async report(message) {
      progress += 1;
      if (token === undefined) return;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress, message } });
    },
  };
}

/** The client's capabilities: since 2026-07-28 each request has them, before that only the first one of a connection. */
const capabilitiesOf = (server: Server, envelope: Json | undefined): Json =>
  (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}) as Json;

/** Without modes, a client shows forms. */
const showsForms = (elicitation: unknown): boolean =>
  typeof elicitation === "object" && elicitation !== null && ("form" in elicitation || Object.keys(elicitation).length === 0);

const takesTasks = ({ extensions }: Json): boolean => typeof extensions === "object" && extensions !== null && tasksExtension in extensions;

function opened({ open }: ServerParts["places"], text: string): Resumed {
  const place = open(text);
  if (place === null) throw new Error("forged or expired");
  return place;
}
