import type { AuthorizationServerMetadata, OAuthProtectedResourceMetadata, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { checkResourceAllowed } from "@modelcontextprotocol/sdk/shared/auth-utils.js";
import type { AllowedAddresses } from "../config/address-range.ts";
import type { OAuthCredentials } from "../core/connectors/credentials.ts";
import { ServerFault } from "../core/connectors/server.ts";
import type { JsonObject } from "../core/json.ts";

/** What an authorization server, and a server that names one, may say. Of all: @throws ServerFault */

/** Characters of the address that a browser is sent to. */
const pageMax = 8_192;
/** Characters of what is kept of a server's metadata, and of how we are known there. */
const keptMax = 32_000;
/** Characters of a token: it goes in a header. */
const tokenMax = 8_192;

/**
 * Metadata has to be of the server that was asked, or a code of another could be led here (RFC 8414 3.3); and who does not
 * take S256 is refused, as the protocol has it.
 */
export function checkServer(url: string, metadata: AuthorizationServerMetadata | undefined): void {
  if (metadata === undefined) return;
  if (!URL.canParse(metadata.issuer) || new URL(metadata.issuer).href !== new URL(url).href)
    throw new ServerFault("broken", "metadata of another issuer");
  const methods = metadata.code_challenge_methods_supported;
  if (methods !== undefined && !methods.includes("S256")) throw new ServerFault("broken", "no PKCE");
}

/**
 * The resource that tokens are asked for: the server itself, or what it is a part of. Another's would give its tokens to
 * this server (RFC 9728 3.3).
 */
export function resourceOf(serverUrl: string, { resource }: OAuthProtectedResourceMetadata): string {
  if (!checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource }))
    throw new ServerFault("broken", "metadata of another resource");
  return resource;
}

/** The page that the user's browser is sent to: https, or on this machine where the operator allows that. */
export function pageOf({ href, protocol, hostname }: URL, allowed: readonly AllowedAddresses[]): string {
  const isHere = /^(localhost|127\.[0-9.]+|\[::1\])$/.test(hostname) && allowed.some(({ kind }) => kind === "loopback");
  const isPage = protocol === "https:" || (protocol === "http:" && isHere);
  if (!isPage || href.length > pageMax) throw new ServerFault("broken", "the authorization endpoint is no address for a browser");
  return href;
}

/** Another server's code is not shown to this one (RFC 9207). */
export function checkIssuer({ metadata, issuer }: OAuthCredentials, told: string): void {
  const expected = metadata?.["issuer"] ?? issuer;
  const mustTell = metadata?.["authorization_response_iss_parameter_supported"] === true;
  if (told === "" ? mustTell : told !== expected) throw new ServerFault("refused", "another issuer");
}

/** @param before the refresh token so far: servers that do not turn it over leave it in force (RFC 6749 6). @param now Unix milliseconds. */
export function tokensIn(given: OAuthTokens, before: string | null, now: number): NonNullable<OAuthCredentials["tokens"]> {
  const { access_token: access, refresh_token: refresh = before, expires_in: seconds, token_type: type } = given;
  if (type.toLowerCase() !== "bearer" || !isToken(access) || (refresh !== null && !isToken(refresh)))
    throw new ServerFault("broken", "tokens that cannot be used");
  return { access, refresh, expiresAt: seconds === undefined ? null : now + Math.trunc(seconds * 1000) };
}

/** What is kept of metadata and registration, which both are the server's own. */
export function keptJson(value: object): JsonObject {
  const text = JSON.stringify(value);
  if (text.length > keptMax) throw new ServerFault("too_large");
  return JSON.parse(text);
}

/** Printable ASCII (RFC 6749 A.12, A.17), within bounds. */
const isToken = (text: string): boolean => text.length <= tokenMax && /^[\x20-\x7e]+$/.test(text);
