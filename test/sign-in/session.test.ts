import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import type { Browser } from "./browser.ts";
import { goodPassword, openTown, type Town } from "./people-rig.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describeOnEach("a session", (kind) => {
  let town: Town;
  let browser: Browser;
  let email: string;
  let people = 0;
  beforeAll(async () => {
    town = await openTown(kind);
  });
  afterAll(() => town[Symbol.asyncDispose]());
  beforeEach(async () => {
    town.clock.step(60_000);
    people += 1;
    ({ email } = await town.member({ email: `person-${people}@example.com` }));
    browser = town.browser();
    await town.signIn(browser, email);
  });
  const lives = async (of = browser) => (await of.get("/account")).status === 200;
  const ends = async () =>
    Number(
      (await town.rows(`SELECT s.expires_at FROM session s JOIN account a ON a.id = s.account_id WHERE a.email = '${email}'`))[0]?.[
        "expires_at"
      ],
    );

  test("lasts thirty days after its last use, written at most once an hour", async () => {
    const first = await ends();
    town.clock.step(hourMs - 1);
    expect(await lives()).toBe(true);
    expect(await ends()).toBe(first);
    town.clock.step(1);
    expect(await lives()).toBe(true);
    expect(await ends()).toBe(first + hourMs);
    town.clock.step(30 * dayMs - 1);
    expect(await lives()).toBe(true);
    town.clock.step(30 * dayMs);
    expect(await lives()).toBe(false);
  });

  test("is written once by many uses that come at once", async () => {
    town.clock.step(hourMs);
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get("/account")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await ends()).toBe(town.clock.now() + 30 * dayMs);
  });

  test("ends by signing out, and its cookie opens nothing afterwards", async () => {
    const text = browser.cookies.get("__Host-session") ?? "";
    const out = await browser.submit(await browser.get("/account"), "/sign-out");
    expect(out).toMatchObject({ status: 303, location: "/sign-in" });
    expect(browser.cookies.has("__Host-session")).toBe(false);
    browser.cookies.set("__Host-session", text);
    expect(await lives()).toBe(false);
  });

  test("is not revived by sending the forms of before once more", async () => {
    const page = await browser.get("/sign-in");
    await browser.submit(await browser.get("/account"), "/sign-out");
    expect((await browser.submit(page, "/sign-in", { email, password: goodPassword })).status).toBe(403);
  });

  test("lives on after its own change of the password, which ends all others", async () => {
    const other = town.browser();
    await town.signIn(other, email);
    const password = "another password altogether";
    const form = await browser.get("/account/password");
    expect((await browser.submit(form, "/account/password", { old: goodPassword, password, again: password })).status).toBe(303);
    expect([await lives(), await lives(other)]).toEqual([true, false]);
    expect((await town.signIn(town.browser(), email)).status).toBe(401);
    expect((await town.signIn(town.browser(), email, password)).status).toBe(303);
  });

  test.each([
    { why: "a wrong present password", fields: { old: "not the present one" } },
    { why: "a new one that is too short", fields: { password: "short", again: "short" } },
    { why: "two that differ", fields: { again: "something else altogether" } },
  ])("changes no password: $why", async ({ fields }) => {
    const good = { old: goodPassword, password: "another password altogether", again: "another password altogether" };
    const answer = await browser.submit(await browser.get("/account/password"), "/account/password", { ...good, ...fields });
    expect(answer.status).toBe(400);
    expect((await town.signIn(town.browser(), email)).status).toBe(303);
  });

  test.each([
    "status = 'inactive'",
    "status = 'removed'",
    "delegated_to = 'x'",
  ])("opens nothing at once when its member's %s", async (set) => {
    expect(await lives()).toBe(true);
    await town.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
    expect(await lives()).toBe(false);
  });

  test("is proved anew by the password, and by no other", async () => {
    const proved = async () =>
      Number(
        (await town.rows(`SELECT s.proved_at FROM session s JOIN account a ON a.id = s.account_id WHERE a.email = '${email}'`))[0]?.[
          "proved_at"
        ],
      );
    const before = await proved();
    town.clock.step(hourMs);
    const page = await browser.get("/account/prove?next=%2Faccount%3Fx");
    expect((await browser.submit(page, "/account/prove", { password: "not the right one" })).status).toBe(401);
    expect(await proved()).toBe(before);
    expect(await browser.submit(page, "/account/prove", { password: goodPassword })).toMatchObject({ status: 303, location: "/account?x" });
    expect(await proved()).toBe(town.clock.now());
  });

  test("is of one space: with several, one is chosen first, and no other is told of it", async () => {
    const shared = `both-${people}@example.com`;
    await town.member({ email: shared, role: "guest" });
    await town.invite({ email: shared, team: `north ${people}`, role: "owner" });
    const choice = await town.signIn(browser, shared, goodPassword, "/account?a");
    expect(choice.status).toBe(200);
    const noted = () => town.rows(`SELECT team_id FROM membership WHERE email = '${shared}' AND signed_in_at IS NOT NULL`);
    expect(await noted()).toEqual([]);
    const space =
      [...choice.text.matchAll(/value="([^"]*)" required[^>]*><span>([^<]*)/g)].find(([, , name]) => name === `north ${people}`)?.[1] ?? "";
    expect(await browser.submit(choice, "/sign-in/space", { space })).toMatchObject({ status: 303, location: "/account?a" });
    expect(await noted()).toHaveLength(1);
    const account = await browser.get("/account");
    expect(account.text).toContain(`<dd>north ${people}</dd>`);
    const text = browser.cookies.get("__Host-session") ?? "";
    expect((await browser.submit(account, "/account/space")).status).toBe(303);
    expect((await browser.get("/account")).text).toContain("<dd>main</dd>");
    browser.cookies.set("__Host-session", text);
    expect(await lives()).toBe(false);
  });

  test("is never of a space that is not one's own", async () => {
    await town.invite({ email: `other-${people}@example.com`, team: `south ${people}`, role: "owner" });
    const [row] = await town.rows(`SELECT space_id FROM team WHERE name = 'south ${people}'`);
    const shared = `two-${people}@example.com`;
    await town.member({ email: shared });
    await town.invite({ email: shared, team: `west ${people}`, role: "owner" });
    const choice = await town.signIn(browser, shared);
    const refused = await browser.submit(choice, "/sign-in/space", { space: String(row?.["space_id"]) });
    expect(refused.location).toMatch(/^\/sign-in\?/);
    expect((await browser.get("/account")).text).not.toContain(`south ${people}`);
  });

  test("is not made by a choice that is too old, or after the password was changed", async () => {
    const shared = `slow-${people}@example.com`;
    await town.member({ email: shared });
    const { accountId } = await town.invite({ email: shared, team: `east ${people}`, role: "owner" });
    const other = town.browser();
    const space = (text: string) => /value="([^"]*)" required/.exec(text)?.[1] ?? "";
    const late = await town.signIn(other, shared);
    town.clock.step(5 * 60_000);
    await other.submit(late, "/sign-in/space", { space: space(late.text) });
    expect(await lives(other)).toBe(false);
    const changed = await town.signIn(other, shared);
    await town.store.change((tx) => tx.signIns.setPassword(accountId, "another"));
    await other.submit(changed, "/sign-in/space", { space: space(changed.text) });
    expect(await lives(other)).toBe(false);
  });
});

describe("the session cookie", () => {
  test.each([
    { consentUrl: "http://localhost:8080", name: "session", secure: false },
    { consentUrl: "https://accounts.example.com", name: "__Host-session", secure: true },
  ])("of $consentUrl is $name, for this host alone, out of reach of scripts", async ({ consentUrl, name, secure }) => {
    await using town = await openTown("sqlite", { CONSENT_URL: consentUrl });
    await town.member({ email: "bo@example.com" });
    const answer = await town.signIn(town.browser(), "bo@example.com");
    const line = answer.headers.getSetCookie().find((each) => each.startsWith(`${name}=`)) ?? "";
    expect(line).toMatch(/; Path=\/; HttpOnly; SameSite=Lax(; Secure)?; Max-Age=2592000$/);
    expect(line.includes("; Secure")).toBe(secure);
    expect(line).not.toContain("Domain");
  });

  test("is forgotten by an hourly chore when it has ended, with links that are long past", async () => {
    await using town = await openTown();
    await town.member({ email: "bo@example.com" });
    await town.signIn(town.browser(), "bo@example.com");
    town.clock.step(31 * dayMs);
    await town.clock.advance(hourMs);
    await expect.poll(() => town.rows("SELECT id FROM session")).toEqual([]);
    await expect.poll(() => town.rows("SELECT digest FROM sign_in_link")).toEqual([]);
  });
});

test("no log line holds a password, a cookie or a link", async () => {
  await using town = await openTown();
  const { link } = await town.member({ email: "bo@example.com" });
  const browser = town.browser();
  await town.signIn(browser, "bo@example.com", "a wrong password");
  await town.signIn(browser, "bo@example.com");
  await browser.get(`/link/${link}`);
  const secrets = [goodPassword, "a wrong password", link, ...browser.cookies.values()];
  const lines = JSON.stringify(town.service.logged);
  for (const secret of secrets) expect(lines).not.toContain(secret);
});
