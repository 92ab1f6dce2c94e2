import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

/** A server of the Model Context Protocol over standard input and output, for tests. */
const mcp = new McpServer({ name: "local", version: "1" });
mcp.registerTool("environment", { description: "Names what it finds around it." }, async () => ({
  content: [{ type: "text", text: JSON.stringify(Object.keys(process.env)) }],
}));
await mcp.connect(new StdioServerTransport());
