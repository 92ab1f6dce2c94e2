import type { ScopeName } from "../accounts/caller.ts";
import type { Resource } from "./resource.ts";

/** Lifetime of an access token: 24 hours (spec/oauth.md 7). */
export const accessMs = 24 * 3_600_000;

/** The claims of an access token, read after its signature was verified (RFC 9068). */
export interface AccessClaims {
  readonly familyId: string;
  readonly clientId: string;
  /** `sub`. */
  readonly accountId: string;
  /** `jti`. */
  readonly accessId: string;
  /** The app's generation when it was authorized. */
  readonly generation: number;
  /** May be fewer than the family's: a refresh can narrow them. */
  readonly scopes: readonly ScopeName[];
  /** Unix milliseconds, always a multiple of 1000. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** `aud`: the only resource that accepts it; null: the API. */
  readonly resource: Resource;
}

export interface AccessTokenContent extends AccessClaims {
  readonly teamId: string;
}

/**
 * Reads access tokens. Returns null when the form, type, signature, issuer or audience is not
 * of this installation. Does not check expiry: the caller does.
 */
export type ReadAccessToken = (text: string) => Promise<AccessClaims | null>;
