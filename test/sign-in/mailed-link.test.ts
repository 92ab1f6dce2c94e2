import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import type { Browser, PageResponse } from "./browser.ts";
import { factorsOf } from "./factors-rig.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "./people-rig.ts";

const path = "/sign-in/mail";
const hourMs = 3_600_000;

type Mails = Awaited<ReturnType<typeof openMailServer>>;
const envOf = ({ url }: Mails) => ({
  SMTP_URL: url,
  MAIL_FROM: "platform@example.com",
  SIGN_IN_LINKS: "on",
  RATE_LIMITS: "off",
});

/** Asks for a link, as a person does. */
async function ask(browser: Browser, email: string, next = "/account?x"): Promise<PageResponse> {
  return browser.submit(await browser.get(`${path}?next=${encodeURIComponent(next)}`), path, { email });
}

/** The path of the link in the newest mail to an address, once there are `count` mails to it. */
async function linkTo(mails: Mails, email: string, count = 1): Promise<string> {
  const own = () => mails.received.filter(({ to }) => to.includes(email));
  await expect.poll(() => own().length).toBe(count);
  return /https:\/\/platform\.test(\/sign-in\/mail\/\S+)/.exec(own().at(-1)?.text ?? "")?.[1] ?? "";
}

const press = async (browser: Browser, link: string): Promise<PageResponse> =>
  browser.submit(await browser.get(link), link);

// spec/api.md 8.119, spec/decisions.md 142.
describeOnOne("a sign-in link by mail", (kind) => {
  let mails: Mails;
  let platform: SignInPlatform;
  let held: Promise<void> | null = null;
  let people = 0;
  let email = "";

  beforeAll(async () => {
    mails = await openMailServer({
      onMailFrom: (_address, _session, done) => void (held ?? Promise.resolve()).then(() => done()),
    });
    platform = await openSignInPlatform(kind, envOf(mails));
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    await mails[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    people += 1;
    email = `link-${people}@example.com`;
    platform.clock.step(hourMs); // The limits of the tests before do not count.
  });

  const sessionsOf = (accountId: string) =>
    platform.rows(`SELECT id FROM session WHERE account_id = '${accountId}'`);

  test("signs in the browser that asked, once, and lets the person choose a password; other browsers and scanners leave it unused", async () => {
    const { accountId } = await platform.invite({ email });
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    const browser = platform.browser();
    expect((await browser.get("/sign-in?next=/account")).text).toContain(`href="${path}?next=%2Faccount"`);
    // The mail server answers only later: neither answer waits for it.
    const known = await ask(browser, ` ${email.toUpperCase()} `);
    const unknown = await ask(platform.browser(), "nobody@example.com");
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(known.text.replaceAll(email, "ADDRESS")).toBe(
      unknown.text.replaceAll("nobody@example.com", "ADDRESS"),
    );
    resolve();
    held = null;
    const link = await linkTo(mails, email);
    const other = platform.browser();
    for (let nth = 0; nth < 2; nth += 1) {
      const seen = await other.get(link);
      expect(seen).toMatchObject({ status: 403, text: expect.stringContaining("in this browser") });
      expect(seen.text).not.toContain(email);
    }
    const csrf = /name="csrf" value="([^"]*)"/.exec((await other.get("/sign-in")).text)?.[1] ?? "";
    expect((await other.post(link, { csrf })).status).toBe(410);
    const page = await browser.get(link);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining(email) });
    expect((await browser.post(link, {})).status).toBe(403);
    expect(await browser.submit(page, link)).toMatchObject({ status: 303, location: "/account?x" });
    expect((await browser.get("/sign-out")).text).toContain(email);
    expect((await browser.submit(page, link)).status).toBe(410);
    expect(await sessionsOf(accountId)).toHaveLength(1);
    expect((await browser.get("/account/password")).text).not.toContain("Current password");
    const secret = link.split("/").at(-1) ?? "";
    const audit = await platform.rows(`SELECT * FROM audit_event WHERE account_id = '${accountId}'`);
    expect(JSON.stringify(audit)).toMatch(/console\/SignIn.*\\"by\\":\\"link\\"/);
    expect(
      JSON.stringify([audit, await platform.rows("SELECT * FROM mailed_link"), platform.service.logged]),
    ).not.toContain(secret);
    expect(mails.received.flatMap(({ to }) => to)).not.toContain("nobody@example.com");
  });

  test("gives one session to twenty simultaneous presses, and ends the person's other links", async () => {
    const { accountId } = await platform.invite({ email });
    const browser = platform.browser();
    await ask(browser, email);
    const first = await linkTo(mails, email);
    await ask(browser, email);
    const link = await linkTo(mails, email, 2);
    const page = await browser.get(link);
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.submit(page, link)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array<number>(19).fill(410)]);
    expect(await sessionsOf(accountId)).toHaveLength(1);
    expect((await browser.get(first)).status).toBe(410);
  });

  test("ends after 15 minutes, with a new password, and with the membership", async () => {
    await platform.member({ email });
    const browser = platform.browser();
    await ask(browser, email);
    const first = await linkTo(mails, email);
    const page = await browser.get(first);
    platform.clock.step(15 * 60_000);
    expect((await browser.submit(page, first)).text).toContain("This link is no longer valid");
    await ask(browser, email);
    const second = await linkTo(mails, email, 2);
    await platform.signIn(browser, email);
    const next = {
      old: goodPassword,
      password: "another password altogether",
      again: "another password altogether",
    };
    await browser.submit(await browser.get("/account/password"), "/account/password", next);
    expect((await browser.get(second)).status).toBe(410);
    await ask(browser, email);
    const third = await linkTo(mails, email, 3);
    await platform.run(`UPDATE membership SET status = 'inactive' WHERE email = '${email}'`);
    expect((await browser.get(third)).status).toBe(410);
    await ask(browser, email);
    await platform.run(`UPDATE membership SET status = 'active' WHERE email = '${email}'`);
    await ask(browser, email);
    await linkTo(mails, email, 4);
    expect((await browser.get(`${path}/${"a".repeat(5000)}`)).status).toBe(410);
  });

  test("is mailed five times an hour to an address, whether it has an account or not, and twenty times to one client", async () => {
    await platform.invite({ email });
    const statuses = async (to: string, count: number) => {
      const seen: number[] = [];
      for (let nth = 0; nth < count; nth += 1) seen.push((await ask(platform.browser(), to)).status);
      return seen;
    };
    const six = [200, 200, 200, 200, 200, 429];
    expect([await statuses(email, 6), await statuses("nobody@example.com", 6)]).toEqual([six, six]);
    expect(await statuses("not an address", 1)).toEqual([400]);
    // Twelve requests of the client are counted.
    expect(await statuses("third@example.com", 5)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses("fourth@example.com", 4)).toEqual([200, 200, 200, 429]);
    platform.clock.step(hourMs);
    expect(await statuses(email, 1)).toEqual([200]);
    await linkTo(mails, email, 6);
  });

  test("needs the code of an authenticator app too, and then the choice of a space", async () => {
    await platform.invite({ email, personal: true });
    await platform.invite({ email });
    const factors = factorsOf(platform);
    const app = await factors.setUpApp(await factors.signedIn(email));
    const browser = platform.browser();
    await ask(browser, email);
    const asked = await press(browser, await linkTo(mails, email));
    expect(asked).toMatchObject({ status: 303, location: "/sign-in/code?next=%2Faccount%3Fx" });
    expect(browser.cookies.has("__Host-session")).toBe(false);
    const choice = await browser.submit(await browser.get(asked.location), "/sign-in/code", {
      code: app.code(1),
    });
    expect(choice.text).toContain("Choose a space");
    const spaces = [...choice.text.matchAll(/name="space" value="([^"]*)"/g)].map(([, id = ""]) => id);
    expect(spaces).toHaveLength(2);
    expect(await browser.submit(choice, "/sign-in/space", { space: spaces[1] ?? "" })).toMatchObject({
      location: "/account?x",
    });
  });
});

describe("links by mail", () => {
  test("are not for accounts that only the provider signs in: the mail names it", async () => {
    await using mails = await openMailServer();
    const provider = {
      OIDC_ISSUER: "http://127.0.0.1:9",
      OIDC_CLIENT_ID: "a",
      OIDC_CLIENT_SECRET: "b",
      OIDC_LABEL: "Example Login",
    };
    await using platform = await openSignInPlatform("sqlite", { ...envOf(mails), ...provider });
    const { email: bound } = await platform.invite({ email: "bound@example.com" });
    const { email: own } = await platform.member({ email: "own@example.com" });
    const browser = platform.browser();
    const [first, second] = [await ask(browser, bound), await ask(browser, own)];
    expect(first.text.replaceAll(bound, "ADDRESS")).toBe(second.text.replaceAll(own, "ADDRESS"));
    expect((await press(browser, await linkTo(mails, own))).status).toBe(303);
    expect(await linkTo(mails, bound)).toBe("");
    expect(mails.received.find(({ to }) => to.includes(bound))?.text).toContain(
      "signs in with Example Login",
    );
    expect(await platform.rows("SELECT digest FROM mailed_link")).toHaveLength(1);
  });

  test("are off by default, also with a mail server", async () => {
    await using mails = await openMailServer();
    await using platform = await openSignInPlatform("sqlite", { ...envOf(mails), SIGN_IN_LINKS: "" });
    const browser = platform.browser();
    expect((await browser.get(path)).status).toBe(404);
    expect((await browser.get("/sign-in")).text).toContain("Ask your administrator for a sign-in link.");
  });
});
