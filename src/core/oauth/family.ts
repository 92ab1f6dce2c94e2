import { createHash } from "node:crypto";
import type { MemberStatus, Role } from "../accounts/account.ts";
import type { ScopeName } from "../accounts/caller.ts";
import type { Cipher } from "../cipher.ts";
import { type Ids, isShortId, shortIdFrom } from "../ids.ts";
import { dayMs, purging } from "../processes/timed-job.ts";
import { isSame } from "../signed-token.ts";
import type { Resource } from "./resource.ts";

/** The state of the grant, app and membership that a code or a token family depends on. */
export interface AuthorizationState {
  /** Grant and app are active. */
  readonly isActive: boolean;
  /** The app's generation; 0 once it is deleted. */
  readonly generation: number;
  /** The app's scopes; none once it is deleted. */
  readonly scopes: readonly ScopeName[];
  /**
   * The account's membership in the team of the space; active and without a team in its personal space; null
   * when there is none.
   */
  readonly member: { status: MemberStatus; teamId: string } | null;
}

/** Whether a code or token of the app's generation `issuedAt` is still valid (spec/decisions.md 30). */
export const isAuthorizationValid = (
  { isActive, generation, member }: AuthorizationState,
  issuedAt: number,
): boolean => isActive && generation === issuedAt && member?.status === "active";

/** A token family with all that decides whether its access token is valid now. */
export interface TokenHolder {
  readonly familyId: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly locale: string;
  /** The `jti` of the active access token; null when there is none. */
  readonly accessId: string | null;
  /** Family, grant and app are all active. */
  readonly isActive: boolean;
  /** The app's generation when the family was authorized, and now; 0 once it is deleted. */
  readonly generation: number;
  readonly appGeneration: number;
  /** Token ∩ app: a scope removed from the app is removed from its tokens. */
  readonly scopes: readonly ScopeName[];
  /** The app acts as itself (spec/api.md 8.114). */
  readonly service: boolean;
  /** Grant ∩ app. */
  readonly connectorUids: readonly string[];
  /**
   * The account's membership in the team of the space; active and without a role in its personal space; null
   * when there is none.
   */
  readonly member: { role: Role | null; status: MemberStatus } | null;
}

/** The current tokens of a family. Each rotation replaces both. */
export interface TokenPair {
  readonly accessId: string;
  readonly accessExpiresAt: number;
  /** SHA-256 of the refresh token, lower-case hex. */
  readonly refreshDigest: string;
  readonly refreshExpiresAt: number;
}

export interface TokenFamily extends Omit<TokenPair, "accessId"> {
  readonly id: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly scopes: readonly ScopeName[];
  /** The app's generation when it was authorized. */
  readonly generation: number;
  /** The S256 challenge. A refresh must present its verifier if it must present a secret too. */
  readonly challenge: string | null;
  /** A refresh must present an active secret. */
  readonly needsSecret: boolean;
  /** Null once it is revoked. */
  readonly accessId: string | null;
  readonly createdAt: number;
  readonly resource: Resource;
  /** The app acts as itself: there is no grant, and no client gets the refresh token. */
  readonly service: boolean;
}

/** The latest refresh of a family. */
export interface Rotation {
  /** SHA-256 of the refresh token that it replaced. */
  readonly digest: string;
  readonly at: number;
  readonly from: string;
}

/** A token family with the grant, app and membership that validate it. */
export interface FamilyState {
  readonly family: TokenFamily;
  readonly rotation: Rotation | null;
  readonly revoked: boolean;
  readonly authorization: AuthorizationState;
}

export interface FamilyRows {
  /** One statement: family, grant, app, account and membership. */
  findHolder(familyId: string): Promise<TokenHolder | null>;
  insert(family: TokenFamily): Promise<void>;
  /** One statement, like `holder`: the state that decides about a refresh. */
  findState(familyId: string): Promise<FamilyState | null>;
  /** Replaces the pair whose refresh token is `rotation.digest`. False when that is not the current one. */
  rotate(familyId: string, rotation: Rotation, next: TokenPair): Promise<boolean>;
  /** False when it was revoked already. */
  revoke(familyId: string, now: number): Promise<boolean>;
  revokeAll(accountId: string, spaceId: string, now: number): Promise<void>;
  /** Revokes the tokens with which an app acts as itself. */
  revokeService(clientId: string, now: number): Promise<void>;
  /** Revokes only this access token. False when it is not the active one. */
  revokeAccess(familyId: string, accessId: string): Promise<boolean>;
  /** Those that were revoked, or whose refresh token expired, before the given time; returns how many. */
  purge(before: number): Promise<number>;
}

/** Lifetime of a refresh token: thirty days; each rotation starts a new period (spec/oauth.md 7, 12). */
export const refreshMs = 30 * 24 * 3_600_000;

/** Creates and reads refresh tokens: `refresh_<family>_<random>_<mark>`. */
export interface RefreshTokens {
  /**
   * @param after the refresh token to replace. When repeats are answered, the new token is derived from it
   * and from the installation's key, so that a repeat gets the same answer and no token is stored.
   */
  make(familyId: string, clientId: string, after?: string): string;
  /**
   * A refresh repeated within this many milliseconds gets the same pair; 0, the specified behaviour, refuses
   * repeats (spec/decisions.md 31).
   */
  readonly replayMs: number;
  /**
   * The family of a token that was issued to this client, also of one rotated away long ago; null
   * for any other text. Reads no row: the third part is a mark (keyed hash) over the others.
   */
  familyOf(text: string, clientId: string): string | null;
}

export function refreshTokens(cipher: Cipher, ids: Pick<Ids, "short">, replayMs = 0): RefreshTokens {
  const mark = cipher.createMac("refresh token");
  const next = cipher.createMac("next refresh token");
  const marked = (familyId: string, random: string, clientId: string) => `${familyId}_${random}_${clientId}`;
  return {
    replayMs,
    make(familyId, clientId, after) {
      const random = after === undefined || replayMs === 0 ? ids.short() : shortIdFrom(next(after));
      return `refresh_${familyId}_${random}_${shortIdFrom(mark(marked(familyId, random, clientId)))}`;
    },
    familyOf(text, clientId) {
      const [kind, familyId = "", random = "", presented = "", ...more] = text.split("_");
      if (kind !== "refresh" || more.length > 0 || ![familyId, random, presented].every(isShortId))
        return null;
      return mark
        .all(marked(familyId, random, clientId))
        .some((bytes) => isSame(shortIdFrom(bytes), presented))
        ? familyId
        : null;
    },
  };
}

/** The stored form of a refresh token. It has 128 random bits, so a plain hash is enough. */
export const refreshDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Kept for a day after they expire, to detect a second use. */
export const purgeFamilies = purging("purge-token-families", (tx, now) => tx.families.purge(now - dayMs));
