import { type DeviceBegun, readDevice, waitForUser } from "./device.ts";
import { ConnectionError } from "./errors.ts";
import { OAuthError } from "./oauth-error.ts";
import {
  fetchDirectly,
  fetchOf,
  randomHex,
  sleep,
  textOf,
  timeLimit,
  toBase64,
  toBase64Url,
} from "./runtime.ts";
import { readError, type TokenSource } from "./transport.ts";

/** A pair of tokens, as a store keeps it. It is secret. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token expires, in Unix milliseconds. */
  readonly expiresAt: number;
  /** The verifier of PKCE, which refreshes of an app with a secret need. */
  readonly verifier?: string;
}

/**
 * Keeps the tokens of one user. Several processes may share a store: one of them refreshes, and the others
 * read what it has saved. `save` must have stored the pair when it returns.
 */
export interface TokenStore {
  load(): Promise<Tokens | undefined>;
  save(tokens: Tokens | undefined): Promise<void>;
  /**
   * Runs a refresh while no other process of the store runs one. Without it, processes may refresh at the
   * same time, and one wins.
   */
  exclusive?<T>(refresh: () => Promise<T>): Promise<T>;
}

/** A store in the memory of this process. */
export function memoryStore(first?: Tokens): TokenStore {
  let kept = first;
  return {
    load: async () => kept,
    async save(tokens) {
      kept = tokens;
    },
  };
}

export interface OAuthOptions {
  /** Address of the installation; its metadata has the endpoints. */
  readonly issuer: string;
  readonly clientId: string;
  /** Only on servers: a page or a program on a user's machine has none. */
  readonly clientSecret?: string;
  readonly redirectUri: string;
  readonly fetch?: typeof fetch;
  readonly sleep?: (ms: number) => Promise<void>;
  /** The present time in Unix milliseconds; for tests. */
  readonly now?: () => number;
}

/** An authorization that has begun. Keep it, for example in the user's session, until the user comes back. */
export interface Begun {
  /** Send the user's browser here. */
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

/** The authorization code flow with PKCE (RFC 6749, RFC 7636, RFC 9207) for one app. */
export interface OAuthClient {
  /** Begins an authorization. */
  begin(): Promise<Begun>;
  /**
   * Exchanges the code in the address to which the user came back. @throws OAuthError when the user refused,
   * or the state differs
   */
  finish(callback: string | URL, begun: Pick<Begun, "state" | "verifier">): Promise<Tokens>;
  /**
   * Begins a sign-in on another device, for programs without a browser (RFC 8628). The app needs no redirect
   * for it.
   *
   * @throws OAuthError `unsupported_grant_type` for a server without it, `unauthorized_client` for an app
   * that does not allow it
   */
  beginDevice(): Promise<DeviceBegun>;
  /**
   * Waits for the user's answer. @throws OAuthError `access_denied` when the user refused, `expired_token`
   * after 10 minutes
   */
  finishDevice(begun: DeviceBegun): Promise<Tokens>;
  /** Supplies tokens of a store to a client, and refreshes them once however many calls need it. */
  source(store: TokenStore): TokenSource;
  /** Ends the tokens, and removes them from the store. */
  revoke(store: TokenStore): Promise<void>;
}

interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
  readonly device_authorization_endpoint?: string;
  readonly authorization_response_iss_parameter_supported?: boolean;
}

/** A token is renewed this long before it expires. */
const earlyMs = 60_000;
/**
 * How often, and after which pause, a process looks for the pair of another one that has refreshed first: for
 * 10 s, in which the server takes its repeat for a race.
 */
const [looks, lookMs] = [100, 100];

export function oauthClient(options: OAuthOptions): OAuthClient {
  const { clientId, clientSecret, redirectUri, now = Date.now } = options;
  const doFetch = fetchOf(options.fetch);
  const pause = options.sleep ?? sleep;
  const issuer = options.issuer.replace(/\/+$/, "");
  let known: Promise<Metadata> | undefined;

  async function request(url: string, init: RequestInit, what: string): Promise<Response> {
    const limit = timeLimit(30_000, what);
    try {
      const reply = await fetchDirectly(doFetch, url, { ...init, signal: limit.signal });
      // The body is read within the time limit.
      return new Response(await textOf(reply), { status: reply.status });
    } catch (thrown) {
      throw readError(thrown, limit, what);
    } finally {
      limit.stop();
    }
  }

  async function discover(): Promise<Metadata> {
    const reply = await request(
      `${issuer}/.well-known/oauth-authorization-server`,
      {},
      "metadata of the authorization server",
    );
    if (!reply.ok) throw new ConnectionError(`HTTP ${reply.status}: metadata of the authorization server`);
    const found = (await reply.json()) as Metadata;
    // RFC 8414 3.3: the endpoints, which get the secret, are those of this issuer.
    if (found.issuer !== issuer)
      throw new OAuthError("invalid_issuer", `the metadata are those of ${found.issuer}`);
    return found;
  }
  function metadata(): Promise<Metadata> {
    known ??= discover().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  async function post(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    const basic: Record<string, string> = clientSecret
      ? {
          authorization: `Basic ${toBase64(new TextEncoder().encode(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`))}`,
        }
      : {};
    const body = new URLSearchParams({ ...fields, ...(clientSecret ? {} : { client_id: clientId }) });
    return await request(
      url,
      {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...basic },
        body: body.toString(),
      },
      new URL(url).pathname,
    );
  }

  async function answerOf(reply: Response): Promise<Readonly<Record<string, unknown>>> {
    const answer = (await reply.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
    if (!reply.ok)
      throw new OAuthError(
        String(answer["error"] ?? "server_error"),
        String(answer["error_description"] ?? `HTTP ${reply.status}`),
      );
    return answer;
  }

  async function tokensBy(fields: Readonly<Record<string, string>>, verifier?: string): Promise<Tokens> {
    const answer = await answerOf(await post((await metadata()).token_endpoint, fields));
    return {
      accessToken: String(answer["access_token"]),
      refreshToken: String(answer["refresh_token"]),
      expiresAt: now() + Number(answer["expires_in"]) * 1000,
      ...(verifier === undefined ? {} : { verifier }),
    };
  }

  async function begin(): Promise<Begun> {
    const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    const state = randomHex(16);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    const url = new URL((await metadata()).authorization_endpoint);
    const fields = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge: toBase64Url(new Uint8Array(digest)),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
    return { url: url.href, state, verifier };
  }

  async function finish(
    callback: string | URL,
    { state, verifier }: Pick<Begun, "state" | "verifier">,
  ): Promise<Tokens> {
    const answer = new URL(callback).searchParams;
    if (answer.get("state") !== state)
      throw new OAuthError("invalid_state", "the state differs: another authorization was begun");
    const { authorization_response_iss_parameter_supported: authorizationResponseIssParameterSupported } =
      await metadata();
    // RFC 9207 2.4
    if ((authorizationResponseIssParameterSupported || answer.has("iss")) && answer.get("iss") !== issuer)
      throw new OAuthError("invalid_issuer", "the answer comes from another server");
    const error = answer.get("error");
    if (error !== null) throw new OAuthError(error, answer.get("error_description") ?? error);
    const code = answer.get("code") ?? "";
    return await tokensBy(
      { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier },
      clientSecret ? verifier : undefined,
    );
  }

  async function beginDevice(): Promise<DeviceBegun> {
    const { device_authorization_endpoint: deviceAuthorizationEndpoint } = await metadata();
    if (deviceAuthorizationEndpoint === undefined)
      throw new OAuthError("unsupported_grant_type", "the server has no sign-in on another device");
    return readDevice(await answerOf(await post(deviceAuthorizationEndpoint, {})), now());
  }

  function finishDevice(begun: DeviceBegun): Promise<Tokens> {
    const fields = {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: begun.deviceCode,
    };
    return waitForUser(begun, { ask: () => tokensBy(fields), pause, now });
  }

  /** One refresh. When another process was first, its pair is in the store soon. */
  async function refresh(store: TokenStore, used: Tokens): Promise<Tokens> {
    const { refreshToken, verifier } = used;
    try {
      const fields = {
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        ...(verifier ? { code_verifier: verifier } : {}),
      };
      const renewed = await tokensBy(fields, verifier);
      await store.save(renewed);
      return renewed;
    } catch (error) {
      // With `exclusive` no other process was first: the authorization has ended.
      if (!(error instanceof OAuthError) || error.code !== "invalid_grant" || store.exclusive) throw error;
      for (let look = 0; look < looks; look += 1) {
        const stored = await store.load();
        if (stored && stored.refreshToken !== refreshToken) return stored;
        await pause(lookMs);
      }
      throw error;
    }
  }

  function source(store: TokenStore): TokenSource {
    let running: Promise<Tokens> | undefined;
    /** @param refused the access token that may no longer be used. */
    async function renewed(refused: string): Promise<Tokens> {
      const stored = await store.load();
      if (!stored) throw new OAuthError("invalid_grant", "the store has no tokens: authorize first");
      return stored.accessToken === refused ? await refresh(store, stored) : stored;
    }
    function renewOnce(refused: string): Promise<Tokens> {
      const renew = () => renewed(refused);
      running ??= (store.exclusive?.(renew) ?? renew()).finally(() => {
        running = undefined;
      });
      return running;
    }
    return {
      async token() {
        const stored = await store.load();
        if (!stored) throw new OAuthError("invalid_grant", "the store has no tokens: authorize first");
        if (now() < stored.expiresAt - earlyMs) return stored.accessToken;
        return (await renewOnce(stored.accessToken)).accessToken;
      },
      refresh: async (refused) => (await renewOnce(refused)).accessToken,
    };
  }

  async function revoke(store: TokenStore): Promise<void> {
    const stored = await store.load();
    if (!stored) return;
    const reply = await post((await metadata()).revocation_endpoint, { token: stored.refreshToken });
    if (!reply.ok) throw new OAuthError("server_error", `HTTP ${reply.status}: the tokens are not revoked`);
    await store.save(undefined);
  }

  return { begin, finish, beginDevice, finishDevice, source, revoke };
}
