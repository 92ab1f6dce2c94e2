import { createMcpHandler } from "@modelcontextprotocol/server";
import { mcpServer } from "../server.ts";
import type { ServerParts } from "../server-parts.ts";
import { scopesFor, toolsOf } from "../tools/selection.ts";

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

/** The scopes of which the caller's token needs one for the tool that a message calls; null if the message is not refused for it. */
export async function scopesNeeded(message: unknown, { operations, gone }: DoorParts): Promise<readonly string[] | null> {
  const { method, params } = message as { readonly method?: unknown; readonly params?: { readonly name?: unknown } | null }; // A JSON object.
  if (method !== "tools/call" || typeof params?.name !== "string") return null;
  return scopesFor(params.name, await operations.caller(gone));
}

/** The same for any tools. */
export const answerWith = (request: Request, message: unknown, parts: ServerParts): Promise<Response> =>
  createMcpHandler(() => mcpServer(parts), { maxSubscriptions: 0 }).fetch(request, { parsedBody: message });
