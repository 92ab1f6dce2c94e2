import type { CallerCredential } from "../../../core/accounts/caller.ts";
import { Failure } from "../../../core/failure.ts";
import { defaultScopes } from "../../../core/oauth/app.ts";
import { mcpMetadataUrl } from "../../../oauth/metadata.ts";
import type { RequestCredentials } from "../../../pipeline/credential.ts";

/**
 * The credentials of a request to the MCP address: an API key, or an access token whose audience is this
 * address. A session never counts. Identify the caller with these, then check the caller with
 * `checkMcpCredential`.
 *
 * @param resource the address, as `mcpResource` returns it.
 */
export const mcpCredentials = (
  { keys, bearer }: RequestCredentials,
  resource: string,
): RequestCredentials => ({
  keys,
  bearer,
  session: null,
  resource,
});

/**
 * Whether a caller may use the MCP address (spec/oauth.md 15.3).
 *
 * @throws Failure `permission_denied` for a session, a worker, an enterprise key, or a token for another
 * resource.
 */
export function checkMcpCredential(credential: CallerCredential, resource: string): void {
  const isAccepted =
    credential.kind === "key" ? credential.keyKind === "general" : isTokenFor(credential, resource);
  if (!isAccepted)
    throw new Failure(
      "permission_denied",
      "the MCP address takes a general API key or an access token for it",
    );
}

const isTokenFor = (credential: CallerCredential, resource: string): boolean =>
  credential.kind === "token" && credential.resource === resource;

/**
 * The `WWW-Authenticate` header of a refusal of the MCP address (RFC 9728 5.1, RFC 6750 3); null for a
 * refusal that needs none.
 *
 * @param scopes the scopes that the request needs; by default those that a client begins with.
 */
export function mcpChallenge(
  { reason }: Pick<Failure, "reason">,
  issuer: string,
  hasBearer: boolean,
  scopes: readonly string[] = defaultScopes({ verified: false, scopes: [] }),
): string | null {
  const error = reason === "insufficient_scope" ? reason : hasBearer ? "invalid_token" : null;
  if (reason !== "insufficient_scope" && reason !== "unauthenticated") return null;
  const parts = [`resource_metadata="${mcpMetadataUrl(issuer)}"`, `scope="${scopes.join(" ")}"`];
  return `Bearer ${[...(error === null ? [] : [`error="${error}"`]), ...parts].join(", ")}`;
}
