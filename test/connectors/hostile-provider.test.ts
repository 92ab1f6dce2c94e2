import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { connectorSignIns } from "../../src/adapters/connectors/sign-in.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { noTokens } from "../../src/core/connectors/server.ts";
import { openLocal } from "../support/mcp-server.ts";
import { patient } from "../support/names.ts";
import { patientClock } from "../support/patient-clock.ts";

type Answer = object | ((response: ServerResponse) => void);

/** The faulty responses, by path. */
let responses: Record<string, Answer> = {};
const asked: string[] = [];
const waits = Promise.withResolvers<void>();

const local = await openLocal(async (request, response) => {
  const path = request.url ?? "";
  asked.push(path);
  for await (const _ of request);
  const answer: Answer | undefined = responses[path] ?? honest()[path];
  if (answer === undefined) return void response.writeHead(404).end();
  if (typeof answer === "function") return answer(response);
  response
    .writeHead(path === "/register" ? 201 : 200, { "content-type": "application/json" })
    .end(JSON.stringify(answer));
});
afterAll(() => local[Symbol.asyncDispose]());
beforeEach(() => {
  responses = {};
  asked.length = 0;
});

const resource = "/.well-known/oauth-protected-resource/mcp";
const metadata = "/.well-known/oauth-authorization-server";

const honestMetadata = () => ({
  ...{
    issuer: local.url,
    authorization_endpoint: `${local.url}/authorize`,
    token_endpoint: `${local.url}/token`,
  },
  ...{
    registration_endpoint: `${local.url}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
  },
});
const honest = (): Record<string, Answer> => ({
  [resource]: {
    resource: `${local.url}/mcp`,
    authorization_servers: [local.url],
    scopes_supported: ["read"],
  },
  [metadata]: honestMetadata(),
  "/register": { client_id: "us", redirect_uris: ["https://platform.test/connectors/callback"] },
  "/token": { access_token: "a", token_type: "Bearer", expires_in: 60, refresh_token: "r", scope: "read" },
});

const signIns = (clock: Clock = systemClock) =>
  connectorSignIns({
    ...{ clock, allowed: [{ kind: "loopback" }], redirectUrl: "https://platform.test/connectors/callback" },
    resolve: async (host) => [host === "localhost" ? "127.0.0.1" : "10.0.0.7"],
  });
const begin = () => signIns().begin(`${local.url}/mcp`, noTokens, "state", patient);
const finish = async (issuer = "", clock?: Clock) =>
  signIns(clock).finish(await begin(), { code: "c", issuer }, patient);
const trickle = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" });
  const more = () => {
    while (!response.destroyed && response.write(" ".repeat(65_536)));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
};
const intruder = "https://stranger.example";

test("an honest authorization server works, with only the scopes of the server's metadata", async () => {
  const begun = await begin();
  expect(new URL(begun.url).searchParams.get("scope")).toBe("read");
  expect((await finish()).tokens).toEqual({ access: "a", refresh: "r", expiresAt: expect.any(Number) });
});

describe("a sign-in does not begin where", () => {
  test.each([
    [
      "the metadata is another issuer's, whose code would be sent here",
      metadata,
      () => ({ ...honestMetadata(), issuer: intruder }),
      "broken",
    ],
    ["the issuer is not an address", metadata, () => ({ ...honestMetadata(), issuer: "x" }), "broken"],
    [
      "the resource is another's, whose tokens would be sent here",
      resource,
      () => ({ resource: `${intruder}/mcp`, authorization_servers: [local.url] }),
      "broken",
    ],
    [
      "the resource is below the server",
      resource,
      () => ({ resource: `${local.url}/mcp/a`, authorization_servers: [local.url] }),
      "broken",
    ],
    [
      "PKCE is not supported",
      metadata,
      () => ({ ...honestMetadata(), code_challenge_methods_supported: ["plain"] }),
      "broken",
    ],
    [
      "the page is plain http",
      metadata,
      () => ({ ...honestMetadata(), authorization_endpoint: "http://stranger.example/" }),
      "broken",
    ],
    [
      "the page's address is not a web address",
      metadata,
      () => ({ ...honestMetadata(), authorization_endpoint: "javascript:alert(1)" }),
      "unreachable",
    ],
    [
      "the page has no end",
      metadata,
      () => ({ ...honestMetadata(), authorization_endpoint: `${local.url}/${"x".repeat(9_000)}` }),
      "broken",
    ],
    [
      "the metadata is larger than the stored maximum",
      metadata,
      () => ({ ...honestMetadata(), more: "x".repeat(40_000) }),
      "too_large",
    ],
    ["the metadata has no end", metadata, () => trickle, "unreachable"],
    ["the registration has no end", "/register", () => trickle, "unreachable"],
    [
      "the registration is at an internal address",
      metadata,
      () => ({ ...honestMetadata(), registration_endpoint: "https://inside.example/register" }),
      "unreachable",
    ],
    [
      "the authorization server is at an internal address",
      resource,
      () => ({ resource: `${local.url}/mcp`, authorization_servers: ["https://10.0.0.7"] }),
      "unreachable",
    ],
  ])("%s", async (_reason, path, answer, kind) => {
    responses = { [path]: answer() };
    await expect(begin()).rejects.toMatchObject({ name: "ServerFault", kind });
    expect(asked).not.toContain("/token");
  });
});

describe("tokens are refused", () => {
  test.each([
    [
      "at an internal address",
      metadata,
      () => ({ ...honestMetadata(), token_endpoint: "https://inside.example/token" }),
      "unreachable",
    ],
    ["without an end", "/token", () => trickle, "unreachable"],
    ["of another kind", "/token", () => ({ access_token: "a", token_type: "DPoP" }), "broken"],
    [
      "that would be two headers",
      "/token",
      () => ({ access_token: "a\r\nx: y", token_type: "bearer" }),
      "broken",
    ],
    [
      "that are too long",
      "/token",
      () => ({ access_token: "a".repeat(9_000), token_type: "bearer" }),
      "broken",
    ],
    ["that are invalid", "/token", () => ({ token_type: "bearer" }), "unreachable"],
    [
      "by a redirect to another origin, which would receive the code",
      "/token",
      () => (response: ServerResponse) =>
        void response
          .writeHead(307, { location: `${local.url.replace("127.0.0.1", "localhost")}/elsewhere` })
          .end(),
      "unreachable",
    ],
  ])("%s", async (_reason, path, answer, kind) => {
    responses = { [path]: answer() };
    await expect(finish()).rejects.toMatchObject({ name: "ServerFault", kind });
    expect(asked).not.toContain("/elsewhere");
  });

  test("for the code of another issuer, or without an issuer although the metadata promises one", async () => {
    await expect(finish(intruder)).rejects.toMatchObject({ kind: "refused" });
    expect((await finish(local.url)).tokens?.access).toBe("a");
    responses = { [metadata]: { ...honestMetadata(), authorization_response_iss_parameter_supported: true } };
    asked.length = 0;
    await expect(finish("")).rejects.toMatchObject({ kind: "refused" });
    expect(asked).not.toContain("/token");
  });

  test("from a server that answers byte by byte, after the timeout", async () => {
    responses = {
      "/token": (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(" ", () => waits.resolve());
      },
    };
    const clock = patientClock(0);
    const used = finish("", clock).catch((thrown: unknown) => thrown);
    await waits.promise;
    clock.pass(30_000);
    expect(await used).toMatchObject({ kind: "timeout" });
  });
});

test("a refresh that fails for another reason than a refusal requires no new sign-in", async () => {
  const has = await finish();
  const refresh = () => signIns().refresh(has, patient);
  for (const answer of [
    trickle,
    (response: ServerResponse) => void response.writeHead(503).end("stranger"),
    (response: ServerResponse) => void response.writeHead(400).end("stranger"),
    (response: ServerResponse) => void response.writeHead(302, { location: `${intruder}/token` }).end(),
  ]) {
    responses = { "/token": answer };
    const thrown = await refresh().catch((fault: unknown) => fault);
    expect(thrown).toMatchObject({ kind: "unreachable" });
    expect(String(thrown)).not.toContain("stranger");
  }
  responses = { "/token": (response) => void response.writeHead(400).end('{"error":"invalid_grant"}') };
  await expect(refresh()).rejects.toMatchObject({ kind: "refused" });
  responses = { "/token": { access_token: "b", token_type: "bearer", scope: "read write admin" } };
  expect((await refresh()).tokens).toEqual({ access: "b", refresh: "r", expiresAt: null });
});
