import type { ProtocolRoutes } from "../http/unrouted.ts";
import { type AgUiParts, agUiRoutes } from "../protocols/agui/http/route.ts";
import type { FileParts } from "./file-parts.ts";
import type { McpCalls } from "./mcp.ts";
import type { ProcessContext } from "./process-context.ts";

/** The protocol of front ends of the Agent-User Interaction protocol. */
export function createAgUiRoutes(
  context: ProcessContext,
  { uploads, blobs }: FileParts,
  calls: McpCalls,
): ProtocolRoutes {
  const { config, store, clock } = context;
  const parts: AgUiParts = { ...calls, store, clock, uploads, blobs, bodyLimit: config.bodyLimit };
  return (app) => agUiRoutes(app, parts);
}
