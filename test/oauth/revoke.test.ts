import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import {
  issuer,
  type Mode,
  modes,
  pairOf,
  postForm,
  putApp,
  refreshWith,
  type TestApp,
  userMe,
} from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, type StillClock, stillClock } from "../support/still-clock.ts";

const seconds = quarterPast / 1000;

describeOnOne("tokens of a client", (kind) => {
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
  const pair = (mode: Mode) => pairOf(service, ann, of, mode, clock.now());
  const withSecret = (app: TestApp) => ({ client_id: app.app.clientId, client_secret: app.secret });
  const revoke = (members: Record<string, string>) => postForm(service.url, "/oauth/revoke", members);
  const introspect = async (token: string, app = of) =>
    (await postForm(service.url, "/oauth/introspect", { token, ...withSecret(app) })).body;

  describe("revocation (spec/oauth.md 6, RFC 7009)", () => {
    test.each(modes)("revokes a refresh token with its access token, in the mode %s", async (mode) => {
      const { access_token, refresh_token } = await pair(mode);
      const proof = mode === "secret" ? withSecret(of) : { client_id: of.app.clientId };
      const reply = await revoke({ token: refresh_token, token_type_hint: "access_token", ...proof });
      expect([reply.status, reply.body]).toEqual([200, {}]);
      expect((await userMe(service.url, access_token)).body.error.message).toContain(
        "bearer token is invalid or revoked",
      );
      expect((await refreshWith(service, of, mode, refresh_token)).body.error).toBe("invalid_grant");
    });

    test("revokes an access token alone; the refresh token stays valid", async () => {
      const { access_token, refresh_token } = await pair("pkce");
      expect((await revoke({ token: access_token, client_id: of.app.clientId })).status).toBe(200);
      expect((await userMe(service.url, access_token)).status).toBe(401);
      const next = await refreshWith(service, of, "pkce", refresh_token);
      expect((await userMe(service.url, next.body.access_token)).status).toBe(200);
    });

    test("of an old access token does not revoke the new one", async () => {
      const first = await pair("pkce");
      const next = await refreshWith(service, of, "pkce", first.refresh_token);
      expect((await revoke({ token: first.access_token, client_id: of.app.clientId })).status).toBe(200);
      expect((await userMe(service.url, next.body.access_token)).status).toBe(200);
    });

    test("of a rotated refresh token revokes its family, because the answer may have been lost", async () => {
      const first = await pair("pkce");
      const next = await refreshWith(service, of, "pkce", first.refresh_token);
      await revoke({ token: first.refresh_token, client_id: of.app.clientId });
      expect((await userMe(service.url, next.body.access_token)).status).toBe(401);
    });

    test("is refused in Secret mode without the secret, or with a wrong one", async () => {
      const { access_token, refresh_token } = await pair("secret");
      for (const token of [access_token, refresh_token]) {
        expect((await revoke({ token, client_id: of.app.clientId })).body.error).toBe("invalid_client");
        expect((await revoke({ token, client_id: of.app.clientId, client_secret: "x" })).status).toBe(401);
      }
      expect((await userMe(service.url, access_token)).status).toBe(200);
    });

    test("by another client has no effect, and the answer does not show that", async () => {
      const { access_token, refresh_token } = await pair("pkce");
      const thief = await putApp(service, ann);
      for (const token of [access_token, refresh_token])
        expect((await revoke({ token, ...withSecret(thief) })).status).toBe(200);
      expect((await userMe(service.url, access_token)).status).toBe(200);
      expect((await refreshWith(service, of, "pkce", refresh_token)).status).toBe(200);
    });

    test.each([
      "nonsense",
      "refresh_a_b_c",
      "eyJhbGciOiJub25lIn0.e30.",
      "x".repeat(9000),
    ])("and 200 it is for what never was: %.20s", async (token) => {
      expect((await revoke({ token, ...withSecret(of) })).status).toBe(200);
    });

    test("without a token is answered with 400, by an unknown client with 401", async () => {
      expect((await revoke(withSecret(of))).body.error).toBe("invalid_request");
      expect((await revoke({ token: "x", client_id: "client_none" })).body.error).toBe("invalid_client");
    });
  });

  describe("introspection (RFC 7662)", () => {
    test("shows an active access token to its client", async () => {
      const { access_token } = await pair("secret");
      const jti = JSON.parse(Buffer.from(access_token.split(".")[1], "base64url").toString()).jti;
      expect(await introspect(access_token)).toEqual({
        ...{
          active: true,
          client_id: of.app.clientId,
          sub: ann.accountId,
          iss: issuer,
          aud: issuer,
          jti,
          token_type: "Bearer",
        },
        ...{ scope: "create_task create_project", iat: seconds, nbf: seconds, exp: seconds + 86_400 },
      });
    });

    test("shows an active refresh token, without a token type", async () => {
      const { refresh_token } = await pair("secret");
      expect(await introspect(refresh_token)).toEqual({
        ...{
          active: true,
          client_id: of.app.clientId,
          sub: ann.accountId,
          iss: issuer,
          exp: seconds + 30 * 86_400,
        },
        scope: "create_task create_project",
      });
    });

    test("shows any inactive token, and any token of another client, as inactive without details (2.2)", async () => {
      const first = await pair("secret");
      const next = await refreshWith(service, of, "secret", first.refresh_token);
      const otherApp = await putApp(service, ann);
      const inactive = { active: false };
      for (const token of [first.access_token, first.refresh_token, "x", "refresh_a_b_c"])
        expect(await introspect(token)).toEqual(inactive);
      for (const token of [next.body.access_token, next.body.refresh_token]) {
        expect(await introspect(token, otherApp)).toEqual(inactive);
        expect(await introspect(token)).toMatchObject({ active: true });
      }
      await revoke({ token: next.body.refresh_token, ...withSecret(of) });
      for (const token of [next.body.access_token, next.body.refresh_token])
        expect(await introspect(token)).toEqual(inactive);
    });

    test("shows an expired token as inactive", async () => {
      const { access_token, refresh_token } = await pair("secret");
      clock.step(86_400_000);
      expect([(await introspect(access_token)).active, (await introspect(refresh_token)).active]).toEqual([
        false,
        true,
      ]);
      clock.step(-86_400_000);
    });

    test("always requires a secret (2.1): client_id alone would reveal tokens", async () => {
      const { access_token } = await pair("pkce");
      const reply = await postForm(service.url, "/oauth/introspect", {
        token: access_token,
        client_id: of.app.clientId,
      });
      expect([reply.status, reply.body.error]).toEqual([401, "invalid_client"]);
    });
  });
});
