import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { type AccessFacts, accessMs } from "./access-token.ts";
import type { TokenFamily, TokenPair } from "./family.ts";
import { type RefreshTokens, refreshDigest, refreshMs } from "./refresh-token.ts";
import type { ScopeName } from "./scope.ts";
import type { Standing } from "./standing.ts";

/** What the token endpoint's changes are made from. */
export interface Issuing {
  /** When the request came, Unix milliseconds. */
  readonly now: number;
  readonly ids: Ids;
  readonly refreshTokens: RefreshTokens;
  readonly requestId: string;
  /** The client's network address. */
  readonly address: string;
}

/** A pair that was written down: the access token is still to be signed. */
export interface Issued {
  readonly access: AccessFacts;
  readonly refreshToken: string;
}

/** A pair as it is stored, and its refresh token's text. */
export interface NewPair {
  readonly pair: TokenPair;
  readonly refreshToken: string;
}

/** The next pair of a family. @param after the refresh token whose place it takes. */
export function newPair({ now, ids, refreshTokens }: Issuing, familyId: string, clientId: string, after?: string): NewPair {
  const refreshToken = refreshTokens.make(familyId, clientId, after);
  const pair = {
    accessId: ids.short(),
    accessExpiresAt: secondOf(now) + accessMs,
    refreshDigest: refreshDigest(refreshToken),
    refreshExpiresAt: now + refreshMs,
  };
  return { pair, refreshToken };
}

/** JWTs know whole seconds. */
const secondOf = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** What is told of a pair. @param scopes the access token's. */
export function issuedOf(
  { now }: Issuing,
  family: Pick<TokenFamily, "id" | "clientId" | "accountId" | "generation">,
  { pair, refreshToken }: NewPair,
  scopes: readonly ScopeName[],
  { member }: Standing,
): Issued {
  const { id: familyId, clientId, accountId, generation } = family;
  const of = { familyId, clientId, accountId, generation, accessId: pair.accessId, scopes, teamId: member?.teamId ?? "" };
  return { access: { ...of, issuedAt: secondOf(now), expiresAt: pair.accessExpiresAt }, refreshToken };
}

/** What befell a family, for the audit log of its space (contract/decisions.md 31). */
export type FamilyEvent =
  | "token_issued"
  | "token_revoked"
  | "access_token_revoked"
  | "code_raced"
  | "code_replayed"
  | "refresh_raced"
  | "refresh_repeated"
  | "refresh_replayed";

/** Writes the audit row of a change at an OAuth endpoint: the app acted. */
export async function auditFamily(
  tx: Tx,
  { now, ids, requestId, address }: Omit<Issuing, "refreshTokens">,
  operation: "oauth/token" | "oauth/revoke",
  { id, clientId, accountId, spaceId }: Pick<TokenFamily, "id" | "clientId" | "accountId" | "spaceId">,
  event: FamilyEvent,
): Promise<void> {
  const what = { id: ids.short(), at: now, spaceId, accountId, credential: `app:${clientId}`, operation, requestId, address };
  await tx.audit.insert({ ...what, subject: id, before: null, after: { event } });
}
