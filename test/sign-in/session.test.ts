import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { describeOnOne, halfFor } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Browser } from "./browser.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "./people-rig.ts";

const test = sampledTest(2);

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describeOnOne("a session", (kind) => {
  let platform: SignInPlatform;
  let browser: Browser;
  let email: string;
  let people = 0;
  beforeAll(async () => {
    platform = await openSignInPlatform(kind);
  });
  afterAll(() => platform[Symbol.asyncDispose]());
  beforeEach(async () => {
    platform.clock.step(60_000);
    people += 1;
    ({ email } = await platform.member({ email: `person-${people}@example.com` }));
    browser = platform.browser();
    await platform.signIn(browser, email);
  });
  const isActive = async (of = browser) => (await of.get("/sign-out")).status === 200;
  /** The teams of a person's sessions. */
  const spacesOf = (of: string) =>
    platform.rows(
      `SELECT t.name FROM session s JOIN account a ON a.id = s.account_id LEFT JOIN team t ON t.space_id = s.space_id WHERE a.email = '${of}'`,
    );
  const expiresAt = async () =>
    Number(
      (
        await platform.rows(
          `SELECT s.expires_at FROM session s JOIN account a ON a.id = s.account_id WHERE a.email = '${email}'`,
        )
      )[0]?.["expires_at"],
    );

  test("lasts thirty days after its last use, written at most once an hour", async () => {
    const first = await expiresAt();
    platform.clock.step(hourMs - 1);
    expect(await isActive()).toBe(true);
    expect(await expiresAt()).toBe(first);
    platform.clock.step(1);
    expect(await isActive()).toBe(true);
    expect(await expiresAt()).toBe(first + hourMs);
    platform.clock.step(30 * dayMs - 1);
    expect(await isActive()).toBe(true);
    platform.clock.step(30 * dayMs);
    expect(await isActive()).toBe(false);
  });

  test("is written once for many simultaneous uses", async () => {
    platform.clock.step(hourMs);
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get("/sign-out")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await expiresAt()).toBe(platform.clock.now() + 30 * dayMs);
  });

  // In short runs on one of the databases.
  describe.each(halfFor(kind, ["its rules"]))("%s", () => {
    test("ends by signing out, and its cookie grants no access afterwards", async () => {
      const text = browser.cookies.get("__Host-session") ?? "";
      const out = await browser.submit(await browser.get("/sign-out"), "/sign-out");
      expect(out).toMatchObject({ status: 303, location: "/sign-in?notice=signed-out" });
      expect(browser.cookies.has("__Host-session")).toBe(false);
      browser.cookies.set("__Host-session", text);
      expect(await isActive()).toBe(false);
    });

    test("is not revived by sending the earlier forms again", async () => {
      const page = await browser.get("/sign-in");
      await browser.submit(await browser.get("/sign-out"), "/sign-out");
      expect((await browser.submit(page, "/sign-in", { email, password: goodPassword })).status).toBe(403);
    });

    test("survives its own password change, which ends all other sessions", async () => {
      const other = platform.browser();
      await platform.signIn(other, email);
      const password = "another password altogether";
      const form = await browser.get("/account/password");
      expect(
        (await browser.submit(form, "/account/password", { old: goodPassword, password, again: password }))
          .status,
      ).toBe(303);
      expect([await isActive(), await isActive(other)]).toEqual([true, false]);
      expect((await platform.signIn(platform.browser(), email)).status).toBe(401);
      expect((await platform.signIn(platform.browser(), email, password)).status).toBe(303);
    });

    test.each([
      { why: "a wrong current password", fields: { old: "not the present one" } },
      { why: "a new one that is too short", fields: { password: "short", again: "short" } },
      { why: "two that differ", fields: { again: "something else altogether" } },
    ])("changes no password: $why", async ({ fields }) => {
      const good = {
        old: goodPassword,
        password: "another password altogether",
        again: "another password altogether",
      };
      const answer = await browser.submit(await browser.get("/account/password"), "/account/password", {
        ...good,
        ...fields,
      });
      expect(answer.status).toBe(400);
      expect((await platform.signIn(platform.browser(), email)).status).toBe(303);
    });

    test.each([
      "status = 'inactive'",
      "status = 'removed'",
      "delegated_to = 'x'",
    ])("grants no access from the moment when its member's %s", async (set) => {
      expect(await isActive()).toBe(true);
      await platform.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
      expect(await isActive()).toBe(false);
    });

    test("is confirmed again by the password, and by no other password", async () => {
      const provedAt = async () =>
        Number(
          (
            await platform.rows(
              `SELECT s.proved_at FROM session s JOIN account a ON a.id = s.account_id WHERE a.email = '${email}'`,
            )
          )[0]?.["proved_at"],
        );
      const before = await provedAt();
      platform.clock.step(hourMs);
      const page = await browser.get("/account/prove?next=%2Faccount%3Fx");
      expect((await browser.submit(page, "/account/prove", { password: "not the right one" })).status).toBe(
        401,
      );
      expect(await provedAt()).toBe(before);
      expect(await browser.submit(page, "/account/prove", { password: goodPassword })).toMatchObject({
        status: 303,
        location: "/account?x",
      });
      expect(await provedAt()).toBe(platform.clock.now());
    });

    test("belongs to one space: with several, the user chooses one first, and the sign-in is recorded in no other", async () => {
      const shared = `both-${people}@example.com`;
      await platform.member({ email: shared, role: "guest" });
      await platform.invite({ email: shared, team: `north ${people}`, role: "owner" });
      const choice = await platform.signIn(browser, shared, goodPassword, "/account?a");
      expect(choice.status).toBe(200);
      const spacesWithSignIn = () =>
        platform.rows(
          `SELECT team_id FROM membership WHERE email = '${shared}' AND signed_in_at IS NOT NULL`,
        );
      expect(await spacesWithSignIn()).toEqual([]);
      const space =
        [...choice.text.matchAll(/value="([^"]*)" required[^>]*><span>([^<]*)/g)].find(
          ([, , name]) => name === `north ${people}`,
        )?.[1] ?? "";
      expect(await browser.submit(choice, "/sign-in/space", { space })).toMatchObject({
        status: 303,
        location: "/account?a",
      });
      expect(await spacesWithSignIn()).toHaveLength(1);
      expect(await spacesOf(shared)).toEqual([{ name: `north ${people}` }]);
    });

    test("never belongs to a space that is not the user's", async () => {
      await platform.invite({ email: `other-${people}@example.com`, team: `south ${people}`, role: "owner" });
      const [row] = await platform.rows(`SELECT space_id FROM team WHERE name = 'south ${people}'`);
      const shared = `two-${people}@example.com`;
      await platform.member({ email: shared });
      await platform.invite({ email: shared, team: `west ${people}`, role: "owner" });
      const choice = await platform.signIn(browser, shared);
      const refused = await browser.submit(choice, "/sign-in/space", { space: String(row?.["space_id"]) });
      expect(refused.location).toMatch(/^\/sign-in\?/);
      expect(await spacesOf(shared)).toEqual([]);
    });

    test("is not created by an expired choice, or after the password was changed", async () => {
      const shared = `slow-${people}@example.com`;
      await platform.member({ email: shared });
      const { accountId } = await platform.invite({ email: shared, team: `east ${people}`, role: "owner" });
      const other = platform.browser();
      const space = (text: string) => /value="([^"]*)" required/.exec(text)?.[1] ?? "";
      const late = await platform.signIn(other, shared);
      platform.clock.step(5 * 60_000);
      await other.submit(late, "/sign-in/space", { space: space(late.text) });
      expect(await isActive(other)).toBe(false);
      const changed = await platform.signIn(other, shared);
      await platform.store.change((tx) => tx.signIns.setPassword(accountId, "another"));
      await other.submit(changed, "/sign-in/space", { space: space(changed.text) });
      expect(await isActive(other)).toBe(false);
    });
  });
});

describe("the session cookie", () => {
  test.each([
    { consentUrl: "http://localhost:8080", name: "session", secure: false },
    { consentUrl: "https://accounts.example.com", name: "__Host-session", secure: true },
  ])("of $consentUrl is $name, for this host alone, out of reach of scripts", async ({
    consentUrl,
    name,
    secure,
  }) => {
    await using platform = await openSignInPlatform("sqlite", { CONSENT_URL: consentUrl });
    await platform.member({ email: "bo@example.com" });
    const answer = await platform.signIn(platform.browser(), "bo@example.com");
    const line = answer.headers.getSetCookie().find((each) => each.startsWith(`${name}=`)) ?? "";
    expect(line).toMatch(/; Path=\/; HttpOnly; SameSite=Lax(; Secure)?; Max-Age=34560000$/);
    expect(line.includes("; Secure")).toBe(secure);
    expect(line).not.toContain("Domain");
  });

  test("is deleted by an hourly job after it has ended, together with links that expired long ago", async () => {
    await using platform = await openSignInPlatform();
    await platform.member({ email: "bo@example.com" });
    await platform.signIn(platform.browser(), "bo@example.com");
    platform.clock.step(31 * dayMs);
    await platform.clock.leap(hourMs);
    await expect.poll(() => platform.rows("SELECT id FROM session")).toEqual([]);
    await expect.poll(() => platform.rows("SELECT digest FROM sign_in_link")).toEqual([]);
  });
});

test("no log line contains a password, a cookie or a link", async () => {
  await using platform = await openSignInPlatform();
  const { link } = await platform.member({ email: "bo@example.com" });
  const browser = platform.browser();
  await platform.signIn(browser, "bo@example.com", "a wrong password");
  await platform.signIn(browser, "bo@example.com");
  await browser.get(`/link/${link}`);
  const secrets = [goodPassword, "a wrong password", link, ...browser.cookies.values()];
  const lines = JSON.stringify(platform.service.logged);
  for (const secret of secrets) expect(lines).not.toContain(secret);
});
