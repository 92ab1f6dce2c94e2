import type { OAuthApp } from "./app.ts";
import type { ScopeName } from "./scope.ts";

/** An app's request to be let act for a user, checked by every rule that needs no user. */
export interface AuthorizationRequest {
  readonly app: OAuthApp;
  readonly redirectUri: string;
  /** Those asked for, or all of the app's. */
  readonly scopes: readonly ScopeName[];
  /** To be given back as it came; null where none was sent. */
  readonly state: string | null;
  /** PKCE's, S256; null without. */
  readonly challenge: string | null;
  /** `consent` shows the page even where nothing new is asked for. */
  readonly prompt: "consent" | null;
  /** This installation's name in its answers (RFC 9207). */
  readonly issuer: string;
}

/** What an authorization can fail of (RFC 6749 4.1.2.1). */
export type AuthorizationError = "invalid_request" | "unsupported_response_type" | "invalid_scope" | "access_denied" | "server_error";

/** Where an answer goes, and what it names beside its content. */
export type Return = Pick<AuthorizationRequest, "redirectUri" | "state" | "issuer">;

/**
 * The address that takes an answer back to the app: the redirect URI with its own
 * query, then the members, `state` where it was sent, and `iss` (RFC 6749 3.1.2, RFC 9207 2).
 */
export function redirectWith({ redirectUri, state, issuer }: Return, members: Readonly<Record<string, string>>): string {
  const added = new URLSearchParams({ ...members, ...(state === null ? {} : { state }), iss: issuer });
  const joint = redirectUri.includes("?") ? (/[?&]$/.test(redirectUri) ? "" : "&") : "?";
  return `${redirectUri}${joint}${added}`;
}

/** Takes an error back to the app. The description is for developers: characters of RFC 6749 4.1.2.1 only. */
export const errorRedirect = (to: Return, error: AuthorizationError, description: string): string =>
  redirectWith(to, { error, error_description: description });
