import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { putApp, type TestApp } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type Token, tokenOf } from "../support/token.ts";
import { send } from "../wires/raw.ts";

const page = "https://app.example.com";
const port = "https://app.example.com:8443";

describeOnOne("pages of an app's allowed origins", (database) => {
  let service: Service;
  let ann: Person;
  let app: TestApp;
  let token: Token;
  let other: Token;

  beforeAll(async () => {
    service = await openService({ idle: true, database });
    ann = await service.person();
    app = await putApp(service, ann, { scopes: ["create_task"], allowedOrigins: [page, port] });
    token = await tokenOf(service, ann, { of: app });
    other = await tokenOf(service, ann, { of: await putApp(service, ann, { scopes: ["create_task"] }) });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const preflight = (path: string, origin: string) =>
    send(service.url + path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
  const call = (path: string, origin: string, headers: Readonly<Record<string, string>>) =>
    send(service.url + path, {
      headers: { origin, "content-type": "application/json", ...headers },
      body: "{}",
    });
  const allowed = ({ headers }: { readonly headers: Headers }) => headers.get("access-control-allow-origin");
  const paths = ["/v2/user.me", "/user.v2.UserService/GetCurrentUser", "/v1/tasks"];

  test.each(paths)("may call %s with its tokens, and read refusals", async (path) => {
    for (const origin of [page, port]) {
      const asked = await preflight(path, origin);
      expect([asked.status, allowed(asked), asked.headers.get("access-control-allow-headers")]).toEqual([
        204,
        origin,
        "authorization,content-type",
      ]);
      const answers = [
        await call(path, origin, token.headers),
        await call(path, origin, {
          authorization: `${token.headers["Authorization"] ?? token.headers["authorization"]}x`,
        }),
      ];
      expect(answers.map(allowed)).toEqual([origin, origin]);
      expect(answers[1]?.status).toBe(401);
      for (const { headers } of [asked, ...answers]) {
        expect(headers.get("access-control-allow-credentials")).toBeNull();
        expect(headers.get("vary")).toContain("Origin");
      }
    }
  });

  test("may not read the answers to tokens of other apps, to keys, and to calls without a credential", async () => {
    for (const path of paths) {
      for (const headers of [
        other.headers,
        ann.headers,
        {},
        { authorization: "Bearer a.b.c" },
        { authorization: "Bearer x" },
      ]) {
        expect(allowed(await call(path, page, headers)), JSON.stringify(headers)).toBeNull();
      }
    }
  });

  test.each([
    "http://app.example.com",
    "https://app.example.com.",
    "https://app.example.com:443",
    "https://APP.example.com",
    "https://sub.app.example.com",
    "https://app.example.com/",
    "https://app.example.com:8444",
    "null",
    "*",
    `https://${"a".repeat(300)}.example.com`,
  ])("are exact: %s is none of them", async (origin) => {
    expect([
      allowed(await preflight("/v2/user.me", origin)),
      allowed(await call("/v2/user.me", origin, token.headers)),
    ]).toEqual([null, null]);
  });

  test("may not call pages, authorization or sessions", async () => {
    for (const path of ["/", "/account", "/sign-in", "/openapi/oauth", "/errors/not_found"]) {
      const reply = await fetch(service.url + path, { headers: { origin: page }, redirect: "manual" });
      expect(allowed(reply), path).toBeNull();
      expect(allowed(await preflight(path, page)), path).toBeNull();
    }
    const cookies = { cookie: "__Host-session=x; session=x" };
    expect(allowed(await call("/task.v2.TaskService/ListTasks", page, cookies))).toBeNull();
  });

  test("may open signed addresses of files", async () => {
    const { body } = await ann.v2("file.upload", { filename: "a.txt" });
    const path = new URL(body["upload_url"]).pathname;
    const put = await send(service.url + path, { method: "PUT", headers: { origin: page }, body: "text" });
    expect([put.status, allowed(put)]).toEqual([200, page]);
    expect(
      allowed(
        await send(service.url + path, {
          method: "PUT",
          headers: { origin: "https://evil.example" },
          body: "text",
        }),
      ),
    ).toBeNull();
  });

  test("lose access with the change of the app, and with its end", async () => {
    const own = await putApp(service, ann, {
      scopes: ["create_task"],
      allowedOrigins: ["https://old.example"],
    });
    const held = await tokenOf(service, ann, { of: own });
    const { clientId } = own.app;
    const client = ann.client(OAuth2AppService);
    const reads = async (origin: string) => [
      allowed(await preflight("/v2/user.me", origin)),
      allowed(await call("/v2/user.me", origin, held.headers)),
    ];
    expect(await reads("https://old.example")).toEqual(["https://old.example", "https://old.example"]);
    const { app: changed } = await client.updateOAuth2App({
      clientId,
      allowedOrigins: ["https://new.example", "https://add.example"],
    });
    expect(changed?.allowedOrigins).toEqual(["https://add.example", "https://new.example"]);
    expect((await client.getOAuth2App({ clientId })).app?.allowedOrigins).toEqual([
      "https://add.example",
      "https://new.example",
    ]);
    expect(await reads("https://old.example")).toEqual([null, null]);
    expect(await reads("https://new.example")).toEqual(["https://new.example", "https://new.example"]);
    await client.updateOAuth2App({ clientId, name: "Renamed" });
    expect(await reads("https://new.example")).toEqual(["https://new.example", "https://new.example"]);
    await client.deleteOAuth2App({ clientId });
    expect(await reads("https://new.example")).toEqual([null, null]);
  });

  test("are set with the app, and emptied by a mask", async () => {
    const client = ann.client(OAuth2AppService);
    const { app: made } = await client.createOAuth2App({
      name: "Page",
      redirectUris: ["https://page.example/callback"],
      allowedOrigins: ["https://page.example", "https://page.example"],
    });
    expect(made?.allowedOrigins).toEqual(["https://page.example"]);
    const clientId = made?.clientId ?? "";
    expect(
      (await client.listOAuth2Apps({})).data.find((one) => one.clientId === clientId)?.allowedOrigins,
    ).toEqual(["https://page.example"]);
    const emptied = await client.updateOAuth2App({ clientId, updateMask: { paths: ["allowed_origins"] } });
    expect(emptied.app?.allowedOrigins).toEqual([]);
    expect(allowed(await preflight("/v2/user.me", "https://page.example"))).toBeNull();
  });
});

// spec/decisions.md 107
describe("the origins of an app", () => {
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openService({ idle: true });
    ann = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each([
    "http://app.example.com",
    "https://app.example.com/",
    "https://app.example.com/path",
    "https://app.example.com:443",
    "https://App.example.com",
    "https://user@app.example.com",
    "https://*.example.com",
    "*",
    "null",
    "app.example.com",
  ])("cannot have %s", async (origin) => {
    const create = ann.client(OAuth2AppService).createOAuth2App({
      name: "Page",
      redirectUris: ["https://page.example/callback"],
      allowedOrigins: ["https://fine.example", origin],
    });
    await expect(create).rejects.toThrow("allowed_origins[1]: must be an https origin as browsers send it");
  });

  test("are at most 10", async () => {
    const allowedOrigins = Array.from({ length: 11 }, (_, n) => `https://app${n}.example.com`);
    const create = (origins: string[]) =>
      ann.client(OAuth2AppService).createOAuth2App({
        name: "Page",
        redirectUris: ["https://page.example/callback"],
        allowedOrigins: origins,
      });
    await expect(create(allowedOrigins)).rejects.toThrow("allowed_origins: must");
    expect((await create(allowedOrigins.slice(1))).app?.allowedOrigins).toHaveLength(10);
  });
});
