import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { confirmIdentity } from "../../src/sign-in-pages/provider.ts";
import type { Browser, PageResponse } from "./browser.ts";
import { openSignInPlatform, type SignInPlatform } from "./people-rig.ts";
import { client, openProvider, type ProviderRig } from "./provider-rig.ts";

let provider: ProviderRig;
let platform: SignInPlatform;
let people = 0;
let email = "";
let subject = "";

const env = () => ({
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: client.id,
  OIDC_CLIENT_SECRET: client.secret,
  OIDC_LABEL: "Example Login",
});

beforeAll(async () => {
  provider = await openProvider();
  platform = await openSignInPlatform("sqlite", env());
  // The provider's tokens expire by the system time.
  platform.clock.step(Date.now() - platform.clock.now());
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => {
  people += 1;
  email = `person-${people}@example.com`;
  subject = `subject-${people}`;
  provider.people.set(subject, { email, email_verified: true });
});

/** The address that the browser is redirected to, not requested yet. */
async function redirectTarget(
  browser: Browser,
  path = "/sign-in/single?next=%2Faccount%3Fx",
  signInAs = subject,
): Promise<string> {
  const begun = await browser.get(path);
  expect(begun.status).toBe(303);
  return provider.signIn(begun.location, signInAs);
}

const signIn = async (browser: Browser, signInAs = subject): Promise<PageResponse> =>
  browser.get(await redirectTarget(browser, undefined, signInAs));

describe("single sign-on", () => {
  test("is offered by its name, and uses PKCE, state and nonce, none of which the browser can read", async () => {
    const browser = platform.browser();
    expect((await browser.get("/sign-in")).text).toContain("Continue with Example Login");
    const begun = await browser.get("/sign-in/single");
    const query = new URL(begun.location).searchParams;
    expect(query.get("code_challenge_method")).toBe("S256");
    expect(query.get("redirect_uri")).toBe("https://platform.test/sign-in/callback");
    expect(query.get("scope")).toBe("openid email");
    for (const name of ["code_challenge", "state", "nonce"])
      expect(query.get(name)?.length).toBeGreaterThan(20);
    const cookieText = Buffer.from(browser.cookies.get("__Host-single-sign-on") ?? "", "base64url").toString(
      "latin1",
    );
    expect(cookieText).not.toContain(query.get("state"));
  });

  test("binds an invited account at its first sign-in, uses up the invitation, and leads to the requested page", async () => {
    const { link, accountId } = await platform.invite({ email });
    expect(await signIn(platform.browser())).toMatchObject({ status: 303, location: "/account?x" });
    expect(await platform.store.signIns.identity(accountId)).toEqual({ issuer: provider.issuer, subject });
    expect((await platform.browser().get(`/link/${link}`)).status).toBe(410);
  });

  test("afterwards identifies the account by issuer and subject alone, with any e-mail address", async () => {
    await platform.invite({ email });
    await signIn(platform.browser());
    provider.people.set(subject, { email: "elsewhere@example.org", email_verified: false });
    const browser = platform.browser();
    expect((await signIn(browser)).status).toBe(303);
    expect((await browser.get("/sign-out")).text).toContain(email);
  });

  test.each([
    { why: "no user was invited", set: async () => undefined },
    {
      why: "the address is not verified",
      set: async () => void (await platform.invite({ email })),
      claims: { email_verified: false },
    },
    {
      why: "the provider does not say whether the address is verified",
      set: async () => void (await platform.invite({ email })),
      claims: { email_verified: undefined },
    },
    {
      why: "the invitation is too old",
      set: async () => {
        const { accountId } = await platform.invite({ email });
        await platform.run(`UPDATE sign_in_link SET expires_at = 1 WHERE account_id = '${accountId}'`);
      },
    },
    {
      why: "the invitation was used",
      set: async () => {
        const { link } = await platform.invite({ email });
        const browser = platform.browser();
        await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
      },
    },
    { why: "the profile is delegated", set: () => changeMember("delegated_to = 'x'") },
    { why: "the member was removed", set: () => changeMember("status = 'removed'") },
    { why: "the member is inactive", set: () => changeMember("status = 'inactive'") },
    {
      why: "the account is bound to another subject",
      set: async () => {
        const { accountId } = await platform.invite({ email });
        await platform.store.change((tx) =>
          tx.signIns.bindIdentity(accountId, { issuer: provider.issuer, subject: `another-${subject}` }),
        );
      },
    },
  ])("grants no access, and reveals nothing, when $why", async ({ set, claims }) => {
    await set();
    provider.people.set(subject, { email, email_verified: true, ...claims } as { email: string }); // undefined is the tested value
    const browser = platform.browser();
    const answer = await signIn(browser);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("No account found");
    expect(answer.text).not.toContain(email);
    expect(browser.cookies.has("__Host-session")).toBe(false);
    expect(await platform.store.signIns.findByIdentity({ issuer: provider.issuer, subject })).toBeNull();
  });

  async function changeMember(set: string): Promise<void> {
    await platform.invite({ email });
    await platform.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
  }

  test.each([
    "delegated_to = 'x'",
    "status = 'removed'",
    "status = 'inactive'",
  ])("ends for a bound account whose member's %s", async (set) => {
    await platform.invite({ email });
    expect((await signIn(platform.browser())).status).toBe(303);
    await platform.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
    expect((await signIn(platform.browser())).status).toBe(403);
  });

  test.each([
    { why: "in another browser", change: (path: string) => path, browser: () => platform.browser() },
    {
      why: "with another state",
      change: (path: string) => path.replace(/state=[^&]*/, "state=another"),
      browser: null,
    },
    { why: "without a state", change: (path: string) => path.replace(/&?state=[^&]*/, ""), browser: null },
    {
      why: "with another code",
      change: (path: string) => path.replace(/code=[^&]*/, "code=another"),
      browser: null,
    },
    {
      why: "of another issuer",
      change: (path: string) => path.replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.com"),
      browser: null,
    },
    {
      why: "with an error",
      change: () => "/sign-in/callback?error=access_denied&error_description=%3Cscript%3E&state=x",
      browser: null,
    },
  ])("does nothing with an answer $why", async ({ change, browser: other }) => {
    await platform.invite({ email });
    const ownBrowser = platform.browser();
    const path = await redirectTarget(ownBrowser);
    const browser = other?.() ?? ownBrowser;
    const answer = await browser.get(change(path));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("Sign-in failed");
    expect(answer.text).not.toContain("<script");
    expect(browser.cookies.has("__Host-session")).toBe(false);
  });

  test("accepts an answer once", async () => {
    await platform.invite({ email });
    const browser = platform.browser();
    const path = await redirectTarget(browser);
    const cookie = browser.cookies.get("__Host-single-sign-on") ?? "";
    expect((await browser.get(path)).status).toBe(303);
    expect((await browser.get(path)).status).toBe(400);
    browser.cookies.set("__Host-single-sign-on", cookie);
    expect((await browser.get(path)).status).toBe(400);
  });

  test("accepts no answer after ten minutes", async () => {
    await platform.invite({ email });
    const browser = platform.browser();
    const path = await redirectTarget(browser);
    platform.clock.step(10 * 60_000);
    expect((await browser.get(path)).status).toBe(400);
    platform.clock.step(-10 * 60_000);
  });

  test("confirms the user by signing in again at the provider, and only for the user's own session", async () => {
    const { accountId } = await platform.invite({ email });
    const browser = platform.browser();
    await signIn(browser);
    const provedAt = async () =>
      Number(
        (await platform.rows(`SELECT proved_at FROM session WHERE account_id = '${accountId}'`))[0]?.[
          "proved_at"
        ],
      );
    const before = await provedAt();
    const begun = await browser.get("/account/prove/single?next=%2Faccount%3Fy");
    expect(new URL(begun.location).searchParams.get("prompt")).toBe("login");
    platform.clock.step(1000);
    expect(await browser.get(await provider.signIn(begun.location, subject))).toMatchObject({
      status: 303,
      location: "/account?y",
    });
    expect(await provedAt()).toBe(before + 1000);
    const other = `other-${subject}`;
    provider.people.set(other, { email: "other@example.com", email_verified: true });
    platform.clock.step(1000);
    expect((await browser.get(await redirectTarget(browser, "/account/prove/single", other))).status).toBe(
      403,
    );
    expect(await provedAt()).toBe(before + 1000);
    platform.clock.step(-2000);
  });

  test("admits no user from outside the allowed domains", async () => {
    await using narrow = await openSignInPlatform("sqlite", {
      ...env(),
      OIDC_DOMAINS: "example.com, example.org",
    });
    narrow.clock.step(Date.now() - narrow.clock.now());
    for (const [domain, status] of [
      ["example.com", 303],
      ["evil-example.com", 403],
    ] as const) {
      const [signInAs, address] = [`${domain}-${subject}`, `x@${domain}`];
      await narrow.invite({ email: address });
      provider.people.set(signInAs, { email: address, email_verified: true });
      const browser = narrow.browser();
      expect((await signIn(browser, signInAs)).status).toBe(status);
    }
  });

  test("shows a page about an unreachable provider, and works again when it is reachable", async () => {
    await using alone = await openSignInPlatform("sqlite", { ...env(), OIDC_ISSUER: "http://127.0.0.1:9" });
    const answer = await alone.browser().get("/sign-in/single");
    expect(answer.status).toBe(502);
    expect(answer.text).not.toContain("127.0.0.1");
  });
});

test.each([
  {
    claims: { iss: "i", sub: "s", email: " Ann@Example.com", email_verified: true },
    email: "ann@example.com",
  },
  { claims: { iss: "i", sub: "s", email: "ann@example.com", email_verified: "true" }, email: null },
  { claims: { iss: "i", sub: "s", email: 5, email_verified: true }, email: null },
])("an address counts only when it is said to be verified: $claims", ({ claims, email: address }) => {
  expect(confirmIdentity(claims, [])?.verifiedEmail).toBe(address);
  expect(confirmIdentity(claims, ["example.com"]) === null).toBe(address === null);
});
