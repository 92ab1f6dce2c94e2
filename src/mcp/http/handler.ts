import { createMcpHandler } from "@modelcontextprotocol/server";
import { mcpServer, type ServerParts } from "../server.ts";

/**
 * Answers one request of a client of any revision of the protocol. No session is kept: the client's capabilities come with
 * each request since 2026-07-28, and are unknown in requests of earlier revisions.
 */
export const answerMcp = (request: Request, message: unknown, parts: ServerParts): Promise<Response> =>
  createMcpHandler(() => mcpServer(parts), { maxSubscriptions: 0 }).fetch(request, { parsedBody: message });
