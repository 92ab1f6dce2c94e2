import { expect } from "vitest";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { walk } from "../sign-in/provider-rig.ts";
import { type AuthorizationServer, openAuthorizationServer } from "../support/authorization-server.ts";
import { type LocalServer, type McpTestServer, openLocal, openMcpServer } from "../support/mcp-server.ts";
import type { Person, Service } from "../support/service.ts";

/** The page that browsers return to. */
export const callbackUrl = "https://platform.test/connectors/callback";

/** The page's response to a browser with this cookie. */
export const fetchCallback = ({ url }: Service, path: string, cookie: string): Promise<Response> =>
  fetch(url + path, { headers: { cookie }, redirect: "manual" });

/** An MCP server that accepts only the tokens of an authorization server. */
export interface OAuthConnectorRig extends AsyncDisposable {
  readonly server: McpTestServer;
  readonly provider: AuthorizationServer;
  /** One origin in front of both, whose metadata names the authorization server (RFC 9728). */
  readonly resourceServer: LocalServer;
  /** Installs the connector; returns its row and the session that installed it. */
  install(person: Person): ReturnType<typeof install>;
  /** The same with a sign-in; `path` is the target of the browser's redirect. */
  installAndSignIn(
    service: Service,
    person: Person,
  ): Promise<Awaited<ReturnType<typeof install>> & { readonly path: string }>;
  /** Signs in to an installed connector (again). */
  signIn(
    service: Service,
    made: Pick<Awaited<ReturnType<typeof install>>, "client" | "session" | "id">,
  ): Promise<string>;
}

async function install(person: Person, url: string) {
  const session = await person.session();
  const client = session.client(ConnectorService);
  const server = {
    case: "http" as const,
    value: { url, auth: { case: "oauth" as const, value: { clientId: "" } } },
  };
  const { connector } = await client.installConnector({ name: "Garden", server });
  return { client, session, id: connector?.id ?? "", uid: connector?.uid ?? "", connector };
}

/** Opens all three. @param tokenSeconds lifetime of tokens */
export async function openOAuthConnectorRig(tokenSeconds = 60): Promise<OAuthConnectorRig> {
  const provider = await openAuthorizationServer(tokenSeconds);
  const server = await openMcpServer();
  server.guard = (authorization) => provider.isValid((authorization ?? "").replace("Bearer ", ""));
  const front: LocalServer = await openLocal(async (request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
      response.writeHead(200, { "content-type": "application/json" });
      const scopes = ["openid", "offline_access"];
      response.end(
        JSON.stringify({
          resource: `${front.url}/mcp`,
          authorization_servers: [provider.issuer],
          scopes_supported: scopes,
        }),
      );
      return;
    }
    if (request.url !== "/mcp") return void response.writeHead(404).end();
    const body = (await Array.fromAsync(request)).map(String).join("");
    const { accept = "", authorization = "" } = request.headers;
    const headers = { "content-type": "application/json", accept, authorization };
    const answer = await fetch(server.url, {
      method: request.method ?? "POST",
      headers,
      ...(body === "" ? {} : { body }),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(await answer.text());
  });

  const signIn: OAuthConnectorRig["signIn"] = async (service, { client, session, id }) => {
    const { authorizationUrl } = await client.beginAuthorization({ id });
    const path = await walk(authorizationUrl, "gardener", callbackUrl);
    const page = await fetchCallback(service, path, session.headers.cookie);
    expect([page.status, (await page.text()).includes("Garden is connected")]).toEqual([200, true]);
    return path;
  };
  const installed = (person: Person) => install(person, `${front.url}/mcp`);
  return {
    ...{ server, provider, resourceServer: front, install: installed, signIn },
    async installAndSignIn(service, person) {
      const made = await installed(person);
      return { ...made, path: await signIn(service, made) };
    },
    async [Symbol.asyncDispose]() {
      for (const each of [front, server, provider]) await each[Symbol.asyncDispose]();
    },
  };
}
