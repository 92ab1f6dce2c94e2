import { afterAll, beforeAll, expect, test } from "vitest";
import type { ScopeName } from "../../src/core/accounts/caller.ts";
import { pairOf, putApp, replyOf } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { tokenOf } from "../support/token.ts";

// spec/oauth.md 9.4.
let service: Service;
let ann: Person;
beforeAll(async () => {
  service = await openService({ idle: true, clock: stillClock() });
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

const read = async (headers: Record<string, string>) =>
  replyOf(await fetch(`${service.url}/oauth/userinfo`, { headers }));
const tokenWith = async (scopes: readonly ScopeName[]) =>
  (await pairOf(service, ann, await putApp(service, ann, { scopes }), "pkce", quarterPast)).access_token;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("a token reads what its scopes allow: the name, the address, or both", async () => {
  await service.store.change((tx) => tx.accounts.setProfile(ann.accountId, { name: "Ann Ames" }));
  const { email } = (await service.store.accounts.profile(ann.accountId, ann.spaceId)) ?? {};
  const [sub, name] = [ann.accountId, "Ann Ames"];
  for (const [scopes, claims] of [
    [["profile"], { sub, name }],
    [["email", "create_task"], { sub, email, email_verified: false }],
    [["profile", "email"], { sub, name, email, email_verified: false }],
  ] as const) {
    const { status, body, headers } = await read(bearer(await tokenWith(scopes)));
    expect([status, body, headers.get("cache-control")]).toEqual([200, claims, "no-store"]);
  }
});

test("the address is verified when the identity provider signs the account in", async () => {
  const eve = await service.person();
  await service.store.change((tx) =>
    tx.signIns.bindIdentity(eve.accountId, { issuer: "https://id.example.com", subject: "eve" }),
  );
  const of = await putApp(service, eve, { scopes: ["email"] });
  const { access_token } = await pairOf(service, eve, of, "pkce", quarterPast);
  expect((await read(bearer(access_token))).body).toMatchObject({ sub: eve.accountId, email_verified: true });
});

test("without one of the scopes, by a key, by a cookie and by a token of the MCP server nothing is read", async () => {
  const unscoped = await read(bearer(await tokenWith(["create_task", "manage_all_tasks"])));
  expect([unscoped.status, unscoped.body["error"]]).toEqual([403, "insufficient_scope"]);
  expect(unscoped.headers.get("www-authenticate")).toBe(
    'Bearer realm="oauth", error="insufficient_scope", scope="profile email"',
  );
  const session = (await ann.session()).headers;
  const forMcp = (await tokenOf(service, ann, { forMcp: true })).headers;
  for (const headers of [
    {},
    session,
    { "x-service-api-key": ann.key },
    bearer(ann.key),
    bearer("a.b.c"),
    forMcp,
  ]) {
    const { status, body } = await read(headers);
    expect([status, body["error"]]).toEqual([401, "invalid_token"]);
  }
  // A cookie in addition to a token changes nothing.
  expect((await read({ ...session, ...bearer(await tokenWith(["profile"])) })).body).toMatchObject({
    sub: ann.accountId,
  });
});

test("openid is refused with the reason, and the metadata names the endpoint and the scopes", async () => {
  const { app } = await putApp(service, ann, { scopes: ["profile"], deviceAuthorization: true });
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUris[0] ?? "",
    scope: "openid profile",
  });
  const { headers } = await fetch(`${service.url}/openapi/oauth?${query}`, { redirect: "manual" });
  const { searchParams } = new URL(headers.get("location") ?? "");
  expect([searchParams.get("error"), searchParams.get("error_description")]).toEqual([
    "invalid_scope",
    expect.stringMatching(/openid.*no ID token.*userinfo/),
  ]);
  const device = await replyOf(
    await fetch(`${service.url}/oauth/device_authorization`, {
      method: "POST",
      body: new URLSearchParams({ client_id: app.clientId, scope: "openid" }),
    }),
  );
  expect(device.body).toMatchObject({
    error: "invalid_scope",
    error_description: expect.stringContaining("no ID token"),
  });
  const { body } = await replyOf(await fetch(`${service.url}/.well-known/oauth-authorization-server`));
  expect(body).toMatchObject({ userinfo_endpoint: expect.stringMatching(/\/oauth\/userinfo$/) });
  expect(body["scopes_supported"]).toEqual(expect.arrayContaining(["profile", "email"]));
  expect(body["scopes_supported"]).not.toContain("openid");
});
