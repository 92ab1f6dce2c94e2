import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { vouched } from "../../src/console/provider.ts";
import type { Browser, Seen } from "./browser.ts";
import { openTown, type Town } from "./people-rig.ts";
import { client, openProvider, type ProviderRig } from "./provider-rig.ts";

let provider: ProviderRig;
let town: Town;
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
  town = await openTown("sqlite", env());
  // The provider's tokens go by the time of day.
  town.clock.step(Date.now() - town.clock.now());
});
afterAll(async () => {
  await town[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => {
  people += 1;
  email = `person-${people}@example.com`;
  subject = `subject-${people}`;
  provider.people.set(subject, { email, email_verified: true });
});

/** Where the browser is sent back to, not yet gone there. */
async function away(browser: Browser, path = "/sign-in/single?next=%2Faccount%3Fx", who = subject): Promise<string> {
  const begun = await browser.get(path);
  expect(begun.status).toBe(303);
  return provider.signIn(begun.location, who);
}

const signIn = async (browser: Browser, who = subject): Promise<Seen> => browser.get(await away(browser, undefined, who));

describe("single sign-on", () => {
  test("is offered by its name, and asks with PKCE, state and nonce, none of which the browser can read", async () => {
    const browser = town.browser();
    expect((await browser.get("/sign-in")).text).toContain("Continue with Example Login");
    const begun = await browser.get("/sign-in/single");
    const asked = new URL(begun.location).searchParams;
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("redirect_uri")).toBe("https://platform.test/sign-in/callback");
    expect(asked.get("scope")).toBe("openid email");
    for (const name of ["code_challenge", "state", "nonce"]) expect(asked.get(name)?.length).toBeGreaterThan(20);
    const kept = Buffer.from(browser.cookies.get("__Host-single-sign-on") ?? "", "base64url").toString("latin1");
    expect(kept).not.toContain(asked.get("state"));
  });

  test("binds an invited account at its first sign-in, uses the invitation up, and leads where one wanted to go", async () => {
    const { link, accountId } = await town.invite({ email });
    expect(await signIn(town.browser())).toMatchObject({ status: 303, location: "/account?x" });
    expect(await town.store.signIns.identity(accountId)).toEqual({ issuer: provider.issuer, subject });
    expect((await town.browser().get(`/link/${link}`)).status).toBe(410);
  });

  test("afterwards goes by issuer and subject alone, whatever the e-mail address is by then", async () => {
    await town.invite({ email });
    await signIn(town.browser());
    provider.people.set(subject, { email: "elsewhere@example.org", email_verified: false });
    const browser = town.browser();
    expect((await signIn(browser)).status).toBe(303);
    expect((await browser.get("/account")).text).toContain(email);
  });

  test.each([
    { why: "nobody was invited", set: async () => undefined },
    { why: "the address is not verified", set: async () => void (await town.invite({ email })), claims: { email_verified: false } },
    {
      why: "nothing is said of the address being verified",
      set: async () => void (await town.invite({ email })),
      claims: { email_verified: undefined },
    },
    {
      why: "the invitation is too old",
      set: async () => {
        const { accountId } = await town.invite({ email });
        await town.run(`UPDATE sign_in_link SET expires_at = 1 WHERE account_id = '${accountId}'`);
      },
    },
    {
      why: "the invitation was used",
      set: async () => {
        const { link } = await town.invite({ email });
        const browser = town.browser();
        await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
      },
    },
    { why: "the profile is delegated", set: () => changed("delegated_to = 'x'") },
    { why: "the member was removed", set: () => changed("status = 'removed'") },
    { why: "the member is inactive", set: () => changed("status = 'inactive'") },
    {
      why: "the account is bound to somebody else",
      set: async () => {
        const { accountId } = await town.invite({ email });
        await town.store.change((tx) => tx.signIns.bind(accountId, { issuer: provider.issuer, subject: `another-${subject}` }));
      },
    },
  ])("opens nothing, and tells nothing, when $why", async ({ set, claims }) => {
    await set();
    provider.people.set(subject, { email, email_verified: true, ...claims } as { email: string }); // undefined is what is tried
    const browser = town.browser();
    const answer = await signIn(browser);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("No account for you here");
    expect(answer.text).not.toContain(email);
    expect(browser.cookies.has("__Host-session")).toBe(false);
    expect(await town.store.signIns.bound({ issuer: provider.issuer, subject })).toBeNull();
  });

  async function changed(set: string): Promise<void> {
    await town.invite({ email });
    await town.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
  }

  test.each([
    "delegated_to = 'x'",
    "status = 'removed'",
    "status = 'inactive'",
  ])("ends for a bound account whose member's %s", async (set) => {
    await town.invite({ email });
    expect((await signIn(town.browser())).status).toBe(303);
    await town.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
    expect((await signIn(town.browser())).status).toBe(403);
  });

  test.each([
    { why: "in another browser", change: (path: string) => path, browser: () => town.browser() },
    { why: "with another state", change: (path: string) => path.replace(/state=[^&]*/, "state=another"), browser: null },
    { why: "without a state", change: (path: string) => path.replace(/&?state=[^&]*/, ""), browser: null },
    { why: "with another code", change: (path: string) => path.replace(/code=[^&]*/, "code=another"), browser: null },
    { why: "of another issuer", change: (path: string) => path.replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.com"), browser: null },
    { why: "with an error", change: () => "/sign-in/callback?error=access_denied&error_description=%3Cscript%3E&state=x", browser: null },
  ])("does nothing with an answer $why", async ({ change, browser: other }) => {
    await town.invite({ email });
    const own = town.browser();
    const path = await away(own);
    const browser = other?.() ?? own;
    const answer = await browser.get(change(path));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("That sign-in did not work");
    expect(answer.text).not.toContain("<script");
    expect(browser.cookies.has("__Host-session")).toBe(false);
  });

  test("takes an answer once", async () => {
    await town.invite({ email });
    const browser = town.browser();
    const path = await away(browser);
    const cookie = browser.cookies.get("__Host-single-sign-on") ?? "";
    expect((await browser.get(path)).status).toBe(303);
    expect((await browser.get(path)).status).toBe(400);
    browser.cookies.set("__Host-single-sign-on", cookie);
    expect((await browser.get(path)).status).toBe(400);
  });

  test("takes no answer after ten minutes", async () => {
    await town.invite({ email });
    const browser = town.browser();
    const path = await away(browser);
    town.clock.step(10 * 60_000);
    expect((await browser.get(path)).status).toBe(400);
    town.clock.step(-10 * 60_000);
  });

  test("proves anew who one is, by signing in anew there, and only for one's own session", async () => {
    const { accountId } = await town.invite({ email });
    const browser = town.browser();
    await signIn(browser);
    const proved = async () =>
      Number((await town.rows(`SELECT proved_at FROM session WHERE account_id = '${accountId}'`))[0]?.["proved_at"]);
    const before = await proved();
    const begun = await browser.get("/account/prove/single?next=%2Faccount%3Fy");
    expect(new URL(begun.location).searchParams.get("prompt")).toBe("login");
    town.clock.step(1000);
    expect(await browser.get(await provider.signIn(begun.location, subject))).toMatchObject({ status: 303, location: "/account?y" });
    expect(await proved()).toBe(before + 1000);
    const other = `other-${subject}`;
    provider.people.set(other, { email: "other@example.com", email_verified: true });
    town.clock.step(1000);
    expect((await browser.get(await away(browser, "/account/prove/single", other))).status).toBe(403);
    expect(await proved()).toBe(before + 1000);
    town.clock.step(-2000);
  });

  test("lets nobody in from outside the domains that are allowed", async () => {
    await using narrow = await openTown("sqlite", { ...env(), OIDC_DOMAINS: "example.com, example.org" });
    narrow.clock.step(Date.now() - narrow.clock.now());
    for (const [domain, status] of [
      ["example.com", 303],
      ["evil-example.com", 403],
    ] as const) {
      const [who, address] = [`${domain}-${subject}`, `x@${domain}`];
      await narrow.invite({ email: address });
      provider.people.set(who, { email: address, email_verified: true });
      const browser = narrow.browser();
      expect((await signIn(browser, who)).status).toBe(status);
    }
  });

  test("that cannot be reached is a page that says so, and works again when it can", async () => {
    await using alone = await openTown("sqlite", { ...env(), OIDC_ISSUER: "http://127.0.0.1:9" });
    const answer = await alone.browser().get("/sign-in/single");
    expect(answer.status).toBe(502);
    expect(answer.text).not.toContain("127.0.0.1");
  });
});

test.each([
  { claims: { iss: "i", sub: "s", email: " Ann@Example.com", email_verified: true }, email: "ann@example.com" },
  { claims: { iss: "i", sub: "s", email: "ann@example.com", email_verified: "true" }, email: null },
  { claims: { iss: "i", sub: "s", email: 5, email_verified: true }, email: null },
])("an address counts only when it is said to be verified: $claims", ({ claims, email: address }) => {
  expect(vouched(claims, [])?.verifiedEmail).toBe(address);
  expect(vouched(claims, ["example.com"]) === null).toBe(address === null);
});
