import type { ScopeName } from "../accounts/caller.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { type AccessTokenContent, accessMs } from "./access-token.ts";
import {
  type AuthorizationState,
  type RefreshTokens,
  refreshDigest,
  refreshMs,
  type TokenFamily,
  type TokenPair,
} from "./family.ts";

/** The inputs of every change at the token endpoint. */
export interface IssueContext {
  /** When the request arrived, Unix milliseconds. */
  readonly now: number;
  readonly ids: Ids;
  readonly refreshTokens: RefreshTokens;
  readonly requestId: string;
  readonly address: string;
}

/** A stored pair. The access token is not signed yet. */
export interface IssuedTokens {
  readonly access: AccessTokenContent;
  readonly refreshToken: string;
}

/** A pair as it is stored, and the text of its refresh token. */
export interface NewPair {
  readonly pair: TokenPair;
  readonly refreshToken: string;
}

/** Creates the next pair of a family. @param after the refresh token that it replaces. */
export function newPair(
  { now, ids, refreshTokens }: IssueContext,
  familyId: string,
  clientId: string,
  after?: string,
): NewPair {
  const refreshToken = refreshTokens.make(familyId, clientId, after);
  const pair = {
    accessId: ids.short(),
    accessExpiresAt: floorToSecond(now) + accessMs,
    refreshDigest: refreshDigest(refreshToken),
    refreshExpiresAt: now + refreshMs,
  };
  return { pair, refreshToken };
}

/** Times in a JWT are whole seconds. */
export const floorToSecond = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** The response for a pair. @param scopes the access token's. */
export function toIssuedTokens(
  { now }: IssueContext,
  family: Pick<TokenFamily, "id" | "clientId" | "accountId" | "generation" | "resource">,
  { pair, refreshToken }: NewPair,
  scopes: readonly ScopeName[],
  { member }: AuthorizationState,
): IssuedTokens {
  const { id: familyId, clientId, accountId, generation, resource } = family;
  const of = {
    familyId,
    clientId,
    accountId,
    generation,
    resource,
    accessId: pair.accessId,
    scopes,
    teamId: member?.teamId ?? "",
  };
  return { access: { ...of, issuedAt: floorToSecond(now), expiresAt: pair.accessExpiresAt }, refreshToken };
}

/** Changes of a family, for the audit log of its space (spec/decisions.md 31). */
export type FamilyEvent =
  | "token_issued"
  | "service_token_issued"
  | "token_revoked"
  | "access_token_revoked"
  | "code_raced"
  | "code_replayed"
  | "refresh_raced"
  | "refresh_repeated"
  | "refresh_replayed";

/** Writes the audit row of a change at an OAuth endpoint: the app is the actor. */
export async function auditFamily(
  tx: Tx,
  { now, ids, requestId, address }: Omit<IssueContext, "refreshTokens">,
  operation: "oauth/token" | "oauth/revoke",
  { id, clientId, accountId, spaceId }: Pick<TokenFamily, "id" | "clientId" | "accountId" | "spaceId">,
  event: FamilyEvent,
): Promise<void> {
  const what = {
    id: ids.short(),
    at: now,
    spaceId,
    accountId,
    credential: `app:${clientId}`,
    operation,
    requestId,
    address,
  };
  await tx.audit.insert({ ...what, subject: id, before: null, after: { event } });
}
