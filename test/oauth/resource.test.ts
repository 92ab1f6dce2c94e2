import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import {
  answerIn,
  approveRequest,
  createSignedInVisitor,
  requestOf,
  type Visitor,
} from "../console/consent-rig.ts";
import {
  exchangeCode,
  issuer,
  pairOf,
  putApp,
  refreshWith,
  replyOf,
  type TestApp,
} from "../support/oauth.ts";
import { callingWith, openService, type Person, type Service } from "../support/service.ts";
import { atMcp } from "./mcp-address.ts";
import { mcp } from "./unverified-rig.ts";

let service: Service;
let ann: Person;
let browser: Visitor;
let app: TestApp;
beforeAll(async () => {
  service = await openService({ idle: true, env: { BASE_URL: issuer } });
  ann = await service.person();
  browser = await createSignedInVisitor(service.url, ann);
  app = await putApp(service, ann, { scopes: ["create_task", "manage_all_tasks"] });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const codeFor = async (resource?: string): Promise<string> =>
  answerIn(await approveRequest(browser, requestOf(app, { resource })))["code"] ?? "";
const tokensFor = async (resource?: string) =>
  (await exchangeCode(service, app, "pkce", await codeFor(resource))).body;
const audienceOf = (token: string) => decodeJwt(token).aud;

describe("a resource indicator (RFC 8707, spec/oauth.md 15)", () => {
  test("is the audience of the tokens, and stays at a refresh", async () => {
    const first = await tokensFor(mcp);
    expect(audienceOf(first.access_token)).toBe(mcp);
    const next = await refreshWith(service, app, "pkce", first.refresh_token);
    expect(audienceOf(next.body.access_token)).toBe(mcp);
    const named = await refreshWith(service, app, "pkce", next.body.refresh_token, { resource: mcp });
    expect(audienceOf(named.body.access_token)).toBe(mcp);
  });

  test.each([
    undefined,
    issuer,
    `${issuer}/`,
  ])("without it, or with the address of the API, the tokens are for the API: %s", async (resource) => {
    const { access_token: token, refresh_token: refreshToken } = await tokensFor(resource);
    expect(audienceOf(token)).toBe(issuer);
    expect((await refreshWith(service, app, "pkce", refreshToken, { resource: mcp })).body.error).toBe(
      "invalid_target",
    );
  });

  test.each([
    `${mcp}/`,
    `${mcp}#x`,
    "https://elsewhere.example/mcp",
    "mcp",
    "HTTPS://PLATFORM.TEST/mcp",
  ])("an unknown one is invalid_target at both endpoints: %s", async (resource) => {
    const page = await browser.get(requestOf(app, { resource }));
    expect(answerIn(page)["error"]).toBe("invalid_target");
    const refused = await exchangeCode(service, app, "pkce", await codeFor(), { resource });
    expect([refused.status, refused.body.error]).toEqual([400, "invalid_target"]);
  });

  test("an exchange names no other resource than the authorization, and a refused one does not use up the code", async () => {
    const code = await codeFor(mcp);
    expect((await exchangeCode(service, app, "pkce", code, { resource: issuer })).body.error).toBe(
      "invalid_target",
    );
    expect((await exchangeCode(service, app, "pkce", code, { resource: mcp })).status).toBe(200);
    const plain = await codeFor();
    expect((await exchangeCode(service, app, "pkce", plain, { resource: mcp })).body.error).toBe(
      "invalid_target",
    );
  });

  test("introspection shows it", async () => {
    const { access_token: token } = await tokensFor(mcp);
    const body = new URLSearchParams({ client_id: app.app.clientId, client_secret: app.secret, token });
    const found = await replyOf(await fetch(`${service.url}/oauth/introspect`, { method: "POST", body }));
    expect(found.body).toMatchObject({ active: true, aud: mcp });
  });
});

describe("a token for the MCP address", () => {
  test("is refused by every other protocol, and another token is refused at it (spec/oauth.md 15.3)", async () => {
    const { access_token: token } = await tokensFor(mcp);
    const plain = await pairOf(service, ann, app, "pkce");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const status = async (path: string, init: RequestInit = {}) =>
      (await fetch(service.url + path, { headers, ...init })).status;
    const post = { method: "POST", body: "{}" };
    expect({
      v2: await status("/v2/user.me", post),
      "v2 by GET": await status("/v2/task.list"),
      v1: await status("/v1/tasks"),
      responses: await status("/v1/responses", {
        method: "POST",
        body: JSON.stringify({ input: "x", model: "m" }),
      }),
      scim: await status("/scim/v2/Users"),
      connect: await status("/user.v2.UserService/GetCurrentUser", post),
      // It accepts sessions, and never a token.
      console: await status("/settings.v1.AccountService/ListSpaces", post),
    }).toEqual({ v2: 401, "v2 by GET": 401, v1: 401, responses: 401, scim: 401, connect: 401, console: 401 });
    for (const wire of ["grpc", "grpc-web", "connect-binary"] as const)
      await expect(
        callingWith({ authorization: `Bearer ${token}` }, () => service.url)
          .client(TaskService, wire)
          .listTasks({}),
      ).rejects.toThrow("unauthenticated");
    expect(await atMcp(service, { authorization: `Bearer ${token}` })).toMatchObject({ status: 200 });
    expect(await atMcp(service, { authorization: `Bearer ${plain.access_token}` })).toMatchObject({
      status: 401,
    });
    expect(
      (
        await fetch(`${service.url}/v2/user.me`, {
          ...post,
          headers: { ...headers, authorization: `Bearer ${plain.access_token}` },
        })
      ).status,
    ).toBe(200);
  });

  test("ends at a refresh and at a revocation", async () => {
    const first = await tokensFor(mcp);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const second = (await refreshWith(service, app, "pkce", first.refresh_token)).body;
    expect(await atMcp(service, bearer(first.access_token))).toMatchObject({ status: 401 });
    expect(await atMcp(service, bearer(second.access_token))).toMatchObject({ status: 200 });
    const body = new URLSearchParams({ client_id: app.app.clientId, token: second.refresh_token });
    await fetch(`${service.url}/oauth/revoke`, { method: "POST", body });
    expect(await atMcp(service, bearer(second.access_token))).toMatchObject({ status: 401 });
  });
});

describe("the MCP address", () => {
  test("accepts an API key, and never a session or a worker", async () => {
    const { cookie } = (await ann.session()).headers;
    expect(await atMcp(service, { "x-api-key": ann.key })).toMatchObject({ status: 200 });
    expect(await atMcp(service, { cookie })).toMatchObject({ status: 401 });
    expect(
      await atMcp(service, { "x-api-key": (await service.person({ with: ann, kind: "siem" })).key }),
    ).toMatchObject({ status: 403 });
  });

  test("names its metadata in each challenge (RFC 9728 5.1, RFC 6750 3)", async () => {
    const metadata = `resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
    expect((await atMcp(service, {})).challenge).toBe(`Bearer ${metadata}, scope="create_task"`);
    expect((await atMcp(service, { authorization: "Bearer x" })).challenge).toBe(
      `Bearer error="invalid_token", ${metadata}, scope="create_task"`,
    );
  });

  test("has metadata, and so has the API (RFC 9728 2, RFC 8414 2)", async () => {
    const read = async (path: string) =>
      (await replyOf(await fetch(`${service.url}/.well-known/${path}`))).body;
    const common = { authorization_servers: [issuer], bearer_methods_supported: ["header"] };
    expect(await read("oauth-protected-resource/mcp")).toEqual({
      ...common,
      ...{
        resource: mcp,
        resource_name: "The MCP server",
        scopes_supported: ["create_task", "manage_all_tasks"],
      },
    });
    expect(await read("oauth-protected-resource")).toMatchObject({ ...common, resource: issuer });
    expect(await read("oauth-authorization-server")).toMatchObject({
      client_id_metadata_document_supported: true,
      protected_resources: [issuer, mcp],
    });
    expect(await read("oauth-authorization-server")).not.toHaveProperty("registration_endpoint");
  });
});
