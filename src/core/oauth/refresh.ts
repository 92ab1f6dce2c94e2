import type { Tx } from "../store.ts";
import type { ProvenClient } from "./client.ts";
import type { FamilyState, TokenFamily } from "./family.ts";
import { auditFamily, type Issued, type Issuing, issuedOf, newPair } from "./issue.ts";
import { challengeOf } from "./pkce.ts";
import { refreshDigest } from "./refresh-token.ts";
import { invalidGrant, type Refused, refused, secretNeeded } from "./refusal.ts";
import { type ScopeName, scopesIn } from "./scope.ts";
import { stands } from "./standing.ts";

/** The refresh_token grant as it was asked for (contract/oauth.md 5.3). */
export interface Refresh extends ProvenClient {
  readonly refreshToken: string;
  /** Well-formed; null where none was sent. */
  readonly verifier: string | null;
  /** The `scope` parameter; null where none was sent. */
  readonly scope: string | null;
}

/** A client that refreshes in parallel with itself is done within so long (contract/decisions.md 31). */
const raceMs = 10_000;

/**
 * Puts a new pair in the place of the old one, which is dead with the commit
 * (contract/oauth.md 5.7). Whoever shows an earlier refresh token has stolen it, or was
 * stolen from: the family dies, unless it was the client racing itself.
 */
export async function refresh(tx: Tx, issuing: Issuing, asked: Refresh): Promise<Issued | Refused> {
  const { clientId } = asked.client;
  const familyId = issuing.refreshTokens.familyOf(asked.refreshToken, clientId);
  const state = familyId === null ? null : await tx.families.state(familyId);
  if (state === null || state.revoked || asked.client.deleted || !stands(state.standing, state.family.generation)) return invalidGrant;
  if (!asked.bySecret && (state.family.needsSecret || asked.client.confidentialOnly)) return secretNeeded;
  const digest = refreshDigest(asked.refreshToken);
  if (digest !== state.family.refreshDigest) return earlier(tx, issuing, asked, state, digest);
  if (state.family.refreshExpiresAt <= issuing.now) return invalidGrant;
  const fault = proofFault(state.family, asked);
  if (fault !== null) return fault;
  const scopes = scopesFor(asked, state);
  if (scopes === null) return refused("invalid_scope", "a scope that was not authorized");
  return rotate(tx, issuing, asked, state, digest, scopes);
}

/** In the mode PKCE + Secret the verifier is shown again (contract/oauth.md 5.4). */
function proofFault(family: TokenFamily, asked: Refresh): Refused | null {
  if (!family.needsSecret || family.challenge === null) return null;
  if (asked.verifier === null) return refused("invalid_request", "code_verifier is missing");
  return showsVerifier(family, asked) ? null : invalidGrant;
}

const showsVerifier = ({ needsSecret, challenge }: TokenFamily, { verifier }: Refresh): boolean =>
  !needsSecret || challenge === null || (verifier !== null && challengeOf(verifier) === challenge);

/** Those asked for, and of them what the app still has; null for more than were authorized (RFC 6749 6). */
function scopesFor({ scope }: Refresh, { family, standing }: FamilyState): readonly ScopeName[] | null {
  const asked = scope === null ? family.scopes : scopesIn(scope, family.scopes);
  return asked === null ? null : asked.filter((name) => standing.scopes.includes(name));
}

async function rotate(
  tx: Tx,
  issuing: Issuing,
  asked: Refresh,
  { family, standing }: FamilyState,
  digest: string,
  scopes: readonly ScopeName[],
): Promise<Issued | Refused> {
  const made = newPair(issuing, family.id, family.clientId, asked.refreshToken);
  const won = await tx.families.rotate(family.id, { digest, at: issuing.now, from: issuing.address }, made.pair);
  if (won) return issuedOf(issuing, family, made, scopes, standing);
  // Somebody else was first, in between.
  const now = await tx.families.state(family.id);
  return now === null || now.revoked ? invalidGrant : earlier(tx, issuing, asked, now, digest);
}

/** The refresh token is the family's own, and not its living one. */
async function earlier(tx: Tx, issuing: Issuing, asked: Refresh, state: FamilyState, digest: string): Promise<Issued | Refused> {
  const raced = isRace(issuing, asked, state, digest);
  const repeated = raced ? repeatedPair(issuing, asked, state) : null;
  if (repeated !== null) {
    await auditFamily(tx, issuing, "oauth/token", state.family, "refresh_repeated");
    return repeated;
  }
  if (!raced) await tx.families.revoke(state.family.id, issuing.now);
  await auditFamily(tx, issuing, "oauth/token", state.family, raced ? "refresh_raced" : "refresh_replayed");
  return invalidGrant;
}

/** The one just before, by the same client with the same proof; without a secret, the address has to be the winner's. */
function isRace({ now, address, refreshTokens }: Issuing, asked: Refresh, { family, rotation }: FamilyState, digest: string): boolean {
  const patience = Math.max(raceMs, refreshTokens.replayMs);
  if (rotation === null || rotation.digest !== digest || Math.abs(now - rotation.at) > patience) return false;
  return family.needsSecret ? showsVerifier(family, asked) : rotation.from === address;
}

/** The pair that the refresh before was answered with, where the installation answers repeats and nothing has happened since. */
function repeatedPair(issuing: Issuing, asked: Refresh, state: FamilyState): Issued | null {
  const { family, rotation, standing } = state;
  const { now, refreshTokens } = issuing;
  const scopes = scopesFor(asked, state);
  if (rotation === null || now - rotation.at > refreshTokens.replayMs || family.accessId === null || scopes === null) return null;
  const made = newPair({ ...issuing, now: rotation.at }, family.id, family.clientId, asked.refreshToken);
  if (made.pair.refreshDigest !== family.refreshDigest) return null;
  const pair = { ...made.pair, accessId: family.accessId };
  return issuedOf({ ...issuing, now: rotation.at }, family, { ...made, pair }, scopes, standing);
}
