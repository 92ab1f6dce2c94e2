import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { openWeb, type Web } from "./world.ts";

/** A tool of a server; its inputs are texts. */
export interface McpTool {
  readonly description: string;
  readonly inputs: readonly string[];
  readonly use: (input: Readonly<Record<string, string>>) => string | Promise<string>;
}

/** A server of the Model Context Protocol on loopback, and the calls of its tools. */
export interface Mcp extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly { readonly tool: string; readonly input: Readonly<Record<string, string>> }[];
}

/** Opens a server with these tools. */
export async function openMcp(name: string, tools: Readonly<Record<string, McpTool>>): Promise<Mcp> {
  const calls: { tool: string; input: Record<string, string> }[] = [];
  const create = () => {
    const server = new McpServer({ name, version: "1" });
    for (const [tool, { description, inputs, use }] of Object.entries(tools)) {
      const inputSchema = z.object(Object.fromEntries(inputs.map((input) => [input, z.string()])));
      server.registerTool(tool, { description, inputSchema }, async (input) => {
        calls.push({ tool, input });
        return { content: [{ type: "text", text: await use(input) }] };
      });
    }
    return server;
  };
  const web: Web = await openWeb(async ({ method, path, headers, body }) => {
    const isPost = method === "POST";
    const request = new Request(`${web.url}${path}`, { method, headers, ...(isPost ? { body: "{}" } : {}) });
    const parsed = isPost ? { parsedBody: JSON.parse(body.toString()) } : {};
    const answer = await createMcpHandler(create).fetch(request, parsed);
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    };
  });
  return { url: `${web.url}/mcp`, calls, [Symbol.asyncDispose]: () => web[Symbol.asyncDispose]() };
}
