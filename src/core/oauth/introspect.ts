import type { Tx } from "../store.ts";
import type { OAuthClient } from "./client.ts";
import type { FamilyState } from "./family.ts";
import type { ShownToken } from "./revoke.ts";
import type { ScopeName } from "./scope.ts";
import { stands } from "./standing.ts";

/** A living token as its own client may see it (RFC 7662 2.2). */
export interface LivingToken {
  readonly kind: "access" | "refresh";
  readonly accountId: string;
  readonly scopes: readonly ScopeName[];
  /** The `jti` of an access token. */
  readonly accessId: string | null;
  /** Unix milliseconds; null where it is not known. */
  readonly issuedAt: number | null;
  readonly expiresAt: number;
}

/** Looks at a token of the client's own. Null for one that opens nothing, whatever the reason. @param digest the shown text's, as a refresh token's is kept. */
export async function introspect(
  tx: Tx,
  now: number,
  client: OAuthClient,
  { refreshFamilyId, access }: ShownToken,
  digest: string,
): Promise<LivingToken | null> {
  const familyId = refreshFamilyId ?? access?.familyId ?? null;
  const state = familyId === null || client.deleted ? null : await tx.families.state(familyId);
  if (state === null || state.revoked || state.family.clientId !== client.clientId) return null;
  if (!stands(state.standing, state.family.generation)) return null;
  const found = access === null ? refreshOf(state, digest) : accessOf(state, access);
  return found !== null && found.expiresAt > now ? found : null;
}

function accessOf({ family, standing }: FamilyState, access: NonNullable<ShownToken["access"]>): LivingToken | null {
  if (family.accessId !== access.accessId) return null;
  const scopes = access.scopes.filter((name) => family.scopes.includes(name) && standing.scopes.includes(name));
  const { accessId, accountId, issuedAt, expiresAt } = access;
  return { kind: "access", accountId, scopes, accessId, issuedAt, expiresAt };
}

function refreshOf({ family, standing }: FamilyState, digest: string): LivingToken | null {
  if (family.refreshDigest !== digest) return null;
  const scopes = family.scopes.filter((name) => standing.scopes.includes(name));
  return { kind: "refresh", accountId: family.accountId, scopes, accessId: null, issuedAt: null, expiresAt: family.refreshExpiresAt };
}
