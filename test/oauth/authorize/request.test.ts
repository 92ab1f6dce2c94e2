import { assert, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import type { OAuthApp } from "../../../src/core/oauth/app.ts";
import { type Authorization, readAuthorization } from "../../../src/oauth/authorize/request.ts";
import { sampleApp } from "../../support/oauth.ts";

const issuer = "https://platform.test";
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const app = sampleApp({
  clientId: "client_7Hk2",
  redirectUris: ["https://app.example/cb?keep=1", "myapp://cb"],
});
const single = sampleApp({ clientId: "client_one" });
const pkce = `&code_challenge=${challenge}&code_challenge_method=S256`;
const good = "client_id=client_7Hk2&redirect_uri=myapp://cb";

const read = (query: string, apps: readonly OAuthApp[] = [app, single]): Promise<Authorization> =>
  readAuthorization(
    new URLSearchParams(query),
    async (id) => apps.find(({ clientId }) => clientId === id) ?? null,
    issuer,
  );

/** The request that the user is asked to approve; any other result fails the test. */
async function requestIn(query: string) {
  const found = await read(query);
  if (found.kind !== "ask") throw new Error(JSON.stringify(found));
  return found.request;
}

describe("a page, and no redirect (spec/oauth.md 4, RFC 6749 4.1.2.1)", () => {
  test.each([
    ["without a client_id", "redirect_uri=myapp://cb", "client"],
    ["for an empty client_id", "client_id=&redirect_uri=myapp://cb", "client"],
    ["for an unknown or deleted app", "client_id=client_none&redirect_uri=myapp://cb", "client"],
    ["for a client_id that occurs twice", `${good}&client_id=client_7Hk2`, "client"],
    ["without a redirect_uri, of an app with two", "client_id=client_7Hk2", "redirect_uri"],
    ["for an empty redirect_uri of an app with two", "client_id=client_7Hk2&redirect_uri=", "redirect_uri"],
    [
      "for a redirect_uri that is not registered",
      "client_id=client_7Hk2&redirect_uri=https://evil.example/cb",
      "redirect_uri",
    ],
    ["for a redirect_uri that occurs twice", `${good}&redirect_uri=myapp://cb`, "redirect_uri"],
    [
      "for an unregistered one next to other mistakes",
      `client_id=client_7Hk2&redirect_uri=x:y&scope=all&scope=all`,
      "redirect_uri",
    ],
  ])("%s", async (_, query, reason) => {
    expect(await read(query)).toEqual({ kind: "page", reason });
  });
});

describe("an error that is returned to the app", () => {
  test.each([
    ["RFC 6749 3.1: a repeated parameter", "&scope=create_task&scope=create_task", "invalid_request"],
    ["RFC 6749 3.1: an empty one repeated", "&prompt=&prompt=consent", "invalid_request"],
    ["RFC 6749 3.1.1: another response_type", "&response_type=token", "unsupported_response_type"],
    ["RFC 6749 3.1.1: code and more", "&response_type=code+id_token", "unsupported_response_type"],
    [
      "RFC 7636 4.3: a challenge without a method, which is plain",
      `&code_challenge=${challenge}`,
      "invalid_request",
    ],
    ["RFC 7636 4.3: plain", `&code_challenge=${challenge}&code_challenge_method=plain`, "invalid_request"],
    [
      "RFC 7636 4.2: a challenge too short",
      "&code_challenge=abc&code_challenge_method=S256",
      "invalid_request",
    ],
    [
      "RFC 7636 4.2: a challenge with padding",
      `&code_challenge=${challenge.slice(1)}%3D&code_challenge_method=S256`,
      "invalid_request",
    ],
    ["RFC 9700 4.8: a method without a challenge", "&code_challenge_method=S256", "invalid_request"],
    ["spec/oauth.md 4: a scope that is not configured", "&scope=manage_all_tasks", "invalid_scope"],
    ["spec/oauth.md 4: an unknown scope", "&scope=create_task+all", "invalid_scope"],
  ])("%s", async (_, query, error) => {
    const found = await read(`${good}&state=s+%26%C3%BC${query}`);
    expect(found.kind).toBe("redirect");
    const { protocol, host, searchParams } = new URL(found.kind === "redirect" ? found.location : "");
    expect([protocol, host]).toEqual(["myapp:", "cb"]);
    expect(Object.fromEntries(searchParams)).toEqual({
      error,
      error_description: expect.any(String),
      state: "s &ü",
      iss: issuer,
    });
    // RFC 6749 4.1.2.1
    expect(searchParams.get("error_description")).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  test("omits a repeated state, and keeps the redirect URI's own query (RFC 6749 3.1.2)", async () => {
    const found = await read(
      `client_id=client_7Hk2&redirect_uri=${encodeURIComponent("https://app.example/cb?keep=1")}&state=a&state=b`,
    );
    const { searchParams } = new URL(found.kind === "redirect" ? found.location : "");
    expect(
      found.kind === "redirect" && found.location.startsWith("https://app.example/cb?keep=1&error="),
    ).toBe(true);
    expect(searchParams.has("state")).toBe(false);
    expect(searchParams.get("error")).toBe("invalid_request");
  });
});

describe("the request for the user's consent", () => {
  test("has all scopes of the app, at its only redirect URI, when the request names none", async () => {
    expect(await requestIn("client_id=client_one")).toEqual({
      app: single,
      resource: null,
      redirectUri: "https://app.example/cb",
      scopes: ["create_task", "create_project"],
      state: null,
      challenge: null,
      prompt: null,
      issuer,
    });
  });

  test.each([
    ["spec/oauth.md 4: response_type=code", "&response_type=code", {}],
    ["RFC 6749 3.1: an empty response_type is omitted", "&response_type=", {}],
    ["RFC 6749 3.1: an empty state is omitted", "&state=", { state: null }],
    ["RFC 6749 3.1: unknown parameters are ignored, repeated too", "&nonce=1&nonce=2&audience=x&code=1", {}],
    ["spec/oauth.md 4: fewer scopes", "&scope=create_project", { scopes: ["create_project"] }],
    ["RFC 7636 4.3: a challenge", pkce, { challenge }],
    ["spec/oauth.md 13: prompt=consent", "&prompt=consent", { prompt: "consent" }],
    ["spec/oauth.md 13: prompt=consent among others", "&prompt=login+consent", { prompt: "consent" }],
    ["spec/oauth.md 13: other prompts are ignored", "&prompt=none", { prompt: null }],
  ])("%s", async (_, query, members) => {
    expect(await requestIn(good + query)).toMatchObject({ redirectUri: "myapp://cb", ...members });
  });

  test("keeps the state unchanged (RFC 6749 4.1.2)", async () => {
    const texts = string({ unit: "binary", minLength: 1 }).filter((text) => text.isWellFormed());
    const states: string[] = [];
    assert(
      property(texts, (text) => void states.push(text)),
      { numRuns: 200 },
    );
    for (const state of states)
      expect((await requestIn(`${good}&state=${encodeURIComponent(state)}`)).state).toBe(state);
  });
});
