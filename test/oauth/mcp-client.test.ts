import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { allow, authorizePath, createSignedInVisitor, type FormFields } from "../console/consent-rig.ts";
import { namesOf } from "../mcp/client.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { putApp } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { openDocument, trustedServers } from "./unverified-rig.ts";

const open = trustedServers();
const redirectUrl = "http://127.0.0.1:4711/cb";

interface Installation extends AsyncDisposable {
  readonly service: Service;
  readonly person: Person;
}

/** A platform that is reached at its address. */
async function install(env: Readonly<Record<string, string>>): Promise<Installation> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const addresses = { PORT: String(port), BASE_URL: issuer, CONSENT_URL: issuer };
  const service = await openService({ idle: true, env: { ...addresses, CLIENT_ALLOW: "loopback", ...env } });
  return {
    service,
    person: await service.person(),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

interface Kept {
  url?: string;
  client?: unknown;
  tokens?: unknown;
  discovery?: unknown;
  verifier?: string;
}

/** What an application stores between its calls. */
function providerWith(kept: Kept, onRedirect: (url: URL) => void): OAuthClientProvider {
  return {
    redirectUrl,
    ...(kept.url === undefined ? {} : { clientMetadataUrl: kept.url }),
    clientMetadata: {
      client_name: "Kiosk",
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => kept.client as never, // Stored by `saveClientInformation`, or by the test.
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens as never, // Stored by `saveTokens`.
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => String(kept.verifier),
    saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
    discoveryState: () => kept.discovery as never, // Stored by `saveDiscoveryState`.
    redirectToAuthorization: onRedirect,
  };
}

/** Signs in and connects; returns the access token and the id of the client. */
async function signIn(
  { service, person }: Installation,
  kept: Kept,
): Promise<{ readonly token: string; readonly clientId: string }> {
  let asked: URL | undefined;
  const provider = providerWith(kept, (url) => {
    asked = url;
  });
  const server = new URL(`${service.url}/mcp`);
  const first = new StreamableHTTPClientTransport(server, { authProvider: provider });
  await expect(new Client({ name: "kiosk", version: "1" }).connect(first)).rejects.toThrow(UnauthorizedError);
  const request = `${asked?.pathname}${asked?.search}`;
  const browser = await createSignedInVisitor(service.url, person);
  const choice: FormFields = [["space", person.spaceId], ...allow];
  const { location } = await browser.send(await browser.get(request), authorizePath, choice);
  await first.finishAuth(new URL(location).searchParams);
  const client = new Client({ name: "kiosk", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(server, { authProvider: provider }));
  expect(client.getServerVersion()).toMatchObject({ name: "agent-task-platform" });
  expect(await namesOf(client)).toContain("task_create");
  await client.close();
  const { access_token: token } = kept.tokens as { readonly access_token: string }; // Checked by the connection.
  return { token, clientId: asked?.searchParams.get("client_id") ?? "" };
}

test.skipIf(lacks("openssl"))("the official client signs in by the document of its client id", async () => {
  await using installation = await install({ OAUTH_REGISTRATION: "on" });
  await using document = await openDocument(open, () => ({ redirect_uris: ["http://127.0.0.1/cb"] }));
  const { token, clientId } = await signIn(installation, { url: document.clientId });
  expect([clientId, decodeJwt(token)["scope"], decodeJwt(token).aud]).toEqual([
    document.clientId,
    "create_task",
    `${installation.service.url}/mcp`,
  ]);
});

test("the official client registers itself, where that is switched on", async () => {
  await using installation = await install({ OAUTH_REGISTRATION: "on" });
  const { token, clientId } = await signIn(installation, {});
  expect([clientId, decodeJwt(token).aud]).toEqual([
    expect.stringMatching(/^dynamic_/),
    `${installation.service.url}/mcp`,
  ]);
});

test("the official client signs in as an app of the team", async () => {
  await using installation = await install({});
  const { app } = await putApp(installation.service, installation.person, { redirectUris: [redirectUrl] });
  const { token } = await signIn(installation, {
    client: { client_id: app.clientId, issuer: installation.service.url },
  });
  expect(decodeJwt(token)).toMatchObject({ aud: `${installation.service.url}/mcp`, client_id: app.clientId });
});
