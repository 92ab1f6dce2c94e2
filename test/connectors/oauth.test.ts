import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { openCredentials, sealCredentials } from "../../src/core/connectors/credentials.ts";
import { reachServers, SignInNeeded } from "../../src/core/connectors/reach.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { mcpServers } from "../../src/mcp/servers.ts";
import { connectorSignIns } from "../../src/mcp/sign-in.ts";
import { refusalOf, settingsRig } from "../settings/settings-rig.ts";
import { walk } from "../sign-in/provider-rig.ts";
import { type AuthorizationServer, openAuthorizationServer } from "../support/authorization-server.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { type LocalServer, type McpTestServer, openLocal, openMcpServer } from "../support/mcp-server.ts";
import type { Person } from "../support/service.ts";

let server: McpTestServer;
let provider: AuthorizationServer;
let front: LocalServer;
const never = new AbortController().signal;
const callback = "https://platform.test/connectors/callback";

beforeAll(async () => {
  provider = await openAuthorizationServer();
  server = await openMcpServer();
  server.guard = (authorization) => provider.isLiving((authorization ?? "").replace("Bearer ", ""));
  // One origin, as servers have it: its metadata names the authorization server (RFC 9728).
  front = await openLocal(async (request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          resource: `${front.url}/mcp`,
          authorization_servers: [provider.issuer],
          scopes_supported: ["openid", "offline_access"],
        }),
      );
      return;
    }
    if (request.url !== "/mcp") return void response.writeHead(404).end();
    const body = (await Array.fromAsync(request)).map(String).join("");
    const passed = new Headers({
      "content-type": "application/json",
      accept: request.headers.accept ?? "",
      authorization: request.headers.authorization ?? "",
    });
    const answer = await fetch(server.url, { method: request.method ?? "POST", headers: passed, ...(body === "" ? {} : { body }) });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(await answer.text());
  });
});
afterAll(async () => {
  for (const each of [front, server, provider]) await each[Symbol.asyncDispose]();
});

describeOnEach("connectors that are signed in to", (database) => {
  const rig = settingsRig(database, { env: { CONNECTOR_ALLOW: "loopback" } });

  async function installed(who: Person) {
    const session = await who.session();
    const client = session.client(ConnectorService);
    const server = { case: "http" as const, value: { url: `${front.url}/mcp`, auth: { case: "oauth" as const, value: { clientId: "" } } } };
    const { connector } = await client.installConnector({ name: "Garden", server });
    return { client, session, id: connector?.id ?? "", connector };
  }

  const back = (path: string, cookie: string) => fetch(rig.service.url + path, { headers: { cookie }, redirect: "manual" });

  async function signedIn(who: Person) {
    const made = await installed(who);
    const { authorizationUrl } = await made.client.beginAuthorization({ id: made.id });
    const path = await walk(authorizationUrl, "gardener", callback);
    const page = await back(path, made.session.headers.cookie);
    expect([page.status, (await page.text()).includes("Garden is connected")]).toEqual([200, true]);
    return { ...made, path };
  }

  test("are ready once the browser is back, with their tools, and nothing of the tokens is shown or kept in clear", async () => {
    const ann = await rig.person();
    const { id, client, connector } = await signedIn(ann);
    expect(connector).toMatchObject({ state: "expired", auth: "oauth", tools: [] });
    const { data } = await client.listInstalled({});
    expect(data).toMatchObject([{ id, state: "ready" }]);
    expect(data[0]?.tools.map(({ name }) => name)).toEqual(["water", "fail"]);
    expect(provider.grants.at(-1)).toBe("authorization_code");
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT operation FROM audit_event WHERE subject = '${id}' AND operation = 'console/ConnectConnector'`,
    );
    expect(row).toBeDefined();
  });

  test("take what comes back once, and from the account that began", async () => {
    const ann = await rig.person();
    const { id, client, session, path } = await signedIn(ann);
    expect((await back(path, session.headers.cookie)).status).toBe(400);
    const { authorizationUrl } = await client.beginAuthorization({ id });
    const theirs = await walk(authorizationUrl, "gardener", callback);
    const bo = await (await rig.person({ with: ann })).session();
    expect((await back(theirs, bo.headers.cookie)).status).toBe(400);
    expect((await back(theirs, "")).status).toBe(303);
    expect((await back(theirs, session.headers.cookie)).status).toBe(200);
    expect((await back("/connectors/callback?state=x&code=y", session.headers.cookie)).status).toBe(400);
  });

  test("have their token renewed before it ends, once for all who wait, and expire when that is refused", async () => {
    const ann = await rig.person();
    const { id } = await signedIn(ann);
    const { store } = rig.service;
    const found = async () => {
      const connector = await store.connectors.find(ann, id);
      if (connector === null) throw new Error("none");
      return connector;
    };
    const parts = { clock: systemClock, allowed: [{ kind: "loopback" }] as const };
    const reach = reachServers({ store, clock: systemClock, cipher, signIns: connectorSignIns({ ...parts, redirectUrl: callback }) });
    const servers = mcpServers({ ...parts, commands: {} });
    // A token of a minute is always about to end.
    const before = provider.grants.length;
    const connector = await found();
    const use = () => reach(connector, (at) => servers.callTool(at, { tool: "water", input: { bed: "roses" } }, never));
    expect(await Promise.all([use(), use(), use()])).toEqual(Array(3).fill({ value: "Watered roses.", isError: false }));
    expect(provider.grants.slice(before)).toEqual(["refresh_token"]);
    provider.refuseRefresh = true;
    const now = await found();
    const has = openCredentials(cipher, now);
    if (has?.kind !== "oauth" || has.tokens === null) throw new Error("no tokens");
    await store.change((tx) =>
      tx.connectors.update(id, {
        credentials: sealCredentials(cipher, id, { ...has, tokens: { ...has.tokens, access: "spent", refresh: "r", expiresAt: 0 } }),
      }),
    );
    const late = await found();
    await expect(reach(late, (at) => servers.listTools(at, never))).rejects.toBeInstanceOf(SignInNeeded);
    provider.refuseRefresh = false;
    expect((await found()).state).toBe("expired");
    expect(await refusalOf((await ann.session()).client(ConnectorService).refreshTools({ id }))).toContain("FailedPrecondition");
  });
});
