import { parseScopes, type ScopeName } from "../accounts/caller.ts";
import type { Tx } from "../store.ts";
import type { AuthenticatedClient } from "./app.ts";
import { challengeOf } from "./code.ts";
import { type FamilyState, isAuthorizationValid, refreshDigest, type TokenFamily } from "./family.ts";
import { auditFamily, type IssueContext, type IssuedTokens, newPair, toIssuedTokens } from "./issue.ts";
import { invalidGrant, invalidTarget, missingSecret, type OAuthRefusal, oauthRefusal } from "./refusal.ts";
import type { Resource } from "./resource.ts";

/** A request with the grant type refresh_token (spec/oauth.md 5.3). */
export interface Refresh extends AuthenticatedClient {
  readonly refreshToken: string;
  /** Well-formed; null when the request has none. */
  readonly verifier: string | null;
  /** The `scope` parameter; null when the request has none. */
  readonly scope: string | null;
  /** The `resource` parameter; undefined when the request has none: the family's does not change. */
  readonly resource: Resource | undefined;
}

/** Two refreshes within 10 s may be a client's race with itself (spec/decisions.md 31). */
const raceMs = 10_000;

/**
 * Replaces the pair of a family; the commit ends the old one (spec/oauth.md 5.7). An earlier
 * refresh token is proof of a theft: it revokes the family, unless the client raced with itself.
 */
export async function refresh(
  tx: Tx,
  issuing: IssueContext,
  request: Refresh,
): Promise<IssuedTokens | OAuthRefusal> {
  const { clientId } = request.client;
  const familyId = issuing.refreshTokens.familyOf(request.refreshToken, clientId);
  const state = familyId === null ? null : await tx.families.findState(familyId);
  if (
    state === null ||
    state.revoked ||
    request.client.deleted ||
    !isAuthorizationValid(state.authorization, state.family.generation)
  )
    return invalidGrant;
  if (!request.bySecret && (state.family.needsSecret || request.client.confidentialOnly))
    return missingSecret;
  const digest = refreshDigest(request.refreshToken);
  if (digest !== state.family.refreshDigest) return handleEarlier(tx, issuing, request, state, digest);
  if (state.family.refreshExpiresAt <= issuing.now) return invalidGrant;
  const fault = proofFault(state.family, request);
  if (fault !== null) return fault;
  if (request.resource !== undefined && request.resource !== state.family.resource) return invalidTarget;
  const scopes = scopesFor(request, state);
  if (scopes === null) return oauthRefusal("invalid_scope", "a scope that was not authorized");
  return rotate(tx, issuing, request, state, digest, scopes);
}

/** In the mode PKCE + Secret each refresh presents the verifier (spec/oauth.md 5.4). */
function proofFault(family: TokenFamily, request: Refresh): OAuthRefusal | null {
  if (!family.needsSecret || family.challenge === null) return null;
  if (request.verifier === null) return oauthRefusal("invalid_request", "code_verifier is missing");
  return presentsVerifier(family, request) ? null : invalidGrant;
}

const presentsVerifier = ({ needsSecret, challenge }: TokenFamily, { verifier }: Refresh): boolean =>
  !needsSecret || challenge === null || (verifier !== null && challengeOf(verifier) === challenge);

/**
 * The requested scopes without those that the app has lost; null when more than the authorized ones are
 * requested (RFC 6749 6).
 */
function scopesFor({ scope }: Refresh, { family, authorization }: FamilyState): readonly ScopeName[] | null {
  const requested = scope === null ? family.scopes : parseScopes(scope, family.scopes);
  return requested === null ? null : requested.filter((name) => authorization.scopes.includes(name));
}

async function rotate(
  tx: Tx,
  issuing: IssueContext,
  request: Refresh,
  { family, authorization }: FamilyState,
  digest: string,
  scopes: readonly ScopeName[],
): Promise<IssuedTokens | OAuthRefusal> {
  const issued = newPair(issuing, family.id, family.clientId, request.refreshToken);
  const won = await tx.families.rotate(
    family.id,
    { digest, at: issuing.now, from: issuing.address },
    issued.pair,
  );
  if (won) return toIssuedTokens(issuing, family, issued, scopes, authorization);
  // A concurrent refresh was committed first.
  const now = await tx.families.findState(family.id);
  return now === null || now.revoked ? invalidGrant : handleEarlier(tx, issuing, request, now, digest);
}

/** Handles a refresh token of the family that is not the current one. */
async function handleEarlier(
  tx: Tx,
  issuing: IssueContext,
  request: Refresh,
  state: FamilyState,
  digest: string,
): Promise<IssuedTokens | OAuthRefusal> {
  const raced = isRace(issuing, request, state, digest);
  const repeated = raced ? repeatedPair(issuing, request, state) : null;
  if (repeated !== null) {
    await auditFamily(tx, issuing, "oauth/token", state.family, "refresh_repeated");
    return repeated;
  }
  if (!raced) await tx.families.revoke(state.family.id, issuing.now);
  await auditFamily(tx, issuing, "oauth/token", state.family, raced ? "refresh_raced" : "refresh_replayed");
  return invalidGrant;
}

/**
 * True for the previous token, from the same client with the same proof; without a secret the address must be
 * the winner's.
 */
function isRace(
  { now, address, refreshTokens }: IssueContext,
  request: Refresh,
  { family, rotation }: FamilyState,
  digest: string,
): boolean {
  const windowMs = Math.max(raceMs, refreshTokens.replayMs);
  if (rotation === null || rotation.digest !== digest || Math.abs(now - rotation.at) > windowMs) return false;
  return family.needsSecret ? presentsVerifier(family, request) : rotation.from === address;
}

/**
 * The pair that answered the previous refresh, if the installation answers repeats and the family has not
 * changed since.
 */
function repeatedPair(issuing: IssueContext, request: Refresh, state: FamilyState): IssuedTokens | null {
  const { family, rotation, authorization } = state;
  const { now, refreshTokens } = issuing;
  const scopes = scopesFor(request, state);
  if (
    rotation === null ||
    now - rotation.at > refreshTokens.replayMs ||
    family.accessId === null ||
    scopes === null
  )
    return null;
  const issued = newPair({ ...issuing, now: rotation.at }, family.id, family.clientId, request.refreshToken);
  if (issued.pair.refreshDigest !== family.refreshDigest) return null;
  const pair = { ...issued.pair, accessId: family.accessId };
  return toIssuedTokens({ ...issuing, now: rotation.at }, family, { ...issued, pair }, scopes, authorization);
}
