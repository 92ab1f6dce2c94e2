import { isUtf8 } from "node:buffer";
import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { ReadAccessToken } from "../core/oauth/access-token.ts";
import {
  type AuthenticatedClient,
  type ClientSwitches,
  isClientId,
  isSecretOf,
  isTurnedOff,
} from "../core/oauth/app.ts";
import { isDocumentClientId } from "../core/oauth/client-documents.ts";
import type { RefreshTokens } from "../core/oauth/family.ts";
import type { PresentedToken } from "../core/oauth/presented-token.ts";
import type { SigningKeys } from "../core/oauth/signing-key.ts";
import type { Store } from "../core/store.ts";
import type { Limits } from "../pipeline/limit.ts";
import { invalidClient, invalidRequest } from "./failure.ts";

/** The parameters of a request: none is empty or repeated (RFC 6749 3.2). */
export type Form = ReadonlyMap<string, string>;

/**
 * Reads a body, JSON or form-encoded (spec/oauth.md 5.1). An empty value counts as omitted.
 *
 * @throws OAuthFailure `invalid_request` for another content type, a repeated parameter, or one that is not
 * text.
 */
export function readForm(contentType: string | undefined, bytes: Uint8Array): Form {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json" && type !== "application/x-www-form-urlencoded")
    throw invalidRequest("the body must be application/x-www-form-urlencoded or application/json");
  if (!isUtf8(bytes)) throw invalidRequest("the body is not valid UTF-8");
  const text = Buffer.from(bytes).toString("utf8");
  return requireUnique(type === "application/json" ? readMembers(text) : [...new URLSearchParams(text)]);
}

type Pair = readonly [name: string, value: string];

function requireUnique(pairs: readonly Pair[]): Form {
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) throw invalidRequest("a parameter is repeated");
  return new Map(pairs.filter(([, value]) => value !== ""));
}

/** The parameters of all endpoints; other members of any type are ignored. */
const knownParameters: ReadonlySet<string> = new Set([
  "grant_type",
  "code",
  "redirect_uri",
  "code_verifier",
  "refresh_token",
  "scope",
  "resource",
  "device_code",
  "client_id",
  "client_secret",
  "token",
  "token_type_hint",
]);

/** A quoted string, with a colon if it is a member's name, or an opening bracket. */
const tokenPattern = /"((?:[^"\\]|\\.)*)"[ \t\r\n]*(:?)|[{[]/g;

/**
 * JSON.parse keeps only the last of repeated members, so names are read from the text, after JSON.parse has
 * validated it.
 */
function readMembers(text: string): Pair[] {
  const body = parseObject(text);
  const tokens = [...text.matchAll(tokenPattern)];
  if (tokens.filter(([mark]) => mark === "{" || mark === "[").length > 1)
    throw invalidRequest("parameters must be text");
  const names = tokens
    .filter(([, , colon]) => colon === ":")
    .map(([, name]) => JSON.parse(`"${name}"`) as string); // the content of a JSON string
  return names.flatMap((name): Pair[] => {
    const value = body.get(name);
    if (typeof value === "string") return [[name, value]];
    if (value === null || !knownParameters.has(name)) return [];
    throw invalidRequest("parameters must be text");
  });
}

function parseObject(text: string): ReadonlyMap<string, unknown> {
  const body = parseJson(text);
  if (!isObject(body)) throw invalidRequest("the body is not a JSON object");
  return new Map(Object.entries(body));
}

/** The client credentials of a request, not verified yet. */
export interface ClientCredentials {
  readonly clientId: string;
  /** Null if absent. */
  readonly secret: string | null;
}

/**
 * Reads a client's credentials from the body or from `Authorization: Basic`; both are an error (RFC 6749
 * 2.3).
 *
 * @throws OAuthFailure `invalid_request`, or `invalid_client` for an invalid header.
 */
function readCredentials(authorization: string | undefined, form: Form): ClientCredentials {
  const inBody = { id: form.get("client_id") ?? null, secret: form.get("client_secret") ?? null };
  if (authorization === undefined) {
    if (inBody.id === null) throw invalidRequest("client_id is missing");
    return { clientId: inBody.id, secret: inBody.secret };
  }
  const basic = readBasic(authorization);
  if (inBody.secret !== null)
    throw invalidRequest("client_secret must not be sent together with Authorization");
  if (inBody.id !== null && inBody.id !== basic.clientId)
    throw invalidRequest("client_id must be the client of Authorization");
  return basic;
}

/** Both parts are form-decoded after base64 (RFC 6749 2.3.1). */
function readBasic(authorization: string): ClientCredentials {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, id, secret] = /^([^:]+):(.*)$/s.exec(Buffer.from(encoded ?? "", "base64").toString("utf8")) ?? [];
  if (id === undefined || secret === undefined) throw invalidClient();
  return { clientId: formDecode(id), secret: formDecode(secret) || null };
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalidClient();
  }
}

/**
 * Dependencies of the OAuth endpoints. A client that is turned off is treated as deleted, and can only
 * revoke.
 */
export interface OAuthParts extends ClientSwitches {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Pick<
    Limits,
    "client" | "authenticatedClient" | "unauthenticatedClient" | "clientDocument" | "registration"
  >;
  readonly keys: SigningKeys;
  readonly readToken: ReadAccessToken;
  readonly refreshTokens: RefreshTokens;
  /** `BASE_URL` and `CONSENT_URL`. */
  readonly issuer: string;
  readonly consentUrl: string;
}

export interface PostedForm {
  readonly form: Form;
  readonly authorization: string | undefined;
  readonly requestId: string;
  readonly address: string;
  /** When it arrived, in Unix milliseconds. */
  readonly now: number;
}

/** Returns the response body. @throws OAuthFailure, or a Failure of the store or of a limit */
export type Endpoint = (posted: PostedForm) => Promise<object>;

/** One endpoint: how a request without a secret authenticates, and its action. */
interface Rules {
  readonly name: "token" | "revoke" | "introspect" | "device_authorization";
  /** Whether the form contains a code or a token that was issued to this client. */
  readonly hasIssuedToken: (clientId: string, form: Form) => Promise<boolean>;
  readonly answer: (client: AuthenticatedClient, posted: PostedForm) => Promise<object>;
}

/** What every endpoint needs. */
interface EndpointParts extends Pick<OAuthParts, "store" | keyof ClientSwitches> {
  readonly limits: Pick<Limits, "client" | "authenticatedClient" | "unauthenticatedClient">;
}

/** Checks credentials and limits first, the same way at every endpoint (spec/decisions.md 32). */
export function endpoint(
  { store, limits, ...switches }: EndpointParts,
  { name, hasIssuedToken, answer }: Rules,
): Endpoint {
  async function authenticate({
    authorization,
    form,
    address,
  }: PostedForm): Promise<AuthenticatedClient & { proven: boolean }> {
    const { clientId, secret } = readCredentials(authorization, form);
    if (!isClientId(clientId) && !isDocumentClientId(clientId)) throw invalidClient();
    const client = await store.clients.find(clientId);
    // No counter for unknown client ids, which callers can invent: such requests count for their address
    // only.
    if (client !== null) await limits.client(name, clientId, address);
    // Compare even without a client, so that the time does not show whether it exists.
    const bySecret = secret !== null && isSecretOf(client, secret);
    if (client === null || (secret !== null && !bySecret)) throw invalidClient();
    const deleted = client.deleted || isTurnedOff(clientId, switches);
    return {
      client: { ...client, deleted },
      bySecret,
      proven: bySecret || (await hasIssuedToken(clientId, form)),
    };
  }

  async function authenticateWithinLimits(posted: PostedForm): Promise<AuthenticatedClient> {
    let authenticated: Awaited<ReturnType<typeof authenticate>> | undefined;
    try {
      authenticated = await authenticate(posted);
    } finally {
      if (!authenticated?.proven) await limits.unauthenticatedClient(posted.address);
    }
    const { proven, client } = authenticated;
    // The command line and unverified clients have users in every space: one of them must not use up the
    // requests of the others.
    if (proven && client.spaceId !== null) await limits.authenticatedClient(name, client.clientId);
    return authenticated;
  }

  return async (posted) => answer(await authenticateWithinLimits(posted), posted);
}

/** Which of this client's tokens a text is, active or not; nothing is looked up. */
export async function identifyToken(
  { refreshTokens, readToken }: OAuthParts,
  clientId: string,
  text: string,
): Promise<PresentedToken> {
  const refreshFamilyId = refreshTokens.familyOf(text, clientId);
  const access = refreshFamilyId === null ? await readToken(text) : null;
  return { refreshFamilyId, access: access?.clientId === clientId ? access : null };
}
