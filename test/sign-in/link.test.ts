import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { goodPassword, openTown, type Town } from "./people-rig.ts";

const dayMs = 24 * 3_600_000;
let people = 0;
const someone = () => {
  people += 1;
  return `guest-${people}@example.com`;
};

describeOnEach("a one-time link", (kind) => {
  let town: Town;
  beforeAll(async () => {
    town = await openTown(kind);
  });
  afterAll(() => town[Symbol.asyncDispose]());

  test("is not used up by looking at it, signs in by its button, and leads to a first password", async () => {
    const { link, email } = await town.invite({ email: someone() });
    const scanner = town.browser();
    for (let i = 0; i < 3; i += 1) expect((await scanner.get(`/link/${link}`)).status).toBe(200);
    const browser = town.browser();
    const signedIn = await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
    expect(signedIn).toMatchObject({ status: 303, location: "/account/password" });
    const choose = await browser.follow(signedIn);
    expect(choose.text).toContain("Choose a password");
    expect(choose.text).not.toContain("Present password");
    const chosen = await browser.submit(choose, "/account/password", { password: goodPassword, again: goodPassword });
    expect(chosen).toMatchObject({ status: 303, location: "/account" });
    expect((await town.signIn(town.browser(), email)).status).toBe(303);
  });

  test("works once", async () => {
    const { link } = await town.invite({ email: someone() });
    const browser = town.browser();
    const page = await browser.get(`/link/${link}`);
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(303);
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(410);
    expect((await town.browser().get(`/link/${link}`)).status).toBe(410);
  });

  test("gives one session to fifty who use it at once", async () => {
    const { link, accountId } = await town.invite({ email: someone() });
    const browsers = Array.from({ length: 50 }, () => town.browser());
    const pages = await Promise.all(browsers.map((browser) => browser.get(`/link/${link}`)));
    const answers = await Promise.all(browsers.map((browser, i) => browser.submit(pages[i] ?? never(), `/link/${link}`)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(49);
    expect(await town.rows(`SELECT id FROM session WHERE account_id = '${accountId}'`)).toHaveLength(1);
  });

  test("works for 24 hours and no longer", async () => {
    const [young, old] = [await town.invite({ email: someone() }), await town.invite({ email: someone() })];
    town.clock.step(dayMs - 1);
    const browser = town.browser();
    const page = await browser.get(`/link/${old.link}`);
    expect((await browser.submit(await browser.get(`/link/${young.link}`), `/link/${young.link}`)).status).toBe(303);
    town.clock.step(1);
    expect((await browser.submit(page, `/link/${old.link}`)).status).toBe(410);
  });

  test.each(["inactive", "removed", "delegated"])("opens nothing for a member who is %s, and is not used up by trying", async (why) => {
    const { link, email } = await town.invite({ email: someone() });
    const set = (text: string) => town.run(`UPDATE membership SET ${text} WHERE email = '${email}'`);
    const browser = town.browser();
    const page = await browser.get(`/link/${link}`);
    await set(why === "delegated" ? "delegated_to = 'x'" : `status = '${why}'`);
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(410);
    expect(browser.cookies.has("__Host-session")).toBe(false);
    await set("delegated_to = NULL, status = 'active'");
    expect((await browser.submit(page, `/link/${link}`)).status).toBe(303);
  });

  test("that is used makes the others to the same space useless", async () => {
    const email = someone();
    const [first, second] = [await town.invite({ email }), await town.invite({ email })];
    const browser = town.browser();
    expect((await browser.submit(await browser.get(`/link/${second.link}`), `/link/${second.link}`)).status).toBe(303);
    expect((await browser.get(`/link/${first.link}`)).status).toBe(410);
  });

  test("is of no use once the password is changed", async () => {
    const { email } = await town.member({ email: someone() });
    const browser = town.browser();
    await town.signIn(browser, email);
    const { link } = await town.invite({ email });
    const form = await browser.get("/account/password");
    const next = "another password altogether";
    expect((await browser.submit(form, "/account/password", { old: goodPassword, password: next, again: next })).status).toBe(303);
    expect((await town.browser().get(`/link/${link}`)).status).toBe(410);
  });

  test("is kept as a hash: its text stands nowhere in the database", async () => {
    const { link } = await town.invite({ email: someone() });
    const [links, audit] = [await town.rows("SELECT * FROM sign_in_link"), await town.rows("SELECT * FROM audit_event")];
    expect(links.length).toBeGreaterThan(0);
    expect(JSON.stringify(links) + JSON.stringify(audit)).not.toContain(link);
  });

  test("replaces whoever was signed in in that browser", async () => {
    const { email, accountId } = await town.member({ email: someone() });
    const browser = town.browser();
    await town.signIn(browser, email);
    const { link, email: other } = await town.invite({ email: someone() });
    await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
    expect((await browser.get("/account")).text).toContain(other);
    expect(await town.rows(`SELECT id FROM session WHERE account_id = '${accountId}'`)).toEqual([]);
  });
});

describe("what is no link", () => {
  test.each(["x", "a".repeat(43), "a".repeat(5000), "%00", "..%2f..%2faccount"])("is answered like one that was used", async (text) => {
    await using town = await openTown();
    expect((await town.browser().get(`/link/${text}`)).status).toBe(410);
  });
});

function never(): never {
  throw new Error("there is none");
}
