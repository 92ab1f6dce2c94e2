import { createMcpHandler } from "@modelcontextprotocol/server";
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Rights } from "../../../pipeline/access.ts";
import { mcpServer } from "../server.ts";
import type { ServerParts } from "../server-parts.ts";
import { scopesFor, selectTools } from "../tools/selection.ts";

/** What one request brings: everything of a server but its tools, which a selection names. */
export interface EntranceParts extends Omit<ServerParts, "listTools"> {
  /** The selection of tools; null for the usual ones. */
  readonly selection: string | null;
}

/**
 * Answers one request of a client of any revision of the protocol. No session is kept: the client's
 * capabilities come with each request since 2026-07-28, and are unknown in requests of earlier revisions.
 */
export const answerMcp = (request: Request, message: object, parts: EntranceParts): Promise<Response> =>
  answerWith(request, message, {
    ...parts,
    listTools: async (client) => selectTools(parts.selection, await client.rights()),
  });

/**
 * The scopes of which the caller's token needs one for the tool that a message calls; null if the message is
 * not refused for it.
 */
export function scopesNeeded({ method, params }: JsonObject, caller: Rights): readonly string[] | null {
  const { name } = method === "tools/call" && isObject(params) ? params : {};
  return typeof name === "string" ? scopesFor(name, caller) : null;
}

/** The same for any tools. */
export const answerWith = (request: Request, message: object, parts: ServerParts): Promise<Response> =>
  createMcpHandler(() => mcpServer(parts), { maxSubscriptions: 0 }).fetch(request, { parsedBody: message });
