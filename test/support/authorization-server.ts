import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** An authorization server of a connector: clients register themselves, refresh tokens are single use. */
export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** The bodies of token requests. */
  readonly grants: string[];
  /** Every token that it issued, and every code and verifier that it received. */
  readonly secrets: string[];
  /** Refuses every refresh from now on. */
  refuseRefresh: boolean;
  /** Revokes every access token that it issued. */
  revokeAccess(): void;
  /** Whether it issued this access token, and has not revoked it. */
  isValid(token: string): boolean;
}

/** @param tokenSeconds the lifetime of tokens. */
export async function openAuthorizationServer(tokenSeconds = 60): Promise<AuthorizationServer> {
  const server = createServer().unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on TCP.
  const provider = new Provider(issuer, {
    features: {
      registration: { enabled: true },
      devInteractions: { enabled: true },
      userinfo: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "openid",
          accessTokenFormat: "opaque",
          accessTokenTTL: tokenSeconds,
        }),
        useGrantedResource: () => true,
      },
    },
    clientDefaults: { token_endpoint_auth_method: "none" },
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: { AccessToken: tokenSeconds },
    scopes: ["openid", "offline_access"],
    pkce: { required: () => true },
    cookies: { keys: ["test"] },
  });
  const answer = provider.callback();
  const grants: string[] = [];
  const secrets: string[] = [];
  const issued = new Set<string>();
  const state = { refuseRefresh: false };
  server.on("request", async (request, reply) => {
    // The SDK looks here first; the connector's server does not name its authorization server.
    if (request.url !== "/token") return answer(request, reply);
    const body = (await Array.fromAsync(request)).map(String).join("");
    const grant = new URLSearchParams(body).get("grant_type") ?? "";
    grants.push(grant);
    for (const name of ["code", "code_verifier", "refresh_token"])
      secrets.push(...new URLSearchParams(body).getAll(name));
    if (grant === "refresh_token" && state.refuseRefresh) {
      reply.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      return;
    }
    const write = reply.end.bind(reply);
    reply.end = ((text: unknown, ...rest: []) => {
      const { access_token, refresh_token } = JSON.parse(String(text ?? "{}"));
      if (access_token) issued.add(access_token);
      secrets.push(...[access_token, refresh_token].filter(Boolean));
      return write(text as string, ...rest); // koa answers with the complete text
    }) as typeof reply.end;
    // oidc-provider accepts a body that was read before.
    Object.assign(request, { body: Object.fromEntries(new URLSearchParams(body)) });
    answer(request, reply);
  });
  return {
    issuer,
    grants,
    secrets,
    isValid: (token) => issued.has(token),
    revokeAccess: () => issued.clear(),
    get refuseRefresh() {
      return state.refuseRefresh;
    },
    set refuseRefresh(refuse) {
      state.refuseRefresh = refuse;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
