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
import type { OnBehalf } from "../core/on-behalf.ts";
import { type GuardedFetch, guardedFetch } from "../egress/guarded-fetch.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import type { ServersParts } from "./servers.ts";
import { checkIssuer, checkServer, keptJson, pageOf, resourceOf, tokensIn } from "./sign-in-rules.ts";

const signInMs = 30_000;
const bytesMax = 1024 * 1024;
/** Characters of what is asked for. */
const scopeMax = 2_000;

export interface SignInParts extends Omit<ServersParts, "commands"> {
  /** The page that authorization servers lead back to. */
  readonly redirectUrl: string;
}

/** Signing in by OAuth 2.1 with PKCE, as the Model Context Protocol has it: by the metadata of the server, registered dynamically unless a client is given. */
export function connectorSignIns(parts: SignInParts): ConnectorSignIns {
  const { clock, redirectUrl } = parts;

  const keep = (credentials: OAuthCredentials, given: OAuthTokens): OAuthCredentials => ({
    ...credentials,
    tokens: tokensIn(given, credentials.tokens?.refresh ?? null, clock.now()),
  });

  return {
    begin: (url, credentials, state, by) =>
      within(parts, by, async (fetchFn) => {
        const {
          authorizationServerUrl,
          authorizationServerMetadata: metadata,
          resourceMetadata,
        } = await discoverOAuthServerInfo(url, { fetchFn });
        checkServer(authorizationServerUrl, metadata);
        const known = credentials.client !== null && (credentials.issuer === "" || credentials.issuer === authorizationServerUrl);
        const client = known ? clientOf(credentials) : await register(authorizationServerUrl, metadata, redirectUrl, fetchFn);
        const resource = resourceMetadata ? resourceOf(url, resourceMetadata) : null;
        const scope = resourceMetadata?.scopes_supported?.join(" ").slice(0, scopeMax);
        const begun = await startAuthorization(authorizationServerUrl, {
          ...{ clientInformation: client, redirectUrl, state },
          ...(metadata === undefined ? {} : { metadata }),
          ...(scope === undefined ? {} : { scope }),
          ...(resource === null ? {} : { resource: new URL(resource) }),
        });
        return {
          url: pageOf(begun.authorizationUrl, parts.allowed),
          verifier: begun.codeVerifier,
          credentials: {
            kind: "oauth",
            client: keptJson(client),
            issuer: authorizationServerUrl,
            metadata: metadata ? keptJson(metadata) : null,
            resource,
            tokens: null,
          },
        };
      }),

    finish: ({ verifier, credentials }, { code, issuer }, by) =>
      within(parts, by, async (fetchFn) => {
        checkIssuer(credentials, issuer);
        const asked = { ...requestOf(credentials), authorizationCode: code, codeVerifier: verifier, redirectUri: redirectUrl, fetchFn };
        return keep(credentials, await exchangeAuthorization(credentials.issuer, asked));
      }),

    refresh: (credentials, by) =>
      within(parts, by, async (fetchFn) => {
        const refreshToken = credentials.tokens?.refresh ?? null;
        if (refreshToken === null) throw new ServerFault("refused", "nothing to refresh with");
        return keep(credentials, await refreshAuthorization(credentials.issuer, { ...requestOf(credentials), refreshToken, fetchFn }));
      }),
  };
}

/** What the SDK made, or read and checked, is given back to it. */
const clientOf = ({ client }: OAuthCredentials) => (client ?? { client_id: "" }) as unknown as OAuthClientInformationMixed;

const requestOf = (credentials: OAuthCredentials) => ({
  clientInformation: clientOf(credentials),
  ...(credentials.metadata === null ? {} : { metadata: credentials.metadata as unknown as AuthorizationServerMetadata }),
  ...(credentials.resource === null ? {} : { resource: new URL(credentials.resource) }),
});

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
  { clock, allowed, resolve }: SignInParts,
  { accountId, signal: given }: OnBehalf,
  work: (fetchFn: GuardedFetch["fetch"]) => Promise<T>,
): Promise<T> {
  const time = limitTime(clock, signInMs, given);
  const web = guardedFetch(allowed, resolve, { bytesMax, accountId, signal: time.signal, onTooMuch: () => web.end() });
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
