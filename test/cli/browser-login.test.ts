import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { approve } from "../../src/core/oauth/consent.ts";
import { issuer, putApp, type TestApp } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { runOnTerminal, runWith, testFolder } from "./rig.ts";

const home = testFolder();
const path = join(home, ".config/atp/profiles.json");
let service: Service;
let ann: Person;
let app: TestApp;
beforeAll(async () => {
  service = await openService();
  ann = await service.person();
  app = await putApp(service, ann, { redirectUris: ["http://127.0.0.1/callback"], loopbackAnyPort: true });
});
afterAll(async () => service[Symbol.asyncDispose]());

/** Begins a login, and returns the address that the browser opens. */
async function begin() {
  const session = runOnTerminal(home, service, {}, [
    "login",
    issuer,
    "--client-id",
    app.app.clientId,
    "--name",
    "web",
  ]);
  await expect.poll(() => session.opened).toHaveLength(1);
  const { searchParams } = new URL(session.opened[0] ?? "");
  const fields = Object.fromEntries(searchParams);
  const [redirectUri = "", state = "", challenge = ""] = [
    fields["redirect_uri"],
    fields["state"],
    fields["code_challenge"],
  ];
  /** The browser comes back with this query. */
  const comeBack = async (query: Readonly<Record<string, string>>) => {
    const reply = await fetch(`${redirectUri}?${new URLSearchParams({ state, iss: issuer, ...query })}`);
    return { status: reply.status, text: await reply.text() };
  };
  async function consent(): Promise<string> {
    const request = {
      app: app.app,
      redirectUri,
      scopes: app.app.scopes,
      state,
      challenge,
      prompt: null,
      issuer,
      resource: null,
    };
    const approval = { request, accountId: ann.accountId, spaceId: ann.spaceId, connectorUids: [] };
    return (
      await service.store.change((tx) =>
        approve(tx, { now: Date.now(), ids: systemIds, random: systemRandom }, approval),
      )
    ).code;
  }
  return { session, fields, comeBack, consent };
}
const atp = (...args: readonly string[]) => runWith(home, service, args);
const stored = () => JSON.parse(readFileSync(path, "utf8")).profiles[0];

describe("a login with the browser", () => {
  test("uses PKCE and a loopback redirect, and stores the tokens", async () => {
    const { session, fields, comeBack, consent } = await begin();
    expect(fields).toMatchObject({
      client_id: app.app.clientId,
      response_type: "code",
      code_challenge_method: "S256",
    });
    expect(fields["redirect_uri"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(await comeBack({ code: await consent() })).toMatchObject({
      status: 200,
      text: expect.stringContaining("You are signed in"),
    });
    expect(await session.code).toBe(0);
    expect(session.screen.text()).toContain("(profile web)");
    expect(JSON.parse((await atp("whoami", "--json")).out)).toMatchObject({
      credential_kind: "token",
      user_id: ann.accountId,
    });
    expect((await atp("profile", "list")).out).toBe(`web\t${issuer}\toauth\tcurrent\n`);
    expect((await atp("task", "create", "[[say hi]]", "--watch")).out).toContain("agent: hi\n");
    await expect(comeBack({ code: "again" })).rejects.toThrow();
  });

  test("renews its tokens, and stores the new ones", async () => {
    const before = stored();
    const { code } = await runWith(home, service, ["whoami"], {
      now: Date.now() + before.oauth.tokens.expiresAt,
    });
    expect(code).toBe(0);
    expect(stored().oauth.tokens.accessToken).not.toBe(before.oauth.tokens.accessToken);
    expect((await atp("whoami")).code).toBe(0);
  });

  test("is not disturbed by requests without its state", async () => {
    const { session, comeBack, consent } = await begin();
    expect(await comeBack({ code: "x", state: "wrong" })).toMatchObject({ status: 404 });
    expect(await comeBack({ error: "access_denied", state: "" })).toMatchObject({ status: 404 });
    await comeBack({ code: await consent() });
    expect(await session.code).toBe(0);
  });

  test("fails when the user refuses, and keeps the earlier profile", async () => {
    const before = stored();
    const { session, comeBack } = await begin();
    expect(await comeBack({ error: "access_denied" })).toMatchObject({ status: 400 });
    expect(await session.code).toBe(4);
    expect(session.screen.text()).toContain("access_denied");
    expect(stored()).toEqual(before);
  });

  test("ends with logout, which revokes the tokens", async () => {
    const { accessToken } = stored().oauth.tokens;
    expect(await atp("logout")).toMatchObject({ code: 0, out: "Removed the profile web.\n" });
    const reply = await fetch(`${service.url}/v2/user.me`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(reply.status).toBe(401);
  });
});
