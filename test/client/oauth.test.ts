import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createClient,
  memoryStore,
  type OAuthClient,
  type OAuthOptions,
  oauthClient,
  type Tokens,
} from "../../packages/client/src/index.ts";
import { challenge, codeFor, issuer, type Mode, putApp, type TestApp, verifier } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { fetchOf } from "./rig.ts";

let service: Service;
let ann: Person;
let app: TestApp;
beforeAll(async () => {
  service = await openService({ idle: true });
  ann = await service.person();
  app = await putApp(service, ann);
});
afterAll(async () => service[Symbol.asyncDispose]());

const redirectUri = "https://app.example/cb";
const oauthOf = (mode: Mode, more: Partial<OAuthOptions> = {}): OAuthClient =>
  oauthClient({
    ...{ issuer, clientId: app.app.clientId, redirectUri, fetch: fetchOf(service) },
    ...(mode === "pkce" ? {} : { clientSecret: app.secret }),
    ...more,
  });
/** The tokens of a user who has consented. */
async function authorized(mode: Mode, oauth = oauthOf(mode)): Promise<Tokens> {
  const code = await codeFor(service, ann, app, mode);
  const callback = `${redirectUri}?code=${code}&state=s&iss=${encodeURIComponent(issuer)}`;
  return await oauth.finish(callback, { state: "s", verifier });
}
const meBy = (tokens: Parameters<OAuthClient["source"]>[0], oauth: OAuthClient) =>
  createClient({ baseUrl: service.url, token: oauth.source(tokens), retries: 0 }).users.me();

describe("an authorization", () => {
  test("begins at the address of the server's metadata, with a challenge and a state", async () => {
    const { url, state, verifier: made } = await oauthOf("pkce").begin();
    const { searchParams } = new URL(url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: "code",
      client_id: app.app.clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge_method: "S256",
    });
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(made));
    expect(searchParams.get("code_challenge")).toBe(Buffer.from(digest).toString("base64url"));
    expect(made).toHaveLength(challenge.length);
    expect((await oauthOf("pkce").begin()).state).not.toBe(state);
  });

  test.each([
    "pkce+secret",
    "pkce",
  ] as const)("with %s ends with tokens that call the API, and can be refreshed", async (mode) => {
    const oauth = oauthOf(mode);
    const store = memoryStore(await authorized(mode, oauth));
    expect(await meBy(store, oauth)).toMatchObject({ ok: true });
    const before = await store.load();
    const renewed = await oauth.source(store).refresh(before?.accessToken ?? "");
    expect(renewed).not.toBe(before?.accessToken);
    expect(await store.load()).toMatchObject({ accessToken: renewed });
    expect(await meBy(store, oauth)).toMatchObject({ ok: true });
  });

  test("is refused when the state or the issuer differs, and when the user said no", async () => {
    const begun = { state: "s", verifier };
    const finish = (query: string) => oauthOf("pkce").finish(`${redirectUri}?${query}`, begun);
    await expect(finish("code=c&state=other")).rejects.toMatchObject({ code: "invalid_state" });
    await expect(finish("code=c&state=s&iss=https%3A%2F%2Fevil.example")).rejects.toMatchObject({
      code: "invalid_issuer",
    });
    await expect(finish("code=c&state=s")).rejects.toMatchObject({ code: "invalid_issuer" });
    await expect(
      finish(`error=access_denied&state=s&iss=${encodeURIComponent(issuer)}`),
    ).rejects.toMatchObject({ code: "access_denied" });
    await expect(finish(`code=unknown&state=s&iss=${encodeURIComponent(issuer)}`)).rejects.toMatchObject({
      code: "invalid_grant",
    });
  });
});

test("metadata of another issuer are refused before a secret is sent", async () => {
  const oauth = oauthOf("pkce+secret", { issuer: service.url });
  await expect(oauth.begin()).rejects.toMatchObject({ code: "invalid_issuer" });
  await expect(
    oauth.source(memoryStore({ accessToken: "a", refreshToken: "r", expiresAt: 0 })).token(),
  ).rejects.toMatchObject({
    code: "invalid_issuer",
  });
});

describe("a refresh", () => {
  test("happens once for many calls whose token has expired", async () => {
    let posts = 0;
    const real = fetchOf(service);
    const counting: typeof fetch = (input, init) => {
      posts += init?.method === "POST" && String(input).endsWith("/oauth/token") ? 1 : 0;
      return real(input, init);
    };
    const oauth = oauthOf("pkce", { fetch: counting });
    const tokens = await authorized("pkce", oauth);
    const store = memoryStore({ ...tokens, expiresAt: 0 });
    const source = oauth.source(store);
    posts = 0;
    const all = await Promise.all(Array.from({ length: 20 }, () => source.token()));
    expect(new Set(all).size).toBe(1);
    expect(posts).toBe(1);
  });

  test("of two processes at once leaves both with the pair that won, and the family valid", async () => {
    const store = memoryStore({ ...(await authorized("pkce")), expiresAt: 0 });
    const processes = [oauthOf("pkce"), oauthOf("pkce"), oauthOf("pkce")].map((oauth) => oauth.source(store));
    const won = new Set(await Promise.all(processes.map((source) => source.token())));
    expect(won.size).toBe(1);
    expect(await meBy(store, oauthOf("pkce"))).toMatchObject({ ok: true });
  });

  test("of a store with a lock is sent once for all processes that need it", async () => {
    let posts = 0;
    const counting: typeof fetch = (input, init) => {
      posts += String(input).endsWith("/oauth/token") ? 1 : 0;
      return fetchOf(service)(input, init);
    };
    let last: Promise<unknown> = Promise.resolve();
    const exclusive = <T>(refresh: () => Promise<T>): Promise<T> => {
      const next = last.then(refresh);
      last = next.catch(() => undefined);
      return next;
    };
    const store = { ...memoryStore({ ...(await authorized("pkce")), expiresAt: 0 }), exclusive };
    const sources = Array.from({ length: 3 }, () => oauthOf("pkce", { fetch: counting }).source(store));
    expect(new Set(await Promise.all(sources.map((source) => source.token()))).size).toBe(1);
    expect(posts).toBe(1);
  });

  test("follows a 401 of the API once, and the call is repeated", async () => {
    const oauth = oauthOf("pkce");
    const tokens = await authorized("pkce", oauth);
    const store = memoryStore({ ...tokens, accessToken: "revoked-or-rotated" });
    expect(await meBy(store, oauth)).toMatchObject({ ok: true });
  });

  test("that the server refuses, and a store without tokens, ask for authorization", async () => {
    const oauth = oauthOf("pkce", { sleep: async () => undefined });
    const store = memoryStore({ ...(await authorized("pkce", oauth)), expiresAt: 0 });
    await oauth.revoke(memoryStore(await store.load()));
    await expect(oauth.source(store).token()).rejects.toMatchObject({
      name: "OAuthError",
      code: "invalid_grant",
    });
    await expect(oauth.source(memoryStore()).token()).rejects.toMatchObject({ code: "invalid_grant" });
  });
});

test("after a revocation neither token is valid, and the store is empty", async () => {
  const oauth = oauthOf("pkce+secret");
  const tokens = await authorized("pkce+secret", oauth);
  const store = memoryStore(tokens);
  await oauth.revoke(store);
  expect(await store.load()).toBeUndefined();
  await expect(
    createClient({ baseUrl: service.url, token: tokens.accessToken, retries: 0 }).users.me(),
  ).rejects.toMatchObject({
    status: 401,
  });
});
