import type { ScopeName } from "../accounts/caller.ts";
import { findWebUrlFault, parseUri } from "../addresses/address.ts";
import type { OAuthApp } from "./app.ts";
import type { Resource } from "./resource.ts";

/** Schemes that run code in a browser, or show a page with the rights of another (spec/oauth.md 1.5). */
const forbiddenSchemes: readonly string[] = [
  "javascript",
  "data",
  "file",
  "about",
  "vbscript",
  "blob",
  "filesystem",
  "view-source",
];

/**
 * Finds the fault of a redirect URI; undefined when it may be registered. The URI is
 * stored and compared character by character (spec/oauth.md 1.5, spec/decisions.md 29).
 */
export function findRedirectUriFault(text: string): string | undefined {
  if (text.includes("*")) return "must have no *";
  if (text.includes("#")) return "must have no fragment";
  const uri = parseUri(text);
  if (typeof uri === "string") return uri;
  if (forbiddenSchemes.includes(uri.scheme)) return `must not have the scheme ${uri.scheme}`;
  if (uri.authority?.userinfo != null) return "must have no user before the host";
  return uri.scheme === "http" || uri.scheme === "https" ? findWebUrlFault(text, uri) : undefined;
}

/** Scheme and host, port, and the rest of a loopback redirect (RFC 8252 7.3). */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/s;
const portMax = 65_535;

/**
 * The redirect URI of an authorization: the requested one if it is registered, compared
 * character by character, or the only registered one when none is requested; otherwise null
 * (spec/oauth.md 1.5, 4). An app with `loopbackAnyPort` may use any port of a loopback address,
 * and an unverified client also of `localhost`.
 */
export function selectRedirectUri(
  {
    redirectUris,
    loopbackAnyPort,
    verified,
  }: Pick<OAuthApp, "redirectUris" | "loopbackAnyPort" | "verified">,
  requested: string | null,
): string | null {
  if (requested === null) return redirectUris.length === 1 ? (redirectUris[0] ?? null) : null;
  const matches = redirectUris.some(
    (registered) =>
      registered === requested ||
      (loopbackAnyPort &&
        !(verified && registered.startsWith("http://localhost")) &&
        differsOnlyInPort(registered, requested)),
  );
  return matches ? requested : null;
}

function differsOnlyInPort(registered: string, requested: string): boolean {
  const [, host, , rest] = loopback.exec(registered) ?? [];
  const [, requestedHost, port = "80", requestedRest] = loopback.exec(requested) ?? [];
  return (
    host !== undefined &&
    host === requestedHost &&
    rest === requestedRest &&
    Number(port) > 0 &&
    Number(port) <= portMax
  );
}

/** A valid authorization request of an app. Every rule that needs no user was checked. */
export interface AuthorizationRequest {
  readonly app: OAuthApp;
  readonly redirectUri: string;
  /** The requested scopes, or all of the app's. */
  readonly scopes: readonly ScopeName[];
  /** Returned unchanged; null when the request has none. */
  readonly state: string | null;
  /** The PKCE challenge, S256; null without PKCE. */
  readonly challenge: string | null;
  /** The resource that the tokens are for. */
  readonly resource: Resource;
  /** `consent` shows the page even when no new scope is requested. */
  readonly prompt: "consent" | null;
  /** The issuer identifier of this installation, sent in responses (RFC 9207). */
  readonly issuer: string;
}

/** The error codes of an authorization response (RFC 6749 4.1.2.1, RFC 8707 2). */
export type AuthorizationError =
  | "invalid_request"
  | "unsupported_response_type"
  | "invalid_scope"
  | "invalid_target"
  | "access_denied"
  | "server_error";

/** The target of an authorization response, and the parameters that every response has. */
export type ResponseTarget = Pick<AuthorizationRequest, "redirectUri" | "state" | "issuer">;

/**
 * The URL of an authorization response: the redirect URI with its own query, then the
 * parameters, `state` if the request had one, and `iss` (RFC 6749 3.1.2, RFC 9207 2).
 */
export function responseLocation(
  { redirectUri, state, issuer }: ResponseTarget,
  members: Readonly<Record<string, string>>,
): string {
  const added = new URLSearchParams({ ...members, ...(state === null ? {} : { state }), iss: issuer });
  const separator = redirectUri.includes("?") ? (/[?&]$/.test(redirectUri) ? "" : "&") : "?";
  return `${redirectUri}${separator}${added}`;
}

/** The URL of an error response. The description is for developers: characters of RFC 6749 4.1.2.1 only. */
export const errorLocation = (to: ResponseTarget, error: AuthorizationError, description: string): string =>
  responseLocation(to, { error, error_description: description });
