import { scryptSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { checkPassword, isNewPassword } from "../../src/core/sign-in/password.ts";
import { describeOnOne } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "./people-rig.ts";

const test = sampledTest(3);

/**
 * A hash that costs less than the current default: a successful sign-in replaces it, and a wrong password is
 * checked with its parameters.
 */
function cheapHash(password: string, ln: number): string {
  const salt = Buffer.alloc(16, 1);
  const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$scrypt$ln=${ln},r=8,p=1$${base64(salt)}$${base64(scryptSync(password, salt, 32, { N: 2 ** ln, r: 8, p: 1 }))}`;
}

test.each([
  ["a".repeat(11), false],
  ["a".repeat(12), true],
  ["😀".repeat(12), true],
  ["😀".repeat(11), false],
  ["a".repeat(1024), true],
  ["a".repeat(1025), false],
  ["e\u0301".repeat(11), false],
])("a new password has 12 to 1024 characters after NFKC: %j", (text, good) => {
  expect(isNewPassword(text)).toBe(good);
});

describeOnOne("signing in by password", (kind) => {
  let platform: SignInPlatform;
  let answerToUnknown: ReturnType<SignInPlatform["signIn"]> | undefined;
  /** The answer to a user without an account. */
  const signInUnknown = () => (answerToUnknown ??= platform.signIn(platform.browser(), "nobody@example.com"));
  const storeHash = (email: string, stored: string) =>
    platform.run(`UPDATE account SET password = '${stored}' WHERE email = '${email}'`);
  beforeAll(async () => {
    platform = await openSignInPlatform(kind);
    await platform.member({ email: "bo@example.com" });
  });
  afterAll(() => platform[Symbol.asyncDispose]());
  // Limits count per minute.
  beforeEach(() => platform.clock.step(60_000));

  test("leads to the requested page, with a session that is stored as a hash", async () => {
    const browser = platform.browser();
    const answer = await platform.signIn(browser, " BO@example.com ", goodPassword, "/account?x=1");
    expect(answer).toMatchObject({ status: 303, location: "/account?x=1" });
    const text = browser.cookies.get("__Host-session") ?? "";
    expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await browser.get("/sign-out")).text).toContain("bo@example.com");
    expect(JSON.stringify(await platform.rows("SELECT * FROM session"))).not.toContain(text);
  });

  test("leads from the former pages of the account to the console, and says without it how apps are revoked", async () => {
    expect(await platform.browser().get("/account?notice=password")).toMatchObject({
      status: 303,
      location: "/settings/profile?notice=password",
    });
    expect(await platform.browser().get("/account/apps")).toMatchObject({
      status: 303,
      location: "/settings/authorized-apps",
    });
    await using without = await openSignInPlatform("sqlite", { CONSOLE: "off" });
    expect(await without.browser().get("/account")).toMatchObject({
      status: 303,
      location: "/account/security",
    });
    const apps = await without.browser().get("/account/apps");
    expect([apps.status, apps.location]).toEqual([404, ""]);
    expect(apps.text).toContain("RevokeOAuth2Grant -f clientId=");
  });

  test("is recorded as the member's first sign-in, and in the team's audit log", async () => {
    await platform.signIn(platform.browser(), "bo@example.com");
    const [row] = await platform.rows("SELECT signed_in_at FROM membership WHERE email = 'bo@example.com'");
    const first = Number(row?.["signed_in_at"]);
    expect(first).toBeGreaterThan(0);
    platform.clock.step(60_000);
    await platform.signIn(platform.browser(), "bo@example.com");
    const [again] = await platform.rows("SELECT signed_in_at FROM membership WHERE email = 'bo@example.com'");
    expect(Number(again?.["signed_in_at"])).toBe(first);
    expect(await platform.rows("SELECT id FROM audit_event WHERE operation = 'console/SignIn'")).not.toEqual(
      [],
    );
  });

  test.each([
    "wrong password",
    "unknown account",
    "no password",
    "inactive",
    "delegated",
    "removed",
  ])("is refused with the same answer: %s", async (reason) => {
    const email = `${reason.replace(" ", "-")}@example.com`;
    if (reason === "no password") await platform.invite({ email });
    else if (reason !== "unknown account") await platform.member({ email });
    const set = {
      inactive: "status = 'inactive'",
      delegated: "delegated_to = 'other'",
      removed: "status = 'removed'",
    }[reason];
    if (set) await platform.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
    const browser = platform.browser();
    const answer = await platform.signIn(
      browser,
      email,
      reason === "wrong password" ? "not the right one" : goodPassword,
    );
    const withoutValues = ({ text }: { text: string }) => text.replaceAll(/value="[^"]*"/g, "");
    expect(answer.status).toBe(401);
    expect(withoutValues(answer)).toBe(withoutValues(await signInUnknown()));
    expect(browser.cookies.has("__Host-session")).toBe(false);
  });

  test("is limited per account, from any browser, also for simultaneous attempts, and is allowed again a minute later", async () => {
    await platform.member({ email: "cy@example.com" });
    // The attempts still wait for each other.
    await storeHash("cy@example.com", cheapHash(goodPassword, 13));
    const tries = Array.from(
      { length: 14 },
      async () => (await platform.signIn(platform.browser(), "cy@example.com", "a wrong password")).status,
    );
    const statuses = await Promise.all(tries);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const right = await platform.signIn(platform.browser(), "cy@example.com");
    expect(right.status).toBe(429);
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
    platform.clock.step(60_000);
    expect((await platform.signIn(platform.browser(), "cy@example.com")).status).toBe(303);
  });

  test("is counted apart in a browser that has signed in to the account before, whose cookie shows no account", async () => {
    await platform.member({ email: "ed@example.com" });
    const known = platform.browser();
    await storeHash("ed@example.com", cheapHash(goodPassword, 4));
    expect((await platform.signIn(known, "ed@example.com")).status).toBe(303);
    const cookie = known.cookies.get("__Host-known") ?? "";
    const { id } = (await platform.store.accounts.byEmail("ed@example.com")) ?? { id: "" };
    expect(cookie).toMatch(/^[A-Za-z0-9_-]{80,}$/);
    expect(Buffer.from(cookie, "base64url").toString("latin1")).not.toContain(id);
    for (let nth = 0; nth < 10; nth += 1)
      await platform.signIn(platform.browser(), "ed@example.com", "a wrong password");
    expect((await platform.signIn(platform.browser(), "ed@example.com")).status).toBe(429);
    expect((await platform.signIn(known, "ed@example.com")).status).toBe(303);
    await storeHash("bo@example.com", cheapHash(goodPassword, 4));
    for (let nth = 0; nth < 10; nth += 1)
      await platform.signIn(platform.browser(), "bo@example.com", "a wrong password");
    expect((await platform.signIn(known, "bo@example.com")).status).toBe(429);
  });

  test("is limited per address, for any accounts, existing or not", async () => {
    const statuses = [];
    // In short runs only the fourth account does not exist.
    for (let i = 0; i < sample(0, 3); i += 1) {
      await platform.member({ email: `none-${i}@example.com` });
      await storeHash(`none-${i}@example.com`, cheapHash(goodPassword, 4));
    }
    for (let i = 0; i < 32; i += 1) {
      statuses.push((await platform.signIn(platform.browser(), `none-${i % 4}@example.com`, "x")).status);
    }
    expect(statuses.slice(0, 30)).not.toContain(429);
    expect(statuses.slice(30)).toEqual([429, 429]);
  });

  test("replaces a cheaper hash, and only after a successful sign-in", async () => {
    await platform.member({ email: "di@example.com" });
    const cheap = cheapHash(goodPassword, 4);
    await storeHash("di@example.com", cheap);
    const stored = async () =>
      (await platform.rows("SELECT password FROM account WHERE email = 'di@example.com'"))[0]?.["password"];
    expect((await platform.signIn(platform.browser(), "di@example.com", "another password")).status).toBe(
      401,
    );
    expect(await stored()).toBe(cheap);
    expect((await platform.signIn(platform.browser(), "di@example.com")).status).toBe(303);
    expect(await stored()).toMatch(/^\$scrypt\$ln=15,/);
    expect((await platform.signIn(platform.browser(), "di@example.com")).status).toBe(303);
  });

  test("checkPassword returns true only for this account's password", async () => {
    const account = await platform.store.accounts.byEmail("bo@example.com");
    expect(await checkPassword(platform.store, account?.id ?? "", goodPassword)).toBe(true);
    expect(await checkPassword(platform.store, account?.id ?? "", "another password")).toBe(false);
    expect(await checkPassword(platform.store, "nobody", goodPassword)).toBe(false);
  });
});
