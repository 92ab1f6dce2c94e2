import { version } from "../config/version.ts";
import type { ProtocolRoutes } from "../http/unrouted.ts";
import { type McpParts, mcpRoutes } from "../protocols/mcp/http/route.ts";
import type { FileParts } from "./file-parts.ts";
import type { ProcessContext } from "./process-context.ts";

/** What `/mcp` shares with the other wires. */
export type McpCalls = Pick<
  McpParts,
  "operations" | "admit" | "performer" | "readRequest" | "report" | "errorPages"
>;

/** The protocol of clients of the Model Context Protocol. */
export function createMcpRoutes(
  context: ProcessContext,
  { uploads, blobs }: FileParts,
  calls: McpCalls,
): ProtocolRoutes {
  const { config, store, cipher, clock } = context;
  const { baseUrl, consentUrl, appUrl, corsOrigins, bodyLimit } = config;
  const parts = {
    ...calls,
    corsOrigins,
    store,
    cipher,
    clock,
    uploads,
    blobs,
    bodyLimit,
    baseUrl,
    version,
    urls: [baseUrl, consentUrl, appUrl],
  };
  return (app) => mcpRoutes(app, parts);
}
