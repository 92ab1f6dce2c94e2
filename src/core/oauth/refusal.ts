/** What the OAuth endpoints refuse with (RFC 6749 5.2, contract/oauth.md 5.6). */
export type OAuthError =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "invalid_scope"
  | "server_error"
  | "temporarily_unavailable";

/**
 * A refusal that is a result, not thrown: what was found out before it, for instance
 * that a token was stolen, is committed with it.
 */
export interface Refused {
  readonly refused: OAuthError;
  /** For developers: characters of RFC 6749 5.2 only, nothing of the request. */
  readonly description: string;
}

export const refused = (error: OAuthError, description: string): Refused => ({ refused: error, description });

/** The same answer for whatever is wrong with a code or a refresh token, so that it tells nothing. */
export const invalidGrant = refused("invalid_grant", "authorization grant is invalid or expired");

/** Without a secret where one is needed. */
export const secretNeeded = refused("invalid_client", "client authentication failed");
