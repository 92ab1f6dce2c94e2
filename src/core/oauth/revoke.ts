import type { Tx } from "../store.ts";
import type { AccessClaims } from "./access-token.ts";
import type { ProvenClient } from "./client.ts";
import type { FamilyState } from "./family.ts";
import { auditFamily, type Issuing } from "./issue.ts";
import { type Refused, secretNeeded } from "./refusal.ts";

/** What a client shows to have it revoked or looked at: one of the two, or none that was ever issued to it. */
export interface ShownToken {
  /** The family of a refresh token. */
  readonly refreshFamilyId: string | null;
  /** An access token's, signed by this installation for this client. */
  readonly access: AccessClaims | null;
}

/**
 * Revokes a token (RFC 7009): a refresh token takes its whole family along, an access
 * token goes alone. Null is success, whether there was anything to revoke or not: an
 * earlier refresh token of a family counts as its last one, for the client may not have
 * had the answer yet that rotated it away.
 */
export async function revokeToken(
  tx: Tx,
  making: Omit<Issuing, "refreshTokens">,
  { client, bySecret }: ProvenClient,
  { refreshFamilyId, access }: ShownToken,
): Promise<Refused | null> {
  const familyId = refreshFamilyId ?? access?.familyId ?? null;
  const state = familyId === null ? null : await tx.families.state(familyId);
  if (state === null || state.revoked || state.family.clientId !== client.clientId) return null;
  // What came by PKCE needs no secret (contract/oauth.md 6, 13).
  if (!bySecret && state.family.challenge === null) return secretNeeded;
  if (refreshFamilyId !== null) await revokeFamily(tx, making, state);
  else if (access !== null && (await tx.families.revokeAccess(access.familyId, access.accessId)))
    await auditFamily(tx, making, "oauth/revoke", state.family, "access_token_revoked");
  return null;
}

async function revokeFamily(tx: Tx, making: Omit<Issuing, "refreshTokens">, { family }: FamilyState): Promise<void> {
  if (await tx.families.revoke(family.id, making.now)) await auditFamily(tx, making, "oauth/revoke", family, "token_revoked");
}
