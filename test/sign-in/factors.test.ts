import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { base32, codeAt, otpauthUrl, stepOf } from "../../src/core/sign-in/totp.ts";
import { relyingParty } from "../../src/sign-in-pages/factors/webauthn.ts";
import { describeOnEach } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import type { Browser } from "./browser.ts";
import { factorsOf, securityPath, tokenIn } from "./factors-rig.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "./people-rig.ts";

const cookie = "__Host-session";

test("codes are those of RFC 6238 appendix B, and count for one step before and after", () => {
  const secret = Buffer.from("12345678901234567890");
  const published: readonly (readonly [number, string])[] = [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ];
  for (const [seconds, code] of published) {
    const step = Math.floor(seconds / 30);
    expect(codeAt(secret, step)).toBe(code);
    for (const shift of [-30, 0, 30]) expect(stepOf(secret, code, (seconds + shift) * 1000)).toBe(step);
    for (const shift of [-60, 60]) expect(stepOf(secret, code, (seconds + shift) * 1000)).toBeNull();
  }
  expect(base32(secret)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(otpauthUrl(secret, "A B", "ann@example.com")).toBe(
    "otpauth://totp/A%20B:ann%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=A%20B",
  );
});

test("passkeys belong to the host of CONSENT_URL, with https or on localhost, and never to an IP address", () => {
  expect(relyingParty("https://tasks.example.com:8443/platform")).toEqual({
    id: "tasks.example.com",
    origin: "https://tasks.example.com:8443",
  });
  expect(relyingParty("http://localhost:8080")).toEqual({ id: "localhost", origin: "http://localhost:8080" });
  for (const url of [
    "http://tasks.example.com",
    "https://127.0.0.1",
    "http://127.0.0.1:8080",
    "https://[::1]:8080",
  ])
    expect(relyingParty(url)).toBeNull();
});

describeOnEach("second factors", (kind) => {
  let platform: SignInPlatform;
  let mail: Awaited<ReturnType<typeof openMailServer>>;
  let people: ReturnType<typeof factorsOf>;
  let count = 0;
  /** A new member. */
  async function person(): Promise<string> {
    count += 1;
    const email = `person-${count}@example.com`;
    await platform.invite({ email });
    return email;
  }
  /** A new member with a password. */
  async function personWithPassword(): Promise<string> {
    const email = await person();
    await platform.member({ email });
    return email;
  }
  const auditOf = async (operation: string) =>
    (await platform.rows(`SELECT after FROM audit_event WHERE operation = '${operation}' ORDER BY at`)).map(
      ({ after }) => (typeof after === "string" ? JSON.parse(after) : after),
    );
  beforeAll(async () => {
    mail = await openMailServer();
    platform = await openSignInPlatform(kind, { SMTP_URL: mail.url, MAIL_FROM: "platform@example.com" });
    people = factorsOf(platform);
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    await mail[Symbol.asyncDispose]();
  });
  // Limits count per minute and hour, and a code is accepted once.
  beforeEach(() => platform.clock.step(3_600_000));

  test("a passkey signs in alone, and refuses replays, other sites, and a counter that goes back", async () => {
    const email = await person();
    const browser = await people.signedIn(email);
    const elsewhere = await people.signedIn(email);
    const passkey = people.newPasskey();
    for (const place of [{ origin: "https://evil.test" }, { rpId: "evil.test" }, { userVerified: false }])
      expect((await people.add(browser, passkey, place)).status).toBe(400);
    expect(await people.add(browser, passkey, { counter: 5 })).toMatchObject({ status: 303 });
    // The person's other sessions have ended.
    expect((await elsewhere.get("/sign-out")).status).toBe(303);
    expect((await people.add(browser, passkey, { counter: 6 })).text).toContain("added before");

    const { options } = await people.challenge(platform.browser(), "/sign-in", "/sign-in/passkey");
    expect(options).toMatchObject({
      rpId: "platform.test",
      userVerification: "required",
      allowCredentials: [],
    });
    const wrong = [
      { origin: "https://evil.test", counter: 9 },
      { rpId: "evil.test", counter: 9 },
      { userVerified: false, counter: 9 },
      { counter: 5 },
    ];
    const unknown = await people.signInWith(platform.browser(), people.newPasskey());
    const plain = ({ text }: { text: string }) => text.replaceAll(/value="[^"]*"/g, "");
    for (const place of wrong) {
      const refused = platform.browser();
      const answer = await people.signInWith(refused, passkey, place);
      expect(answer.status).toBe(401);
      expect(plain(answer)).toBe(plain(unknown));
      expect(refused.cookies.has(cookie)).toBe(false);
    }

    // The same answer from copies of the browser, at once and later: one works.
    const first = platform.browser();
    const asked = await people.challenge(first, "/sign-in", "/sign-in/passkey");
    const fields = {
      csrf: asked.csrf,
      next: "/account",
      credential: passkey.use(asked.options, { counter: 7 }),
    };
    const copies = Array.from({ length: 4 }, () => {
      const copy = platform.browser();
      for (const [name, value] of first.cookies) copy.cookies.set(name, value);
      return copy;
    });
    const answers = await Promise.all(copies.map((copy) => copy.post("/sign-in/passkey", fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 401, 401, 401]);
    platform.clock.step(60_000);
    const higher = passkey.use(asked.options, { counter: 8 });
    expect((await first.post("/sign-in/passkey", { ...fields, credential: higher })).status).toBe(401);
    // A challenge ends after five minutes.
    const late = platform.browser();
    const old = await people.challenge(late, "/sign-in", "/sign-in/passkey");
    platform.clock.step(300_000);
    const answer = passkey.use(old.options, { counter: 10 });
    expect(
      (await late.post("/sign-in/passkey", { csrf: old.csrf, next: "/account", credential: answer })).status,
    ).toBe(401);
    expect((await auditOf("console/SignIn")).at(-1)).toEqual({ by: "passkey" });
    expect(await platform.rows("SELECT user_handle FROM passkey")).not.toContainEqual({
      user_handle: expect.stringContaining("person"),
    });
  });

  test("an app asks for a code after the password, and each code and ticket works once", async () => {
    const email = await personWithPassword();
    const browser = await people.signedIn(email);
    const app = await people.setUpApp(browser);
    expect(app.recovery).toHaveLength(10);
    const rows = JSON.stringify(await platform.rows("SELECT * FROM recovery_code"));
    for (const code of app.recovery) expect(rows).not.toContain(code);

    // The code that set the app up is used; a wrong password gets the answer of an account without an app.
    const refused = await people.firstStep(email, "password");
    expect(refused.cookies.has(cookie)).toBe(false);
    expect((await refused.get("/sign-out")).location).toContain("/sign-in");
    expect((await people.secondStep(refused, app.code())).status).toBe(401);
    expect((await platform.signIn(platform.browser(), email, "another password")).status).toBe(401);

    platform.clock.step(60_000);
    expect((await people.secondStep(await people.firstStep(email, "password"), app.code())).location).toBe(
      "/account",
    );
    expect((await auditOf("console/SignIn")).at(-1)).toEqual({ by: "password", second: "code" });

    // One code, from three first steps at once.
    platform.clock.step(60_000);
    const three = [
      await people.firstStep(email),
      await people.firstStep(email),
      await people.firstStep(email),
    ];
    const statuses = (await Promise.all(three.map((each) => people.secondStep(each, app.code())))).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([303, 401, 401]);
    expect(three.filter(({ cookies }) => cookies.has(cookie))).toHaveLength(1);

    // One ticket, with two codes that are both right.
    platform.clock.step(60_000);
    const ticket = await people.firstStep(email);
    const kept = new Map(ticket.cookies);
    expect((await people.secondStep(ticket, app.code())).status).toBe(303);
    const copy = platform.browser();
    for (const [name, value] of kept) copy.cookies.set(name, value);
    const again = await people.secondStep(copy, app.code(1));
    expect(again).toMatchObject({ status: 303, location: expect.stringContaining("/sign-in?") });
    expect(copy.cookies.has(cookie)).toBe(false);
    // The refused ticket has not used the code up, and a ticket ends after five minutes.
    const late = await people.firstStep(email);
    platform.clock.step(300_000);
    expect((await people.secondStep(late, app.code())).location).toContain("/sign-in?");
  });

  test("a recovery code works once, and new ones replace all", async () => {
    const email = await person();
    const browser = await people.signedIn(email);
    const app = await people.setUpApp(browser);
    platform.clock.step(60_000);
    const [code = "", other = ""] = app.recovery;
    const three = [
      await people.firstStep(email),
      await people.firstStep(email),
      await people.firstStep(email),
    ];
    const answers = await Promise.all(
      three.map((each) => people.secondStep(each, code.toLowerCase().replaceAll("-", " "))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 401, 401]);
    expect(answers.find(({ status }) => status === 303)?.location).toBe("/account?notice=recovery-code");
    expect((await auditOf("console/SignIn")).at(-1)).toEqual({ by: "link", second: "recovery code" });
    await expect
      .poll(() => mail.received.map(({ to, text }) => [to, text]))
      .toEqual([[[email], expect.stringContaining("You have 9 left")]]);

    platform.clock.step(60_000);
    const page = await browser.get(securityPath);
    expect(page.text).toContain("9 of 10 recovery codes");
    const fresh = await browser.submit(page, `${securityPath}/codes`);
    expect([...fresh.text.matchAll(/<li><code>/g)]).toHaveLength(10);
    expect((await people.secondStep(await people.firstStep(email), other)).status).toBe(401);
    expect(await auditOf("console/ReplaceRecoveryCodes")).toHaveLength(1);
  });

  test("codes are limited: ten attempts a minute and twenty an hour for an account", async () => {
    const email = await person();
    await people.setUpApp(await people.signedIn(email));
    let wrong = 0;
    for (let minute = 0; minute < 3; minute += 1) {
      platform.clock.step(60_000);
      const browser = await people.firstStep(email);
      for (let i = 0; i < 9; i += 1)
        wrong += (await people.secondStep(browser, "000000x")).status === 401 ? 1 : 0;
    }
    expect(wrong).toBe(20);
  });

  test("nothing changes without a proof of the last five minutes, and never for another person", async () => {
    const [email, other] = [await person(), await person()];
    const browser = await people.signedIn(email);
    const passkey = people.newPasskey();
    await people.add(browser, passkey);
    const page = await browser.get(securityPath);
    const id = /name="passkey" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    const csrf = tokenIn(page);
    const changes = [
      "/passkey/options",
      "/passkey",
      "/rename",
      "/remove",
      "/app",
      "/app/remove",
      "/codes",
    ].map((path) => securityPath + path);

    // Another person's session does not find it; another site's form is refused.
    const stranger = await people.signedIn(other);
    const theirs = tokenIn(await stranger.get(securityPath));
    for (const path of ["/rename", "/remove"])
      expect(
        (await stranger.post(securityPath + path, { csrf: theirs, passkey: id, name: "Mine" })).status,
      ).toBe(404);
    for (const path of changes)
      expect((await browser.post(path, { csrf: theirs, passkey: id, name: "x" })).status).toBe(403);

    // A challenge of one purpose or session serves no other.
    const asked = await people.challenge(browser, securityPath, `${securityPath}/passkey`);
    const lent = new Map(browser.cookies);
    stranger.cookies.set("__Host-passkey", lent.get("__Host-passkey") ?? "");
    const stolen = { csrf: theirs, name: "x", credential: people.newPasskey().create(asked.options) };
    expect((await stranger.post(`${securityPath}/passkey`, stolen)).status).toBe(400);
    const visitor = platform.browser();
    const token = tokenIn(await visitor.get("/sign-in"));
    visitor.cookies.set("__Host-passkey", lent.get("__Host-passkey") ?? "");
    const misused = { csrf: token, next: "/account", credential: passkey.use(asked.options) };
    expect((await visitor.post("/sign-in/passkey", misused)).status).toBe(401);

    platform.clock.step(300_001);
    for (const path of changes) {
      const answer = await browser.post(path, { csrf, passkey: id, name: "x" });
      expect(answer).toMatchObject({ status: 303, location: expect.stringContaining("/account/prove?") });
    }
    expect((await browser.get(securityPath)).text).not.toContain("/remove");
    expect(await platform.rows(`SELECT name FROM passkey WHERE id = '${id}'`)).toEqual([{ name: "Laptop" }]);

    // The passkey is such a proof; that of another person is none.
    const theirPasskey = people.newPasskey();
    const proof = await people.challenge(browser, "/account/prove", "/account/prove/passkey");
    const send = (credential: string) =>
      browser.post("/account/prove/passkey", { csrf, next: securityPath, credential });
    expect((await send(theirPasskey.use(proof.options))).status).toBe(401);
    const second = await people.challenge(browser, "/account/prove", "/account/prove/passkey");
    expect(await send(passkey.use(second.options))).toMatchObject({ status: 303, location: securityPath });
    expect((await browser.post(`${securityPath}/rename`, { csrf, passkey: id, name: "Phone" })).status).toBe(
      303,
    );
    expect((await auditOf("console/RenamePasskey")).at(-1)).toEqual({ passkey: id, name: "Phone" });
  });

  test("the code of the app proves a session too, once, and the app can be removed", async () => {
    const email = await person();
    const browser = await people.signedIn(email);
    const app = await people.setUpApp(browser);
    platform.clock.step(360_000);
    const page = await browser.get(`/account/prove?next=${securityPath}`);
    const prove = (code: string) => browser.submit(page, "/account/prove/code", { code });
    expect((await prove(app.recovery[0] ?? "")).status).toBe(401);
    expect((await prove(app.code())).location).toBe(securityPath);
    expect((await prove(app.code())).status).toBe(401);
    const link = await platform.invite({ email });
    expect((await browser.submit(await browser.get(securityPath), `${securityPath}/app/remove`)).status).toBe(
      303,
    );
    expect(
      await platform.rows(`SELECT digest FROM recovery_code WHERE account_id = '${link.accountId}'`),
    ).toEqual([]);
    // Open links end with it, and the password is enough again.
    expect((await browser.get(`/link/${link.link}`)).status).toBe(410);
    await people.signedIn(email);
  });

  test("a link needs the code too, and then lets the person choose a password", async () => {
    const email = await person();
    const app = await people.setUpApp(await people.signedIn(email));
    platform.clock.step(60_000);
    const { link } = await platform.invite({ email });
    const browser = platform.browser();
    const answer = await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
    expect(answer.location).toContain("/sign-in/code?");
    expect(browser.cookies.has(cookie)).toBe(false);
    const entered = await browser.submit(await browser.get(answer.location), "/sign-in/code", {
      code: app.code(),
    });
    expect(entered.location).toBe("/account/password");
    expect((await browser.get("/account/password")).text).toContain("Choose a password");
  });

  test("the last way to sign in stays, also when two passkeys are removed at once", async () => {
    const { accountId, link, email } = await platform.invite({ email: `passkeys-${kind}@example.com` });
    const browser = platform.browser();
    await browser.submit(await browser.get(`/link/${link}`), `/link/${link}`);
    for (const name of ["One", "Two"]) await people.add(browser, people.newPasskey(), {}, name);
    const csrf = tokenIn(await browser.get(securityPath));
    const ids = await platform.rows(`SELECT id FROM passkey WHERE account_id = '${accountId}'`);
    const removals = ids.map(({ id }) =>
      browser.post(`${securityPath}/remove`, { csrf, passkey: String(id) }),
    );
    expect((await Promise.all(removals)).map(({ status }) => status).toSorted()).toEqual([303, 400]);
    expect(await platform.rows(`SELECT id FROM passkey WHERE account_id = '${accountId}'`)).toHaveLength(1);
    expect(email).toBe(`passkeys-${kind}@example.com`);
  });

  test("only sessions reach the pages: keys and tokens are sent to the sign-in page", async () => {
    const { headers } = await platform.service.person();
    const key: Browser = platform.browser();
    for (const path of ["", "/app"])
      expect((await key.get(securityPath + path, headers)).location).toContain("/sign-in?next=");
    for (const path of [
      "/passkey/options",
      "/passkey",
      "/rename",
      "/remove",
      "/app",
      "/app/remove",
      "/codes",
    ])
      expect((await key.post(securityPath + path, {}, headers)).location).toContain("/sign-in?next=");
  });

  test("a sign-in that was proven before the app was set up no longer gives a session", async () => {
    const email = `two-spaces-${kind}@example.com`;
    await platform.invite({ email, personal: true });
    await platform.member({ email });
    const thief = platform.browser();
    const choice = await platform.signIn(thief, email, goodPassword);
    expect(choice.text).toContain("Choose a space");
    await people.setUpApp(await people.signedIn(email));
    const space = /name="space" value="([^"]*)"/.exec(choice.text)?.[1] ?? "";
    expect((await thief.submit(choice, "/sign-in/space", { space })).location).toContain("/sign-in?");
    expect(thief.cookies.has(cookie)).toBe(false);
  });
});
