import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "./people-rig.ts";

const dayMs = 24 * 3_600_000;
let people = 0;
const someone = () => {
  people += 1;
  return `guest-${people}@example.com`;
};

describeOnOne("a one-time link", (kind) => {
  let platform: SignInPlatform;
  beforeAll(async () => {
    platform = await openSignInPlatform(kind);
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  test("is not used up by viewing it, signs in by its button, and leads to a first password", async () => {
    const { link, email } = await platform.invite({ email: someone() });
    const scanner = platform.browser();
    for (let i = 0; i < 3; i += 1) expect((await scanner.get(`/link/${link}`)).status).toBe(200);
    const browser = platform.browser();
    const signedIn = await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
    expect(signedIn).toMatchObject({ status: 303, location: "/account/password" });
    const choose = await browser.follow(signedIn);
    expect(choose.text).toContain("Choose a password");
    expect(choose.text).not.toContain("Current password");
    const chosen = await browser.submit(choose, "/account/password", {
      password: goodPassword,
      again: goodPassword,
    });
    expect(chosen).toMatchObject({ status: 303, location: "/?notice=password" });
    expect((await platform.signIn(platform.browser(), email)).status).toBe(303);
  });

  test("leads to a first password also with a cookie of an app's request that no server set", async () => {
    for (const cookie of [
      "%",
      "%E0%A4%A",
      "/\\evil.example",
      Buffer.from("//evil.example").toString("base64url"),
    ]) {
      const { link } = await platform.invite({ email: someone() });
      const browser = platform.browser();
      const page = await browser.get(`/link/${link}`);
      for (const name of ["return", "__Host-return"]) browser.cookies.set(name, cookie);
      expect(await browser.submit(page, `/link/${link}`)).toMatchObject({
        status: 303,
        location: "/account/password",
      });
    }
  });

  test("can be used once", async () => {
    const { link } = await platform.invite({ email: someone() });
    const browser = platform.browser();
    const page = await browser.get(`/link/${link}`);
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(303);
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(410);
    expect((await platform.browser().get(`/link/${link}`)).status).toBe(410);
  });

  test("gives one session to fifty simultaneous uses", async () => {
    const { link, accountId } = await platform.invite({ email: someone() });
    const browsers = Array.from({ length: 50 }, () => platform.browser());
    const pages = await Promise.all(browsers.map((browser) => browser.get(`/link/${link}`)));
    const answers = await Promise.all(
      browsers.map((browser, i) => browser.submit(pages[i] ?? never(), `/link/${link}`)),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(49);
    expect(await platform.rows(`SELECT id FROM session WHERE account_id = '${accountId}'`)).toHaveLength(1);
  });

  test("is valid for exactly 24 hours", async () => {
    const [young, old] = [
      await platform.invite({ email: someone() }),
      await platform.invite({ email: someone() }),
    ];
    platform.clock.step(dayMs - 1);
    const browser = platform.browser();
    const page = await browser.get(`/link/${old.link}`);
    expect(
      (await browser.submit(await browser.get(`/link/${young.link}`), `/link/${young.link}`)).status,
    ).toBe(303);
    platform.clock.step(1);
    expect((await browser.submit(page, `/link/${old.link}`)).status).toBe(410);
  });

  test.each([
    "inactive",
    "removed",
    "delegated",
  ])("grants no access to a member who is %s, and is not used up by trying", async (why) => {
    const { link, email } = await platform.invite({ email: someone() });
    const set = (text: string) => platform.run(`UPDATE membership SET ${text} WHERE email = '${email}'`);
    const browser = platform.browser();
    const page = await browser.get(`/link/${link}`);
    await set(why === "delegated" ? "delegated_to = 'x'" : `status = '${why}'`);
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(410);
    expect(browser.cookies.has("__Host-session")).toBe(false);
    await set("delegated_to = NULL, status = 'active'");
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(303);
  });

  test("invalidates the other links to the same space when it is used", async () => {
    const email = someone();
    const [first, second] = [await platform.invite({ email }), await platform.invite({ email })];
    const browser = platform.browser();
    expect(
      (await browser.submit(await browser.get(`/link/${second.link}`), `/link/${second.link}`)).status,
    ).toBe(303);
    expect((await browser.get(`/link/${first.link}`)).status).toBe(410);
  });

  test("is invalid once the password is changed", async () => {
    const { email } = await platform.member({ email: someone() });
    const browser = platform.browser();
    await platform.signIn(browser, email);
    const { link } = await platform.invite({ email });
    const form = await browser.get("/account/password");
    const next = "another password altogether";
    expect(
      (await browser.submit(form, "/account/password", { old: goodPassword, password: next, again: next }))
        .status,
    ).toBe(303);
    expect((await platform.browser().get(`/link/${link}`)).status).toBe(410);
  });

  test("is stored as a hash: its text is nowhere in the database", async () => {
    const { link } = await platform.invite({ email: someone() });
    const [links, audit] = [
      await platform.rows("SELECT * FROM sign_in_link"),
      await platform.rows("SELECT * FROM audit_event"),
    ];
    expect(links.length).toBeGreaterThan(0);
    expect(JSON.stringify(links) + JSON.stringify(audit)).not.toContain(link);
  });

  test("replaces the session of any user who was signed in in that browser", async () => {
    const { email, accountId } = await platform.member({ email: someone() });
    const browser = platform.browser();
    await platform.signIn(browser, email);
    const { link, email: other } = await platform.invite({ email: someone() });
    await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
    expect((await browser.get("/sign-out")).text).toContain(other);
    expect(await platform.rows(`SELECT id FROM session WHERE account_id = '${accountId}'`)).toEqual([]);
  });
});

describe("an invalid link", () => {
  test.each([
    "x",
    "a".repeat(43),
    "a".repeat(5000),
    "%00",
    "..%2f..%2faccount",
  ])("is answered like a used one", async (text) => {
    await using platform = await openSignInPlatform();
    expect((await platform.browser().get(`/link/${text}`)).status).toBe(410);
  });
});

function never(): never {
  throw new Error("there is none");
}
