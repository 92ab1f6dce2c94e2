import { findHttpsUrlFault } from "../addresses/address.ts";
import { invalidArgument } from "../failure.ts";
import { mcpScopes, nameForm, type OAuthApp } from "./app.ts";
import { findRedirectUriFault } from "./authorization.ts";

/** A client that describes itself: its checked metadata (RFC 7591 2, spec/oauth.md 16). */
export interface ClientMetadata {
  /** `client_name`; null when it has none. At most 60 characters. */
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  /** `client_uri`, an https URL; empty when it has none. */
  readonly homepageUrl: string;
}

/** Members of a JSON object of another party. */
export type Members = ReadonlyMap<string, unknown>;

const redirectUrisMax = 20;
const uriMax = 2_048;
const nameMax = 60;

/** @throws Failure `invalid_argument` when it is not an object. */
export function membersOf(json: unknown): Members {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw invalidArgument("", "client metadata must be a JSON object");
  return new Map(Object.entries(json));
}

/**
 * Checks the members that every client has. Members that this server does not use are ignored, the logo among
 * them.
 *
 * @throws Failure `invalid_argument` with the path of the first member that breaks a rule.
 */
export function readClientMetadata(members: Members): ClientMetadata {
  const name = members.get("client_name") ?? null;
  if (name !== null && !(typeof name === "string" && name.length <= nameMax && nameForm.test(name)))
    throw invalidArgument(
      "client_name",
      `must have 1 to ${nameMax} characters, and no control or bidirectional characters`,
    );
  const grants = members.get("grant_types") ?? ["authorization_code"];
  if (!Array.isArray(grants) || !grants.includes("authorization_code"))
    throw invalidArgument("grant_types", "must contain authorization_code");
  const home = members.get("client_uri");
  const homepageUrl =
    typeof home === "string" && home.length <= uriMax && findHttpsUrlFault(home) === undefined ? home : "";
  return { name, redirectUris: readRedirectUris(members.get("redirect_uris")), homepageUrl };
}

function readRedirectUris(uris: unknown): readonly string[] {
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > redirectUrisMax)
    throw invalidArgument("redirect_uris", `must have 1 to ${redirectUrisMax} URIs`);
  for (const [index, uri] of uris.entries()) {
    const isText = typeof uri === "string" && uri.length > 0 && uri.length <= uriMax;
    const fault = isText ? findRedirectUriFault(uri) : `must be a text of 1 to ${uriMax} characters`;
    if (fault !== undefined) throw invalidArgument(`redirect_uris[${index}]`, fault);
  }
  return [...new Set<string>(uris)];
}

/** Whether a redirect stays on the user's computer; the port may be any (RFC 8252 7.3). */
export const isLoopbackRedirect = (uri: string): boolean =>
  /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?:[/?]|$)/.test(uri);

/**
 * An unverified client as an app. Its name always has its origin, in every list: the client chooses the name,
 * not the origin.
 *
 * @param origin the host of its document or of its redirects, or their scheme.
 */
export const unverifiedApp = (
  clientId: string,
  origin: string,
  { name, ...metadata }: ClientMetadata,
  now: number,
): OAuthApp => ({
  ...metadata,
  clientId,
  name: name === null ? origin : `${name} (${origin})`,
  spaceId: null,
  creatorId: "",
  description: "",
  webhookUrl: null,
  verified: false,
  confidentialOnly: false,
  loopbackAnyPort: true,
  deviceAuthorization: false,
  serviceAccountId: null,
  scopes: mcpScopes,
  connectorUids: [],
  skillIds: [],
  allowedOrigins: [],
  generation: 1,
  createdAt: now,
  updatedAt: now,
});
