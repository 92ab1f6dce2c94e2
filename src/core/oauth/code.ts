import { createHash } from "node:crypto";
import type { ScopeName } from "../accounts/caller.ts";
import { dayMs, purging } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import type { AuthenticatedClient } from "./app.ts";
import { type AuthorizationState, isAuthorizationValid, type TokenFamily } from "./family.ts";
import { auditFamily, type IssueContext, type IssuedTokens, newPair, toIssuedTokens } from "./issue.ts";
import { invalidGrant, invalidTarget, missingSecret, type OAuthRefusal, oauthRefusal } from "./refusal.ts";
import type { Resource } from "./resource.ts";

/** True for the form of an S256 challenge: 32 bytes in base64url without padding (RFC 7636 4.2). */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** True for the form of a code verifier (RFC 7636 4.1). */
export const isVerifier = (text: string): boolean => /^[A-Za-z0-9._~-]{43,128}$/.test(text);

/** The S256 challenge of a verifier. */
export const challengeOf = (verifier: string): string =>
  createHash("sha256").update(verifier).digest("base64url");

/** Lifetime of a code: ten minutes (spec/oauth.md 7). */
export const codeMs = 600_000;

/** A stored authorization code: the SHA-256 of its text, never the text. */
export interface OAuthCode {
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** The address that received the code; the exchange must name the same URI. */
  readonly redirectUri: string;
  readonly scopes: readonly ScopeName[];
  /** The PKCE challenge, S256; null without PKCE. */
  readonly challenge: string | null;
  /** The app's generation when the user approved. */
  readonly generation: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly resource: Resource;
}

export interface IssuedCode extends OAuthCode {
  readonly usedAt: number | null;
  /** The token family that the exchange created. */
  readonly familyId: string | null;
}

export interface CodeRows {
  insert(code: OAuthCode): Promise<void>;
  find(digest: string): Promise<IssuedCode | null>;
  /** False when it is used already. */
  use(digest: string, familyId: string, now: number): Promise<boolean>;
  /** Marks an account's codes in a space as used, without a token family. Waits for a concurrent exchange. */
  useUpAll(accountId: string, spaceId: string, now: number): Promise<void>;
  /** Deletes codes that expired before the given time; returns how many. */
  purge(before: number): Promise<number>;
}

/** A new code's text (spec/oauth.md 7). */
export const codeText = (clientId: string, short: string): string => `code_${clientId}_${short}`;

/** The stored form of a code. It has 128 random bits, so a plain hash is enough. */
export const codeDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A request with the grant type authorization_code (spec/oauth.md 5.2). */
export interface Exchange extends AuthenticatedClient {
  readonly code: string;
  readonly redirectUri: string;
  /** Well-formed; null when the request has none. */
  readonly verifier: string | null;
  /** The `resource` parameter; undefined when the request has none. */
  readonly resource: Resource | undefined;
}

/**
 * Two exchanges of one code within 2 s are a client's own race, if both present the same proof (spec/oauth.md
 * 13).
 */
const raceMs = 2_000;

/** Exchanges a code for a token family, once (spec/oauth.md 5.2, 5.4; RFC 6749 4.1.2, 4.1.3). */
export async function exchange(
  tx: Tx,
  issuing: IssueContext,
  request: Exchange,
): Promise<IssuedTokens | OAuthRefusal> {
  const code = await tx.codes.find(codeDigest(request.code));
  if (code === null) return invalidGrant;
  if (lacksSecret(code, request)) return missingSecret;
  if (code.usedAt !== null) return refuseReuse(tx, issuing, request, code);
  const fault = findFault(code, request, issuing.now);
  if (fault !== null) return fault;
  const state = await tx.grants.findState(code.grantId);
  if (state === null || request.client.deleted || !isAuthorizationValid(state, code.generation))
    return invalidGrant;
  return useUp(tx, issuing, request, code, state);
}

/**
 * Without a challenge, the secret is the only proof of the client; `confidentialOnly` requires it always
 * (spec/decisions.md 25).
 */
const lacksSecret = ({ challenge }: IssuedCode, { client, bySecret }: Exchange): boolean =>
  !bySecret && (challenge === null || client.confidentialOnly);

function findFault(code: IssuedCode, request: Exchange, now: number): OAuthRefusal | null {
  if (code.clientId !== request.client.clientId || code.expiresAt <= now) return invalidGrant;
  if (code.challenge !== null && request.verifier === null)
    return oauthRefusal("invalid_request", "code_verifier is missing");
  if (code.challenge === null && request.verifier !== null)
    return oauthRefusal("invalid_request", "code_verifier was sent without a code_challenge");
  if (!presentsSameProof(code, request) || code.redirectUri !== request.redirectUri) return invalidGrant;
  return request.resource === undefined || request.resource === code.resource ? null : invalidTarget;
}

const presentsSameProof = ({ clientId, challenge }: IssuedCode, { client, verifier }: Exchange): boolean =>
  clientId === client.clientId && challenge === (verifier === null ? null : challengeOf(verifier));

async function useUp(
  tx: Tx,
  issuing: IssueContext,
  request: Exchange,
  code: IssuedCode,
  state: AuthorizationState,
): Promise<IssuedTokens | OAuthRefusal> {
  const family = newFamily(issuing, request, code);
  if (!(await tx.codes.use(code.digest, family.id, issuing.now))) {
    const used = await tx.codes.find(code.digest);
    return used === null ? invalidGrant : refuseReuse(tx, issuing, request, used);
  }
  const issued = newPair(issuing, family.id, family.clientId);
  await tx.families.insert({ ...family, ...issued.pair });
  await auditFamily(tx, issuing, "oauth/token", family, "token_issued");
  const scopes = family.scopes.filter((name) => state.scopes.includes(name));
  return toIssuedTokens(issuing, family, issued, scopes, state);
}

/**
 * The family of a code. Later refreshes require the proofs that the exchange presented (spec/oauth.md 5.4).
 */
function newFamily(
  { now, ids }: IssueContext,
  { bySecret }: Exchange,
  code: IssuedCode,
): Omit<TokenFamily, keyof ReturnType<typeof newPair>["pair"]> {
  const { clientId, grantId, accountId, spaceId, scopes, generation, challenge, resource } = code;
  const of = { clientId, grantId, accountId, spaceId, scopes, generation, challenge, resource };
  return { id: ids.short(), ...of, needsSecret: bySecret, createdAt: now, service: false };
}

/** Refuses a used code and revokes the family that it created, unless the client raced with itself. */
async function refuseReuse(
  tx: Tx,
  issuing: IssueContext,
  request: Exchange,
  code: IssuedCode,
): Promise<OAuthRefusal> {
  const { familyId, usedAt } = code;
  if (familyId === null || usedAt === null) return invalidGrant;
  const raced = presentsSameProof(code, request) && Math.abs(issuing.now - usedAt) <= raceMs;
  if (!raced) await tx.families.revoke(familyId, issuing.now);
  await auditFamily(
    tx,
    issuing,
    "oauth/token",
    { ...code, id: familyId },
    raced ? "code_raced" : "code_replayed",
  );
  return invalidGrant;
}

/** Kept for a day after they expire, to detect a second use. */
export const purgeCodes = purging("purge-codes", (tx, now) => tx.codes.purge(now - dayMs));
