import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/**
 * A server of the Model Context Protocol over standard input and output, for tests. It knows the revision
 * 2025-11-25 only.
 */
const mcp = new McpServer({ name: "local", version: "1" });
mcp.registerTool("environment", { description: "Names what it finds around it." }, async () => ({
  content: [{ type: "text", text: JSON.stringify(Object.keys(process.env)) }],
}));
const weather = z.object({ city: z.string(), humidity: z.number() });
mcp.registerTool(
  "weather",
  { inputSchema: z.object({ city: z.string() }), outputSchema: weather },
  async ({ city }) => ({
    content: [],
    structuredContent: { city, humidity: 40 },
  }),
);
mcp.registerTool("count", { inputSchema: z.object({ n: z.number() }) }, async ({ n }, { mcpReq }) => {
  for (let progress = 1; progress <= n; progress += 1)
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken: "not requested", progress },
    });
  return { content: [{ type: "text", text: String(n) }] };
});
await mcp.connect(new StdioServerTransport());
