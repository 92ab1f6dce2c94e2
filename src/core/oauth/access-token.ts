import type { ScopeName } from "./scope.ts";

/** An access token is good for 24 hours (contract/oauth.md 7). */
export const accessMs = 24 * 3_600_000;

/** What an access token says of itself, once its signature has held (RFC 9068). */
export interface AccessClaims {
  readonly familyId: string;
  readonly clientId: string;
  /** `sub`. */
  readonly accountId: string;
  /** `jti`. */
  readonly accessId: string;
  /** The app's generation when it was authorized. */
  readonly generation: number;
  /** A refresh may have narrowed them below the family's. */
  readonly scopes: readonly ScopeName[];
  /** Unix milliseconds, of whole seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** What is written into an access token. */
export interface AccessFacts extends AccessClaims {
  readonly teamId: string;
}

/**
 * Reads access tokens. Null for a text that is none of this installation's: form, type,
 * signature, issuer or audience. Whether it has expired is the caller's to judge.
 */
export type ReadAccessToken = (text: string) => Promise<AccessClaims | null>;
