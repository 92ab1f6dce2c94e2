import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { describeOnOne } from "../support/database.ts";
import {
  codeFor,
  exchangeCode,
  issuer,
  type Members,
  type Mode,
  modes,
  type OAuthReply,
  pairOf,
  postForm,
  putApp,
  refreshWith,
  replyOf,
  type TestApp,
  userMe,
  verifier,
} from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

const other = "a".repeat(43);
const day = 24 * 3_600_000;

const failureOf = ({ status, body }: OAuthReply) => `${status} ${body.error}`;

describeOnOne("the token endpoint", (kind) => {
  let service: Service;
  let clock: StillClock;
  let ann: Person;
  let of: TestApp;
  beforeAll(async () => {
    clock = stillClock();
    service = await openService({ database: kind, idle: true, clock });
    ann = await service.person();
    of = await putApp(service, ann);
  });
  afterAll(() => service[Symbol.asyncDispose]());
  const code = (mode: Mode, app = of) => codeFor(service, ann, app, mode, clock.now());
  const pair = (mode: Mode, app = of) => pairOf(service, ann, app, mode, clock.now());

  test.each(
    modes,
  )("returns a valid pair, and a new one when it is refreshed, in the mode %s (spec/oauth.md 5.4, 5.5, 5.7)", async (mode) => {
    const reply = await exchangeCode(service, of, mode, await code(mode));
    expect(reply.status).toBe(200);
    const shape = {
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: "Bearer",
      expires_in: 86_400,
      refresh_token: expect.stringMatching(/^refresh(_[2-9A-HJ-NP-Za-km-z]{22}){3}$/),
      scope: "create_task create_project",
    };
    expect(reply.body).toEqual(shape);
    expect(await userMe(service.url, reply.body.access_token)).toMatchObject({
      status: 200,
      body: { user_id: ann.accountId },
    });
    const next = await refreshWith(service, of, mode, reply.body.refresh_token);
    expect(next).toMatchObject({ status: 200, body: shape });
    expect((await userMe(service.url, next.body.access_token)).status).toBe(200);
    expect((await userMe(service.url, reply.body.access_token)).body.error.message).toContain(
      "bearer token is invalid or revoked",
    );
  });

  test.each([
    [
      "spec/oauth.md 5.4: PKCE + Secret without the secret is PKCE",
      "pkce+secret",
      { client_secret: undefined },
      "200 undefined",
    ],
    [
      "spec/oauth.md 5.4: Secret without the secret",
      "secret",
      { client_secret: undefined },
      "401 invalid_client",
    ],
    [
      "spec/oauth.md 13: a verifier without a challenge",
      "secret",
      { code_verifier: verifier },
      "400 invalid_request",
    ],
    [
      "spec/oauth.md 13: no verifier for a challenge",
      "pkce+secret",
      { code_verifier: undefined },
      "400 invalid_request",
    ],
    ["RFC 7636 4.6: another verifier", "pkce", { code_verifier: other }, "400 invalid_grant"],
    ["RFC 7636 4.1: a verifier too short", "pkce", { code_verifier: "short" }, "400 invalid_request"],
    [
      "RFC 7636 4.1: a verifier of other characters",
      "pkce",
      { code_verifier: "ä".repeat(43) },
      "400 invalid_request",
    ],
    ["spec/oauth.md 5.6: a wrong secret", "secret", { client_secret: "secret_x" }, "401 invalid_client"],
    [
      "spec/oauth.md 5.6: a wrong secret next to a right verifier",
      "pkce",
      { client_secret: "secret_x" },
      "401 invalid_client",
    ],
    ["spec/oauth.md 5.6: an unknown client", "pkce", { client_id: "client_none" }, "401 invalid_client"],
    [
      "spec/oauth.md 7: a client_id that is not valid",
      "pkce",
      { client_id: "client none" },
      "401 invalid_client",
    ],
    ["spec/oauth.md 5.2: no client_id", "pkce", { client_id: undefined }, "400 invalid_request"],
    ["spec/oauth.md 5.2: no code", "pkce", { code: undefined }, "400 invalid_request"],
    ["RFC 6749 3.2: an empty code is missing", "pkce", { code: "" }, "400 invalid_request"],
    ["spec/oauth.md 5.2: no redirect_uri", "pkce", { redirect_uri: undefined }, "400 invalid_request"],
    [
      "RFC 6749 4.1.3: another redirect_uri",
      "pkce",
      { redirect_uri: "https://app.example/cb/" },
      "400 invalid_grant",
    ],
    ["spec/oauth.md 5.6: an unknown code", "pkce", { code: "code_x_y" }, "400 invalid_grant"],
    ["spec/oauth.md 5.2: no grant_type", "pkce", { grant_type: undefined }, "400 invalid_request"],
    ["RFC 6749 5.2: another grant_type", "pkce", { grant_type: "password" }, "400 unsupported_grant_type"],
  ] as const)("exchange, %s", async (_, mode, members: Members, answer) => {
    const text = await code(mode);
    const reply = await exchangeCode(service, of, mode, text, members);
    expect(failureOf(reply)).toBe(answer);
    if (reply.status === 200) return;
    expect(reply.body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    // spec/oauth.md 13: a failed exchange does not use up the code.
    expect((await exchangeCode(service, of, mode, text)).status).toBe(200);
  });

  test.each([
    [
      "spec/oauth.md 5.3: Secret without the secret",
      "secret",
      { client_secret: undefined },
      "401 invalid_client",
    ],
    [
      "spec/oauth.md 5.3: PKCE + Secret without the secret",
      "pkce+secret",
      { client_secret: undefined },
      "401 invalid_client",
    ],
    [
      "spec/oauth.md 13: PKCE + Secret without the verifier",
      "pkce+secret",
      { code_verifier: undefined },
      "400 invalid_request",
    ],
    [
      "spec/oauth.md 13: PKCE + Secret with another verifier",
      "pkce+secret",
      { code_verifier: other },
      "400 invalid_grant",
    ],
    ["spec/oauth.md 5.6: a wrong secret", "secret", { client_secret: "secret_x" }, "401 invalid_client"],
    ["spec/oauth.md 5.3: no refresh token", "pkce", { refresh_token: undefined }, "400 invalid_request"],
    [
      "spec/oauth.md 5.6: one that never existed",
      "pkce",
      { refresh_token: "refresh_a_b_c" },
      "400 invalid_grant",
    ],
    ["RFC 6749 6: a wider scope", "pkce", { scope: "create_task manage_all_tasks" }, "400 invalid_scope"],
  ] as const)("refresh, %s", async (_, mode, members: Members, answer) => {
    const { refresh_token } = await pair(mode);
    expect(failureOf(await refreshWith(service, of, mode, refresh_token, members))).toBe(answer);
    expect((await refreshWith(service, of, mode, refresh_token)).status).toBe(200);
  });

  test("a forged refresh token is refused, and does not revoke the family that it names", async () => {
    const { refresh_token } = await pair("pkce");
    const [, family = ""] = refresh_token.split("_");
    const forged = `refresh_${family}_${systemIds.short()}_${systemIds.short()}`;
    expect(failureOf(await refreshWith(service, of, "pkce", forged))).toBe("400 invalid_grant");
    expect((await refreshWith(service, of, "pkce", refresh_token)).status).toBe(200);
  });

  test("another client's code and refresh token are invalid_grant, and stay valid for their client (RFC 6749 5.2)", async () => {
    const thief = await putApp(service, ann);
    const text = await code("secret");
    expect(failureOf(await exchangeCode(service, thief, "secret", text))).toBe("400 invalid_grant");
    const { body } = await exchangeCode(service, of, "secret", text);
    expect(failureOf(await refreshWith(service, thief, "secret", body.refresh_token))).toBe(
      "400 invalid_grant",
    );
    expect((await refreshWith(service, of, "secret", body.refresh_token)).status).toBe(200);
  });

  test("a refresh may narrow the scopes of its access token, and the next refresh has all scopes again (RFC 6749 6)", async () => {
    const first = await pair("secret");
    const narrow = await refreshWith(service, of, "secret", first.refresh_token, { scope: "create_project" });
    expect(narrow.body.scope).toBe("create_project");
    const headers = {
      authorization: `Bearer ${narrow.body.access_token}`,
      "content-type": "application/json",
    };
    const list = await replyOf(
      await fetch(`${service.url}/v2/skill.list`, { method: "POST", headers, body: "{}" }),
    );
    expect(list).toMatchObject({
      status: 403,
      body: { error: { message: "insufficient_scope: required one of [create_task, manage_all_tasks]" } },
    });
    const wide = await refreshWith(service, of, "secret", narrow.body.refresh_token);
    expect(wide.body.scope).toBe("create_task create_project");
  });

  test("an app that is only confidential gets no token without its secret (spec/decisions.md 25)", async () => {
    const strict = await putApp(service, ann, { confidentialOnly: true });
    expect(failureOf(await exchangeCode(service, strict, "pkce", await code("pkce", strict)))).toBe(
      "401 invalid_client",
    );
    const { refresh_token } = await pair("pkce+secret", strict);
    expect(failureOf(await refreshWith(service, strict, "pkce", refresh_token))).toBe("401 invalid_client");
    const late = await putApp(service, ann);
    const tokens = await pair("pkce", late);
    await service.store.change((tx) => tx.apps.update({ ...late.app, confidentialOnly: true }));
    expect(failureOf(await refreshWith(service, late, "pkce", tokens.refresh_token))).toBe(
      "401 invalid_client",
    );
    expect((await refreshWith(service, late, "secret", tokens.refresh_token)).status).toBe(200);
  });

  test("a revoked secret is refused, and any active secret is accepted (spec/oauth.md 1.4, 8)", async () => {
    const app = await putApp(service, ann);
    const [secret] = await service.store.apps.secrets(app.app.clientId);
    const tokens = await pair("secret", app);
    await service.store.change((tx) => tx.apps.revokeSecret(app.app.clientId, secret?.id ?? "", clock.now()));
    expect(failureOf(await refreshWith(service, app, "secret", tokens.refresh_token))).toBe(
      "401 invalid_client",
    );
    expect((await userMe(service.url, tokens.access_token)).status).toBe(200);
  });

  test("a code is valid for ten minutes, an access token for a day, a refresh token for thirty days (spec/oauth.md 7)", async () => {
    const [young, old] = [await code("pkce"), await code("pkce")];
    clock.step(599_999);
    const tokens = (await exchangeCode(service, of, "pkce", young)).body;
    clock.step(1);
    expect(failureOf(await exchangeCode(service, of, "pkce", old))).toBe("400 invalid_grant");
    clock.step(day);
    expect((await userMe(service.url, tokens.access_token)).body.error.message).toContain(
      "bearer token is invalid or revoked",
    );
    clock.step(29 * day - 1000);
    const next = await refreshWith(service, of, "pkce", tokens.refresh_token);
    expect(next.status).toBe(200);
    clock.step(30 * day);
    expect(failureOf(await refreshWith(service, of, "pkce", next.body.refresh_token))).toBe(
      "400 invalid_grant",
    );
  });

  test("a code that is used again revokes the tokens that it returned (RFC 6749 4.1.2), unless its client raced itself (spec/oauth.md 13)", async () => {
    const text = await code("pkce");
    const { body } = await exchangeCode(service, of, "pkce", text);
    clock.step(2_000);
    expect(failureOf(await exchangeCode(service, of, "pkce", text))).toBe("400 invalid_grant");
    expect((await userMe(service.url, body.access_token)).status).toBe(200);
    clock.step(1);
    expect(failureOf(await exchangeCode(service, of, "pkce", text))).toBe("400 invalid_grant");
    expect((await userMe(service.url, body.access_token)).status).toBe(401);
    expect(failureOf(await refreshWith(service, of, "pkce", body.refresh_token))).toBe("400 invalid_grant");
  });

  test.each([
    ["another verifier", { code_verifier: other }],
    ["no verifier", { code_verifier: undefined }],
  ])("a code that is used again at once with %s takes back what it gave", async (_, members) => {
    const text = await code("pkce");
    const { body } = await exchangeCode(service, of, "pkce", text);
    expect(failureOf(await exchangeCode(service, of, "pkce", text, members))).toBe("400 invalid_grant");
    expect((await userMe(service.url, body.access_token)).status).toBe(401);
  });

  test.each([
    [
      "expansion",
      (app: TestApp) => service.store.change((tx) => tx.apps.update({ ...app.app, generation: 2 })),
      "reauthorization_required",
    ],
    [
      "deletion",
      (app: TestApp) => service.store.change((tx) => tx.apps.remove(app.app.clientId, 1)),
      "bearer token is invalid or revoked",
    ],
  ] as const)("%s of the app kills codes, refresh and access tokens (spec/decisions.md 30)", async (_, change, message) => {
    const app = await putApp(service, ann);
    const [text, tokens] = [await code("pkce", app), await pair("pkce", app)];
    await change(app);
    expect(failureOf(await exchangeCode(service, app, "pkce", text))).toBe("400 invalid_grant");
    expect(failureOf(await refreshWith(service, app, "pkce", tokens.refresh_token))).toBe(
      "400 invalid_grant",
    );
    expect((await userMe(service.url, tokens.access_token)).body.error.message).toContain(message);
  });

  test("a revoked grant revokes codes, refresh and access tokens (spec/oauth.md 8)", async () => {
    const app = await putApp(service, ann);
    const [text, tokens] = [await code("pkce", app), await pair("pkce", app)];
    await service.store.change((tx) => tx.grants.revokeAll(ann.accountId, ann.spaceId, clock.now()));
    expect(failureOf(await exchangeCode(service, app, "pkce", text))).toBe("400 invalid_grant");
    expect(failureOf(await refreshWith(service, app, "pkce", tokens.refresh_token))).toBe(
      "400 invalid_grant",
    );
    expect((await userMe(service.url, tokens.access_token)).status).toBe(401);
  });

  test("a user who left the app's team gets no tokens for a code (spec/decisions.md 30)", async () => {
    const otherApp = await service.person({ as: await service.person(), with: ann, member: false });
    expect(
      failureOf(
        await exchangeCode(service, of, "pkce", await codeFor(service, otherApp, of, "pkce", clock.now())),
      ),
    ).toBe("400 invalid_grant");
  });

  test("scopes that were removed from the app are not in its new tokens (spec/oauth.md 8)", async () => {
    const app = await putApp(service, ann);
    const tokens = await pair("pkce", app);
    await service.store.change((tx) => tx.apps.update({ ...app.app, scopes: ["create_project"] }));
    expect((await refreshWith(service, app, "pkce", tokens.refresh_token)).body.scope).toBe("create_project");
  });

  describe("a refresh token used again (spec/decisions.md 31)", () => {
    test.each(
      modes,
    )("within ten seconds by the same client is a race: the family stays valid (%s)", async (mode) => {
      const first = await pair(mode);
      const next = await refreshWith(service, of, mode, first.refresh_token);
      clock.step(10_000);
      expect(failureOf(await refreshWith(service, of, mode, first.refresh_token))).toBe("400 invalid_grant");
      expect((await userMe(service.url, next.body.access_token)).status).toBe(200);
      expect((await refreshWith(service, of, mode, next.body.refresh_token)).status).toBe(200);
    });

    test.each(modes)("later revokes the family (%s)", async (mode) => {
      const first = await pair(mode);
      const next = await refreshWith(service, of, mode, first.refresh_token);
      clock.step(10_001);
      expect(failureOf(await refreshWith(service, of, mode, first.refresh_token))).toBe("400 invalid_grant");
      expect((await userMe(service.url, next.body.access_token)).status).toBe(401);
      expect(failureOf(await refreshWith(service, of, mode, next.body.refresh_token))).toBe(
        "400 invalid_grant",
      );
    });

    test("and older than the previous one revokes the family at once", async () => {
      const first = await pair("pkce");
      const second = await refreshWith(service, of, "pkce", first.refresh_token);
      const third = await refreshWith(service, of, "pkce", second.body.refresh_token);
      await refreshWith(service, of, "pkce", first.refresh_token);
      expect((await userMe(service.url, third.body.access_token)).status).toBe(401);
    });

    test("with another verifier revokes the family at once", async () => {
      const first = await pair("pkce+secret");
      const next = await refreshWith(service, of, "pkce+secret", first.refresh_token);
      await refreshWith(service, of, "pkce+secret", first.refresh_token, { code_verifier: other });
      expect((await userMe(service.url, next.body.access_token)).status).toBe(401);
    });

    test("without the required secret changes nothing", async () => {
      const first = await pair("secret");
      const next = await refreshWith(service, of, "secret", first.refresh_token);
      expect(
        failureOf(
          await refreshWith(service, of, "secret", first.refresh_token, { client_secret: undefined }),
        ),
      ).toBe("401 invalid_client");
      expect((await userMe(service.url, next.body.access_token)).status).toBe(200);
    });
  });

  test("parameters are accepted as JSON, as a form, and by Basic (spec/oauth.md 5.1)", async () => {
    const { clientId } = of.app;
    const basic = { authorization: `Basic ${Buffer.from(`${clientId}:${of.secret}`).toString("base64")}` };
    const exchange = async (members: Members, how: Parameters<typeof postForm>[3]) =>
      postForm(
        service.url,
        "/oauth/token",
        {
          grant_type: "authorization_code",
          code: await code("secret"),
          redirect_uri: of.app.redirectUris[0],
          ...members,
        },
        how,
      );
    const inBody = { client_id: clientId, client_secret: of.secret };
    expect((await exchange(inBody, { json: true })).status).toBe(200);
    expect((await exchange({}, { headers: basic })).status).toBe(200);
    expect((await exchange({ client_id: clientId }, { headers: basic, json: true })).status).toBe(200);
    expect(failureOf(await exchange(inBody, { headers: basic }))).toBe("400 invalid_request");
    expect(failureOf(await exchange({ client_id: "client_other" }, { headers: basic }))).toBe(
      "400 invalid_request",
    );
    for (const authorization of [
      "Basic !",
      "Bearer x",
      `Basic ${Buffer.from("%zz:x").toString("base64")}`,
      "Basic eA==",
    ]) {
      const reply = await exchange({}, { headers: { authorization } });
      expect([failureOf(reply), reply.headers.get("www-authenticate")]).toEqual([
        "401 invalid_client",
        expect.stringMatching(/^Basic realm=/),
      ]);
    }
    expect(
      (await exchange({ ...inBody, client_secret: "x" }, {})).headers.get("www-authenticate"),
    ).toBeNull();
  });

  test("Basic credentials are form-decoded (RFC 6749 2.3.1)", async () => {
    const encoded = of.app.clientId.replace("_", "%5F");
    const authorization = `Basic ${Buffer.from(`${encoded}:${of.secret.replace("_", "%5f")}`).toString("base64")}`;
    const members = {
      grant_type: "authorization_code",
      code: await code("secret"),
      redirect_uri: of.app.redirectUris[0],
    };
    expect(
      (await postForm(service.url, "/oauth/token", members, { headers: { authorization } })).status,
    ).toBe(200);
  });

  test.each([
    ["RFC 6749 3.2: a repeated parameter", "application/x-www-form-urlencoded", "code=a&code=b", 400],
    ["RFC 6749 3.2: a repeated member", "application/json", '{"code":"a","c\\u006fde":"b"}', 400],
    ["a member that is not a text", "application/json", '{"client_id":1}', 400],
    ["nested members", "application/json", '{"client_id":["x"]}', 400],
    ["deep nesting", "application/json", "[".repeat(60_000), 400],
    ["not an object", "application/json", "null", 400],
    ["not JSON", "application/json", "{", 400],
    ["not UTF-8", "application/json", Uint8Array.of(0xff), 400],
    ["another type", "text/plain", "grant_type=x", 400],
    ["no body", "application/x-www-form-urlencoded", "", 400],
    ["more than 64 kB", "application/x-www-form-urlencoded", "x".repeat(65_537), 413],
  ])("%s is invalid_request", async (_, type, body, status) => {
    const reply = await replyOf(
      await fetch(`${service.url}/oauth/token`, { method: "POST", headers: { "content-type": type }, body }),
    );
    expect(failureOf(reply)).toBe(`${status} invalid_request`);
  });

  test("a media type with parameters and in capitals is accepted, and null is absent", async () => {
    const body = JSON.stringify({
      grant_type: "x",
      client_id: of.app.clientId,
      client_secret: null,
      more: true,
    });
    const reply = await replyOf(
      await fetch(`${service.url}/oauth/token`, {
        method: "POST",
        headers: { "content-type": "Application/JSON; charset=utf-8" },
        body,
      }),
    );
    expect(failureOf(reply)).toBe("400 unsupported_grant_type");
  });

  test("every answer has its headers (spec/oauth.md 5.1, RFC 6749 5.1, spec/decisions.md 36)", async () => {
    const replies = [
      await exchangeCode(service, of, "pkce", await code("pkce")),
      await postForm(service.url, "/oauth/token", {}),
      await postForm(service.url, "/oauth/revoke", {}),
      await postForm(service.url, "/oauth/introspect", {}),
      await replyOf(await fetch(`${service.url}/oauth/token`)),
      await replyOf(await fetch(`${service.url}/oauth/jwks`)),
      await replyOf(await fetch(`${service.url}/.well-known/oauth-authorization-server`)),
    ];
    for (const { headers } of replies) {
      expect(headers.get("x-request-id")).toMatch(/^req_/);
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect([
        headers.get("cache-control"),
        headers.get("pragma"),
        headers.get("access-control-allow-origin"),
      ]).toEqual(["no-store", "no-cache", "*"]);
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test.each([
    ["/oauth/token", "POST"],
    ["/oauth/revoke", "POST"],
    ["/oauth/introspect", "POST"],
    ["/oauth/jwks", "GET"],
    ["/.well-known/oauth-authorization-server", "GET"],
  ])("%s takes %s, shows a browser so, and answers 405 to the rest (RFC 6749 3.2)", async (path, method) => {
    const preflight = await fetch(service.url + path, {
      method: "OPTIONS",
      headers: {
        origin: "https://spa.example",
        "access-control-request-method": method,
        "access-control-request-headers": "authorization",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe(method);
    for (const wrong of ["GET", "POST", "PUT", "DELETE"].filter((name) => name !== method)) {
      const reply = await replyOf(await fetch(service.url + path, { method: wrong }));
      expect([failureOf(reply), reply.headers.get("allow")]).toEqual(["405 invalid_request", method]);
    }
  });

  test("the metadata names this installation (RFC 8414 2)", async () => {
    const { body } = await replyOf(await fetch(`${service.url}/.well-known/oauth-authorization-server`));
    expect(body).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/openapi/oauth`,
      token_endpoint: `${issuer}/oauth/token`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    });
  });
});
