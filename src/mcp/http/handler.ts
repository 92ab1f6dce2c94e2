import { createMcpHandler } from "@modelcontextprotocol/server";
import { mcpServer } from "../server.ts";
import type { ServerParts } from "../server-parts.ts";
import { toolsOf } from "../tools/selection.ts";

/** What one request brings: everything of a server but its tools, which a selection names. */
export interface DoorParts extends Omit<ServerParts, "listTools"> {
  /** The selection of tools; null for the usual ones. */
  readonly selection: string | null;
}

/**
 * Answers one request of a client of any revision of the protocol. No session is kept: the client's capabilities come with
 * each request since 2026-07-28, and are unknown in requests of earlier revisions.
 */
export const answerMcp = (request: Request, message: unknown, parts: DoorParts): Promise<Response> =>
  answerWith(request, message, { ...parts, listTools: toolsOf(parts.operations, parts.selection) });

/** The same for any tools. */
export const answerWith = (request: Request, message: unknown, parts: ServerParts): Promise<Response> =>
  createMcpHandler(() => mcpServer(parts), { maxSubscriptions: 0 }).fetch(request, { parsedBody: message });
