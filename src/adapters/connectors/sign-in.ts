import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  type OAuthClientInformationMixed,
  OAuthError,
  OAuthErrorCode,
  type OAuthProtectedResourceMetadata,
  type OAuthTokens,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  type StandardSchemaV1Sync,
  specTypeSchemas,
  startAuthorization,
} from "@modelcontextprotocol/client";
import type { AllowedAddresses } from "../../config/address-range.ts";
import type { OnBehalf } from "../../core/accounts/caller.ts";
import { type ConnectorSignIns, type OAuthCredentials, ServerFault } from "../../core/connectors/server.ts";
import { defined } from "../../core/defined.ts";
import type { JsonObject } from "../../core/json.ts";
import { type GuardedFetch, guardedFetch } from "../egress/guarded-fetch.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import type { ServersParts } from "./servers.ts";
import { unreachedBy } from "./unreached.ts";

// Limits and checks of the answers of an authorization server, and of a server that names one. All throw
// ServerFault.

/** The maximum length of the address to which a browser is redirected, in characters. */
const pageMax = 8_192;
/** The maximum length of a server's stored metadata, and of our registration there, in characters. */
const keptMax = 32_000;
/** The maximum length of a token in characters, because it is sent in a header. */
const tokenMax = 8_192;

/**
 * The metadata must have the issuer of the requested server: otherwise the code of another server could be
 * sent here (RFC 8414 3.3). A server without S256 is refused, as the protocol requires.
 */
function checkServer(url: string, metadata: AuthorizationServerMetadata | undefined): void {
  if (metadata === undefined) return;
  if (!URL.canParse(metadata.issuer) || new URL(metadata.issuer).href !== new URL(url).href)
    throw new ServerFault("broken", "metadata of another issuer");
  const methods = metadata.code_challenge_methods_supported;
  if (methods !== undefined && !methods.includes("S256")) throw new ServerFault("broken", "no PKCE");
}

/**
 * The resource for which tokens are requested: the server itself, or a resource that includes it. With
 * another resource, this server would receive the tokens of that resource (RFC 9728 3.3).
 */
function resourceOf(serverUrl: string, { resource }: OAuthProtectedResourceMetadata): string {
  if (!checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource }))
    throw new ServerFault("broken", "metadata of another resource");
  return resource;
}

/**
 * The page to which the user's browser is redirected: https, or on this machine where the operator allows
 * that.
 */
function pageOf({ href, protocol, hostname }: URL, allowed: readonly AllowedAddresses[]): string {
  const isHere =
    /^(localhost|127\.[0-9.]+|\[::1\])$/.test(hostname) && allowed.some(({ kind }) => kind === "loopback");
  const isPage = protocol === "https:" || (protocol === "http:" && isHere);
  if (!isPage || href.length > pageMax)
    throw new ServerFault("broken", "the authorization endpoint is not a URL for a browser");
  return href;
}

/** Ensures that the code of another server is not sent to this one (RFC 9207). */
function checkIssuer({ metadata, issuer }: OAuthCredentials, received: string): void {
  const expected = metadata?.["issuer"] ?? issuer;
  const isRequired = metadata?.["authorization_response_iss_parameter_supported"] === true;
  if (received === "" ? isRequired : received !== expected)
    throw new ServerFault("refused", "another issuer");
}

/**
 * @param before the previous refresh token: it stays valid if the server does not rotate it (RFC 6749 6).
 * @param now Unix milliseconds.
 */
function tokensIn(
  response: OAuthTokens,
  before: string | null,
  now: number,
): NonNullable<OAuthCredentials["tokens"]> {
  const {
    access_token: accessToken,
    refresh_token: refresh = before,
    expires_in: expiresIn,
    token_type: tokenType,
  } = response;
  if (
    tokenType.toLowerCase() !== "bearer" ||
    !isToken(accessToken) ||
    (refresh !== null && !isToken(refresh))
  )
    throw new ServerFault("broken", "unusable tokens");
  return {
    access: accessToken,
    refresh,
    expiresAt: expiresIn === undefined ? null : now + Math.trunc(expiresIn * 1000),
  };
}

/** The stored form of metadata and registration, which both are from the server. */
function keptJson(value: object): JsonObject {
  const text = JSON.stringify(value);
  if (text.length > keptMax) throw new ServerFault("too_large");
  return JSON.parse(text);
}

/** Printable ASCII (RFC 6749 A.12, A.17), within bounds. */
const isToken = (text: string): boolean => text.length <= tokenMax && /^[\x20-\x7e]+$/.test(text);

const signInMs = 30_000;
const bytesMax = 1024 * 1024;
/** The maximum length of the requested scope, in characters. */
const scopeMax = 2_000;

export interface SignInParts extends Omit<ServersParts, "commands"> {
  /** The page to which authorization servers redirect back. */
  readonly redirectUrl: string;
}

/**
 * Signs in by OAuth 2.1 with PKCE, as the Model Context Protocol requires: with the server's metadata, and
 * with dynamic registration unless a client is configured.
 */
export function connectorSignIns(parts: SignInParts): ConnectorSignIns {
  const { clock, redirectUrl } = parts;

  const keep = (credentials: OAuthCredentials, response: OAuthTokens): OAuthCredentials => ({
    ...credentials,
    tokens: tokensIn(response, credentials.tokens?.refresh ?? null, clock.now()),
  });

  return {
    begin: (url, credentials, state, by) =>
      inExchange(parts, by, async (fetchFn) => {
        const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } =
          await discoverOAuthServerInfo(url, {
            fetchFn,
            skipIssuerMetadataValidation: true,
          }); // `checkServer` compares addresses, not texts.
        checkServer(authorizationServerUrl, authorizationServerMetadata);
        const known =
          credentials.client !== null &&
          (credentials.issuer === "" || credentials.issuer === authorizationServerUrl);
        const client = known
          ? clientOf(credentials)
          : await register(authorizationServerUrl, authorizationServerMetadata, redirectUrl, fetchFn);
        const resource = resourceMetadata ? resourceOf(url, resourceMetadata) : null;
        const scope = resourceMetadata?.scopes_supported?.join(" ").slice(0, scopeMax);
        const begun = await startAuthorization(authorizationServerUrl, {
          clientInformation: client,
          redirectUrl,
          state,
          ...defined({ metadata: authorizationServerMetadata, scope }),
          ...(resource === null ? {} : { resource: new URL(resource) }),
        });
        return {
          url: pageOf(begun.authorizationUrl, parts.allowed),
          verifier: begun.codeVerifier,
          credentials: {
            kind: "oauth",
            client: keptJson(client),
            issuer: authorizationServerUrl,
            metadata: authorizationServerMetadata ? keptJson(authorizationServerMetadata) : null,
            resource,
            tokens: null,
          },
        };
      }),

    finish: ({ verifier, credentials }, { code, issuer }, by) =>
      inExchange(parts, by, async (fetchFn) => {
        checkIssuer(credentials, issuer);
        const request = {
          ...requestOf(credentials),
          authorizationCode: code,
          codeVerifier: verifier,
          redirectUri: redirectUrl,
          fetchFn,
          ...(issuer === "" ? {} : { iss: issuer }),
        };
        return keep(credentials, await exchangeAuthorization(credentials.issuer, request));
      }),

    refresh: (credentials, by) =>
      inExchange(parts, by, async (fetchFn) => {
        const refreshToken = credentials.tokens?.refresh ?? null;
        if (refreshToken === null) throw new ServerFault("refused", "no refresh token");
        return keep(
          credentials,
          await refreshAuthorization(credentials.issuer, {
            ...requestOf(credentials),
            refreshToken,
            fetchFn,
          }),
        );
      }),
  };
}

/**
 * A stored value as the library's type. @throws ServerFault for one that an earlier release stored
 * differently
 */
function read<T>(value: unknown, ...schemas: readonly StandardSchemaV1Sync<unknown, T>[]): T {
  for (const schema of schemas) {
    const result = schema["~standard"].validate(value);
    if (result.issues === undefined) return result.value;
  }
  throw new ServerFault("broken", "stored values of another form");
}

/** A registered client, or a configured one, which has no redirect addresses. */
const clientOf = ({ client }: OAuthCredentials): OAuthClientInformationMixed =>
  read<OAuthClientInformationMixed>(
    client ?? { client_id: "" },
    specTypeSchemas.OAuthClientInformationFull,
    specTypeSchemas.OAuthClientInformation,
  );

const metadataOf = (metadata: JsonObject): AuthorizationServerMetadata =>
  read<AuthorizationServerMetadata>(
    metadata,
    specTypeSchemas.OAuthMetadata,
    specTypeSchemas.OpenIdProviderDiscoveryMetadata,
  );

const requestOf = (credentials: OAuthCredentials) => ({
  clientInformation: clientOf(credentials),
  ...(credentials.metadata === null ? {} : { metadata: metadataOf(credentials.metadata) }),
  ...(credentials.resource === null ? {} : { resource: new URL(credentials.resource) }),
});

const register = (
  authorizationServerUrl: string,
  metadata: AuthorizationServerMetadata | undefined,
  redirectUrl: string,
  fetchFn: GuardedFetch["fetch"],
): Promise<OAuthClientInformationMixed> =>
  registerClient(authorizationServerUrl, {
    ...defined({ metadata }),
    clientMetadata: {
      client_name: "Agent Task Platform",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    fetchFn,
  });

/** Runs one exchange with an authorization server, within the limits. */
async function inExchange<T>(
  { clock, allowed, resolve }: SignInParts,
  { accountId, signal }: OnBehalf,
  work: (fetchFn: GuardedFetch["fetch"]) => Promise<T>,
): Promise<T> {
  const time = limitTime(clock, signInMs, signal);
  const web = guardedFetch(allowed, resolve, {
    bytesMax,
    accountId,
    signal: time.signal,
    onTooMuch: () => web.end(),
  });
  try {
    return await unlessAborted(time.signal, work(web.fetch));
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof ServerFault) throw thrown;
    if (time.signal.aborted) throw new ServerFault("timeout", thrown);
    throw isRefusal(thrown)
      ? new ServerFault("refused", thrown)
      : new ServerFault("unreachable", thrown, unreachedBy(thrown));
  } finally {
    time.stop();
    web.end();
  }
}

const temporary: readonly string[] = [OAuthErrorCode.ServerError, OAuthErrorCode.TemporarilyUnavailable];

/**
 * True for an error by which the server refuses the client or its request. A temporary error must not require
 * a new sign-in.
 */
function isRefusal(thrown: unknown): boolean {
  if (thrown instanceof RegistrationRejectedError) return thrown.status < 500 && thrown.status !== 429;
  return thrown instanceof OAuthError && !temporary.includes(thrown.code);
}
