import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** An authorization server of a connector: clients register themselves, refresh tokens are good once. */
export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** Requests for tokens, as their bodies say. */
  readonly grants: string[];
  /** Every token that it gave, and every code and verifier that it was shown. */
  readonly secrets: string[];
  /** Refuses every refresh from now on. */
  refuseRefresh: boolean;
  /** Takes back every access token that it gave. */
  takeBack(): void;
  /** Whether it gave this access token, and has not taken it back. */
  isLiving(token: string): boolean;
}

/** @param tokenSeconds so long tokens live. */
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
        getResourceServerInfo: () => ({ scope: "openid", accessTokenFormat: "opaque", accessTokenTTL: tokenSeconds }),
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
  const given = new Set<string>();
  const state = { refuseRefresh: false };
  server.on("request", async (request, reply) => {
    // The SDK looks here first; the server of the connector says nothing of where its tokens come from.
    if (request.url !== "/token") return answer(request, reply);
    const body = (await Array.fromAsync(request)).map(String).join("");
    const grant = new URLSearchParams(body).get("grant_type") ?? "";
    grants.push(grant);
    for (const name of ["code", "code_verifier", "refresh_token"]) secrets.push(...new URLSearchParams(body).getAll(name));
    if (grant === "refresh_token" && state.refuseRefresh) {
      reply.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      return;
    }
    const write = reply.end.bind(reply);
    reply.end = ((text: unknown, ...rest: []) => {
      const { access_token, refresh_token } = JSON.parse(String(text ?? "{}"));
      if (access_token) given.add(access_token);
      secrets.push(...[access_token, refresh_token].filter(Boolean));
      return write(text as string, ...rest); // koa answers with the whole text
    }) as typeof reply.end;
    // oidc-provider takes a body that was read already.
    Object.assign(request, { body: Object.fromEntries(new URLSearchParams(body)) });
    answer(request, reply);
  });
  return {
    issuer,
    grants,
    secrets,
    isLiving: (token) => given.has(token),
    takeBack: () => given.clear(),
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
