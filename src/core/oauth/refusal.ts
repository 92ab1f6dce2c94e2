/**
 * Error codes of the OAuth endpoints (RFC 6749 5.2, RFC 7591 3.2.2, RFC 8628 3.5, RFC 8707 2, spec/oauth.md
 * 5.6).
 */
export type OAuthError =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "unauthorized_client"
  | "invalid_scope"
  | "invalid_target"
  | "invalid_redirect_uri"
  | "invalid_client_metadata"
  | "invalid_token"
  | "insufficient_scope"
  | "authorization_pending"
  | "slow_down"
  | "expired_token"
  | "access_denied"
  | "server_error"
  | "temporarily_unavailable";

/**
 * A refusal that is returned, not thrown, so that the transaction commits: for instance
 * the revocation of a stolen token.
 */
export interface OAuthRefusal {
  readonly refused: OAuthError;
  /** For developers: characters of RFC 6749 5.2 only, nothing of the request. */
  readonly description: string;
}

export const oauthRefusal = (error: OAuthError, description: string): OAuthRefusal => ({
  refused: error,
  description,
});

/** The same answer for every fault of a code or a refresh token: it reveals no reason. */
export const invalidGrant = oauthRefusal("invalid_grant", "authorization grant is invalid or expired");

/** A resource that is unknown, or that was not authorized (RFC 8707 2). */
export const invalidTarget = oauthRefusal("invalid_target", "resource is not one that was authorized");

export const missingSecret = oauthRefusal("invalid_client", "client authentication failed");

/** The app has not been allowed this way to get tokens; the same for a deleted app. */
export const unauthorizedClient = oauthRefusal(
  "unauthorized_client",
  "the app is not allowed to use this grant type",
);
