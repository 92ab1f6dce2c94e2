import type { ScopeName } from "../accounts/caller.ts";
import type { Tx } from "../store.ts";
import type { AccessClaims } from "./access-token.ts";
import type { AuthenticatedClient, OAuthClient } from "./app.ts";
import { type FamilyState, isAuthorizationValid } from "./family.ts";
import { auditFamily, type IssueContext } from "./issue.ts";
import { missingSecret, type OAuthRefusal } from "./refusal.ts";
import type { Resource } from "./resource.ts";

/**
 * A token that a client presents for revocation or introspection: one of the two, or neither when it was
 * never issued to this client.
 */
export interface PresentedToken {
  readonly refreshFamilyId: string | null;
  /** The claims of an access token that this installation signed for this client. */
  readonly access: AccessClaims | null;
}

/**
 * Revokes a token (RFC 7009): a refresh token revokes its family, an access token only
 * itself. Null is success, even when there was nothing to revoke. An earlier refresh token of
 * a family counts as its current one, because the client may not have received the response
 * that rotated it.
 */
export async function revokeToken(
  tx: Tx,
  context: Omit<IssueContext, "refreshTokens">,
  { client, bySecret }: AuthenticatedClient,
  { refreshFamilyId, access }: PresentedToken,
): Promise<OAuthRefusal | null> {
  const familyId = refreshFamilyId ?? access?.familyId ?? null;
  const state = familyId === null ? null : await tx.families.findState(familyId);
  if (state === null || state.revoked || state.family.clientId !== client.clientId) return null;
  // A family that was created without a secret needs none, and one of PKCE neither (spec/oauth.md 6, 13).
  if (!bySecret && state.family.challenge === null && state.family.needsSecret) return missingSecret;
  if (refreshFamilyId !== null) await revokeFamily(tx, context, state);
  else if (access !== null && (await tx.families.revokeAccess(access.familyId, access.accessId)))
    await auditFamily(tx, context, "oauth/revoke", state.family, "access_token_revoked");
  return null;
}

async function revokeFamily(
  tx: Tx,
  context: Omit<IssueContext, "refreshTokens">,
  { family }: FamilyState,
): Promise<void> {
  if (await tx.families.revoke(family.id, context.now))
    await auditFamily(tx, context, "oauth/revoke", family, "token_revoked");
}

/** An active token as its own client may see it (RFC 7662 2.2). */
export interface ActiveToken {
  readonly kind: "access" | "refresh";
  readonly accountId: string;
  readonly scopes: readonly ScopeName[];
  /** The `jti` of an access token. */
  readonly accessId: string | null;
  /** Unix milliseconds; null when unknown. */
  readonly issuedAt: number | null;
  readonly expiresAt: number;
  readonly resource: Resource;
}

/**
 * Introspects a token of the client's own. Returns null for a token that is not valid, for any reason.
 *
 * @param digest the digest of the presented text, in the form stored for a refresh token.
 */
export async function introspect(
  tx: Tx,
  now: number,
  client: OAuthClient,
  { refreshFamilyId, access }: PresentedToken,
  digest: string,
): Promise<ActiveToken | null> {
  const familyId = refreshFamilyId ?? access?.familyId ?? null;
  const state = familyId === null || client.deleted ? null : await tx.families.findState(familyId);
  if (state === null || state.revoked || state.family.clientId !== client.clientId) return null;
  if (!isAuthorizationValid(state.authorization, state.family.generation)) return null;
  const found = access === null ? activeRefresh(state, digest) : activeAccess(state, access);
  return found !== null && found.expiresAt > now ? found : null;
}

function activeAccess(
  { family, authorization }: FamilyState,
  access: NonNullable<PresentedToken["access"]>,
): ActiveToken | null {
  if (family.accessId !== access.accessId) return null;
  const scopes = access.scopes.filter(
    (name) => family.scopes.includes(name) && authorization.scopes.includes(name),
  );
  const { accessId, accountId, issuedAt, expiresAt, resource } = access;
  return { kind: "access", accountId, scopes, accessId, issuedAt, expiresAt, resource };
}

function activeRefresh({ family, authorization }: FamilyState, digest: string): ActiveToken | null {
  if (family.refreshDigest !== digest) return null;
  const scopes = family.scopes.filter((name) => authorization.scopes.includes(name));
  const { accountId, refreshExpiresAt, resource } = family;
  return {
    kind: "refresh",
    accountId,
    scopes,
    accessId: null,
    issuedAt: null,
    expiresAt: refreshExpiresAt,
    resource,
  };
}
