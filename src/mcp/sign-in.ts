import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from "@modelcontextprotocol/sdk/client/auth.js";
import { OAuthError, ServerError, TemporarilyUnavailableError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import type { AuthorizationServerMetadata, OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { OAuthCredentials } from "../core/connectors/credentials.ts";
import { type ConnectorSignIns, ServerFault } from "../core/connectors/server.ts";
import type { JsonObject } from "../core/json.ts";
import { systemResolve } from "../egress/agent.ts";
import { type GuardedFetch, guardedFetch } from "../egress/guarded-fetch.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import type { ServersParts } from "./servers.ts";

const signInMs = 30_000;
const bytesMax = 1024 * 1024;

export interface SignInParts extends Omit<ServersParts, "commands"> {
  /** The page that authorization servers lead back to. */
  readonly redirectUrl: string;
}

/** Signing in by OAuth 2.1 with PKCE, as the Model Context Protocol has it: by the metadata of the server, registered dynamically unless a client is given. */
export function connectorSignIns(parts: SignInParts): ConnectorSignIns {
  const { clock, redirectUrl } = parts;

  const keep = (credentials: OAuthCredentials, tokens: OAuthTokens): OAuthCredentials => ({
    ...credentials,
    tokens: {
      access: tokens.access_token,
      // Servers that do not turn it over leave the old one in force (RFC 6749 6).
      refresh: tokens.refresh_token ?? credentials.tokens?.refresh ?? null,
      expiresAt: tokens.expires_in === undefined ? null : clock.now() + tokens.expires_in * 1000,
    },
  });

  return {
    begin: (url, credentials, state, signal) =>
      within(parts, signal, async (fetchFn) => {
        const {
          authorizationServerUrl,
          authorizationServerMetadata: metadata,
          resourceMetadata,
        } = await discoverOAuthServerInfo(url, { fetchFn });
        checkPkce(metadata);
        const known = credentials.client !== null && (credentials.issuer === "" || credentials.issuer === authorizationServerUrl);
        const client = known ? clientOf(credentials) : await register(authorizationServerUrl, metadata, redirectUrl, fetchFn);
        const resource = resourceMetadata?.resource ?? null;
        const scope = resourceMetadata?.scopes_supported?.join(" ");
        const begun = await startAuthorization(authorizationServerUrl, {
          ...{ clientInformation: client, redirectUrl, state },
          ...(metadata === undefined ? {} : { metadata }),
          ...(scope === undefined ? {} : { scope }),
          ...(resource === null ? {} : { resource: new URL(resource) }),
        });
        const { href, protocol } = begun.authorizationUrl;
        // The user's browser is sent there.
        if (protocol !== "https:" && protocol !== "http:") throw new ServerFault("broken", "the authorization endpoint is no address");
        return {
          url: href,
          verifier: begun.codeVerifier,
          credentials: {
            kind: "oauth",
            client: json(client),
            issuer: authorizationServerUrl,
            metadata: metadata ? json(metadata) : null,
            resource,
            tokens: null,
          },
        };
      }),

    finish: ({ verifier, credentials }, { code, issuer }, signal) =>
      within(parts, signal, async (fetchFn) => {
        const { metadata } = credentials;
        // Another server's code is not shown to this one (RFC 9207).
        if (issuer !== "" && metadata !== null && issuer !== metadata["issuer"]) throw new ServerFault("refused", "another issuer");
        const asked = { ...requestOf(credentials), authorizationCode: code, codeVerifier: verifier, redirectUri: redirectUrl, fetchFn };
        return keep(credentials, await exchangeAuthorization(credentials.issuer, asked));
      }),

    refresh: (credentials, signal) =>
      within(parts, signal, async (fetchFn) => {
        const refreshToken = credentials.tokens?.refresh ?? null;
        if (refreshToken === null) throw new ServerFault("refused", "nothing to refresh with");
        return keep(credentials, await refreshAuthorization(credentials.issuer, { ...requestOf(credentials), refreshToken, fetchFn }));
      }),
  };
}

/** What the SDK made, or read and checked, is JSON, and is given back to it. */
const json = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
const clientOf = ({ client }: OAuthCredentials) => (client ?? { client_id: "" }) as unknown as OAuthClientInformationMixed;

const requestOf = (credentials: OAuthCredentials) => ({
  clientInformation: clientOf(credentials),
  ...(credentials.metadata === null ? {} : { metadata: credentials.metadata as unknown as AuthorizationServerMetadata }),
  ...(credentials.resource === null ? {} : { resource: new URL(credentials.resource) }),
});

/** Whoever does not say that it takes S256 may not check it (the MCP specification refuses such servers). */
function checkPkce(metadata: AuthorizationServerMetadata | undefined): void {
  const methods = metadata?.code_challenge_methods_supported;
  if (methods !== undefined && !methods.includes("S256")) throw new ServerFault("broken", "no PKCE");
}

const register = (
  authorizationServerUrl: string,
  metadata: AuthorizationServerMetadata | undefined,
  redirectUrl: string,
  fetchFn: GuardedFetch["fetch"],
): Promise<OAuthClientInformationMixed> =>
  registerClient(authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    clientMetadata: {
      client_name: "Agent Task Platform",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    fetchFn,
  });

/** One exchange with an authorization server, within bounds. */
async function within<T>(
  { clock, allowed, resolve = systemResolve }: SignInParts,
  given: AbortSignal,
  work: (fetchFn: GuardedFetch["fetch"]) => Promise<T>,
): Promise<T> {
  const time = limitTime(clock, signInMs, given);
  const web = guardedFetch(allowed, resolve, { bytesMax, signal: time.signal, onTooMuch: () => web.end() });
  try {
    return await unlessAborted(time.signal, work(web.fetch));
  } catch (thrown) {
    given.throwIfAborted();
    if (thrown instanceof ServerFault) throw thrown;
    if (time.signal.aborted) throw new ServerFault("timeout", thrown);
    // What may be over by itself asks nobody to sign in again.
    const passes = thrown instanceof ServerError || thrown instanceof TemporarilyUnavailableError;
    throw new ServerFault(thrown instanceof OAuthError && !passes ? "refused" : "unreachable", thrown);
  } finally {
    time.stop();
    web.end();
  }
}
