/** What an access token says of itself, once its signature has held (RFC 9068). */
export interface AccessClaims {
  readonly familyId: string;
  /** `jti`. */
  readonly accessId: string;
  /** The app's generation when it was authorized. */
  readonly generation: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Reads access tokens. Null for a text that is none of this installation's: form, type, signature, issuer or audience. */
export type ReadAccessToken = (text: string) => Promise<AccessClaims | null>;
