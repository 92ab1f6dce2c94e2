import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { AuthorizationCode } from "simple-oauth2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  codeFor,
  issuer,
  type Mode,
  modes,
  putApp,
  type TestApp,
  userMe,
  verifier,
} from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";

// Independent client libraries discover, exchange, refresh, introspect and revoke.
// They know the platform by its public name; this test replaces a name resolver.
let service: Service;
let ann: Person;
let of: TestApp;
beforeAll(async () => {
  service = await openService({ idle: true });
  ann = await service.person();
  of = await putApp(service, ann);
});
afterAll(() => service[Symbol.asyncDispose]());

const redirectUri = "https://app.example/cb";
const here = (url: string): string => url.replace(issuer, service.url);
/** The redirect to the app after consent. */
const callback = async (mode: Mode): Promise<URL> =>
  new URL(
    `${redirectUri}?${new URLSearchParams({ code: await codeFor(service, ann, of, mode), state: "s", iss: issuer })}`,
  );

describe("oauth4webapi, with all checks on", () => {
  const options = { [oauth.customFetch]: (url: string, init: object) => fetch(here(url), init) };
  const authentications: Record<Mode, () => oauth.ClientAuth> = {
    "pkce+secret": () => oauth.ClientSecretBasic(of.secret),
    secret: () => oauth.ClientSecretPost(of.secret),
    pkce: () => oauth.None(),
  };

  test.each(modes)("%s", async (mode) => {
    const url = new URL(issuer);
    const as = await oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { ...options, algorithm: "oauth2" }),
    );
    const client: oauth.Client = { client_id: of.app.clientId };
    const auth = authentications[mode]();
    const checked = oauth.validateAuthResponse(as, client, await callback(mode), "s");
    const proof = mode === "secret" ? oauth.nopkce : verifier;
    const reply = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      auth,
      checked,
      redirectUri,
      proof,
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, reply);
    expect((await userMe(service.url, tokens.access_token)).status).toBe(200);
    const again =
      mode === "pkce+secret" ? { ...options, additionalParameters: { code_verifier: verifier } } : options;
    const refreshed = await oauth.refreshTokenGrantRequest(
      as,
      client,
      auth,
      tokens.refresh_token ?? "",
      again,
    );
    const next = await oauth.processRefreshTokenResponse(as, client, refreshed);
    expect((await userMe(service.url, next.access_token)).status).toBe(200);
    if (mode !== "pkce") {
      const looked = await oauth.introspectionRequest(as, client, auth, next.access_token, options);
      expect(await oauth.processIntrospectionResponse(as, client, looked)).toMatchObject({
        active: true,
        sub: ann.accountId,
      });
    }
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(as, client, auth, next.refresh_token ?? "", options),
    );
    expect((await userMe(service.url, next.access_token)).status).toBe(401);
    const dead = await oauth.refreshTokenGrantRequest(as, client, auth, next.refresh_token ?? "", again);
    await expect(oauth.processRefreshTokenResponse(as, client, dead)).rejects.toMatchObject({
      error: "invalid_grant",
      status: 400,
    });
  });

  test("the access token follows RFC 9068, verified with the published keys", async () => {
    const url = new URL(issuer);
    const as = await oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, { ...options, algorithm: "oauth2" }),
    );
    const client: oauth.Client = { client_id: of.app.clientId };
    const checked = oauth.validateAuthResponse(as, client, await callback("pkce"), "s");
    const reply = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      checked,
      redirectUri,
      verifier,
      options,
    );
    const { access_token } = await oauth.processAuthorizationCodeResponse(as, client, reply);
    const request = new Request("https://resource.example", {
      headers: { authorization: `Bearer ${access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(as, request, issuer, options);
    expect(claims).toMatchObject({
      sub: ann.accountId,
      client_id: of.app.clientId,
      scope: "create_task create_project",
    });
  });
});

describe("openid-client", () => {
  test.each(modes)("%s", async (mode) => {
    const auth = mode === "pkce" ? openid.None() : openid.ClientSecretPost(of.secret);
    const config = await openid.discovery(new URL(issuer), of.app.clientId, undefined, auth, {
      algorithm: "oauth2",
      [openid.customFetch]: (url, init) => fetch(here(url), init as RequestInit),
    });
    const checks = { expectedState: "s", ...(mode === "secret" ? {} : { pkceCodeVerifier: verifier }) };
    const tokens = await openid.authorizationCodeGrant(config, await callback(mode), checks);
    const proof: Record<string, string> = mode === "pkce+secret" ? { code_verifier: verifier } : {};
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? "", proof);
    expect((await userMe(service.url, next.access_token)).status).toBe(200);
    if (mode !== "pkce")
      expect(await openid.tokenIntrospection(config, next.access_token)).toMatchObject({ active: true });
    await openid.tokenRevocation(config, next.access_token);
    expect((await userMe(service.url, next.access_token)).status).toBe(401);
  });
});

describe("simple-oauth2", () => {
  test.each([
    ["by Basic", "header", "form"],
    ["in a form", "body", "form"],
    ["in JSON", "body", "json"],
  ] as const)("authenticates %s", async (_, authorizationMethod, bodyFormat) => {
    const client = new AuthorizationCode({
      client: { id: of.app.clientId, secret: of.secret },
      auth: { tokenHost: service.url, tokenPath: "/oauth/token", revokePath: "/oauth/revoke" },
      options: { authorizationMethod, bodyFormat },
    });
    const code = await codeFor(service, ann, of, "secret");
    const tokens = await client.getToken({ code, redirect_uri: redirectUri });
    const next = await tokens.refresh();
    expect((await userMe(service.url, String(next.token["access_token"]))).status).toBe(200);
    expect((await userMe(service.url, String(tokens.token["access_token"]))).status).toBe(401);
    await next.revokeAll();
    expect((await userMe(service.url, String(next.token["access_token"]))).status).toBe(401);
  });
});
