import { introspect, type LivingToken } from "../core/oauth/introspect.ts";
import { refreshDigest } from "../core/oauth/refresh-token.ts";
import { type Endpoint, endpoint, type OAuthParts, shownToken } from "./endpoint.ts";
import { invalidClient } from "./failure.ts";
import { needed } from "./token.ts";

/** `POST /oauth/introspect` (RFC 7662): for clients with a secret, of their own tokens. */
export function introspectEndpoint(parts: OAuthParts): Endpoint {
  return endpoint(parts, {
    name: "introspect",
    // Without a secret it would be an oracle (contract/oauth.md 12).
    proves: async () => false,
    async answer({ client, bySecret }, { form, now }) {
      if (!bySecret) throw invalidClient();
      const token = needed(form, "token");
      const shown = await shownToken(parts, client.clientId, token);
      const living = await introspect(parts.store, now, client, shown, refreshDigest(token));
      return living === null ? { active: false } : activeOf(living, client.clientId, parts.issuer);
    },
  });
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Only an access token has a type and an identity of its own (RFC 7662 2.2). */
function activeOf(living: LivingToken, clientId: string, issuer: string): object {
  const { kind, accountId, scopes, accessId, issuedAt, expiresAt } = living;
  const both = { active: true, client_id: clientId, sub: accountId, iss: issuer, scope: scopes.join(" "), exp: seconds(expiresAt) };
  if (kind === "refresh" || accessId === null || issuedAt === null) return both;
  return { ...both, token_type: "Bearer", aud: issuer, jti: accessId, iat: seconds(issuedAt), nbf: seconds(issuedAt) };
}
