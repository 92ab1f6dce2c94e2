import type { OAuthApp } from "./app.ts";

/**
 * The address of the MCP server: the resource that its access tokens are for (RFC 8707, spec/oauth.md 15).
 */
export const mcpResource = (issuer: string): string => `${issuer}/mcp`;

/** A protected resource: the address of the MCP server, or null for the API itself. */
export type Resource = string | null;

/**
 * The resource that a `resource` parameter names; undefined for an unknown one.
 *
 * @param issuer the installation's base URL, which is the API's address. A slash at its end makes no
 * difference: URL parsers add it.
 */
export function parseResource(text: string, issuer: string): Resource | undefined {
  if (text === mcpResource(issuer)) return text;
  return text === issuer || text === `${issuer}/` ? null : undefined;
}

/**
 * The resource of an authorization; undefined if the app may not have it. An unverified client has the MCP
 * address only.
 */
export function resourceOf(
  { verified }: Pick<OAuthApp, "verified">,
  requested: string | null,
  issuer: string,
): Resource | undefined {
  const resource =
    requested === null ? (verified ? null : mcpResource(issuer)) : parseResource(requested, issuer);
  return resource === null && !verified ? undefined : resource;
}
