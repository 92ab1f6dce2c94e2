import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkPassword, isNewPassword } from "../../src/core/sign-in/password.ts";
import { hashPassword, isOutdated, isPassword } from "../../src/core/sign-in/password-hash.ts";
import { describeOnEach } from "../support/database.ts";
import { goodPassword, openTown, type Town } from "./people-rig.ts";

describe("a stored password", () => {
  test("is scrypt with its parameters and a salt of its own, and never the text", async () => {
    const [one, other] = await Promise.all([hashPassword(goodPassword), hashPassword(goodPassword)]);
    expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(one);
    expect(await isPassword(goodPassword, one)).toBe(true);
    expect(await isPassword(`${goodPassword} `, one)).toBe(false);
  });

  test("is the same however the characters were composed (NFKC)", async () => {
    const stored = await hashPassword("caf\u00e9 in the morning");
    expect(await isPassword("cafe\u0301 in the morning", stored)).toBe(true);
  });

  test("counts as outdated when it was made more cheaply, and is checked by its own parameters", async () => {
    const cheap = "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$";
    expect(isOutdated(`${cheap}${"A".repeat(43)}`)).toBe(true);
    expect(isOutdated(await hashPassword(goodPassword))).toBe(false);
  });

  test("that is none, or not readable, is nobody's password", async () => {
    for (const stored of [null, "", "plain", "$scrypt$ln=15,r=8,p=3$x$y"]) expect(await isPassword("", stored)).toBe(false);
  });

  test("is checked beside everything else: many at once leave the event loop and the memory free", async () => {
    let turns = 0;
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      turns += 1;
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    await Promise.all(Array.from({ length: 24 }, () => isPassword("x", null)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(100);
    // Two at a time take 64 MB; all of them would take 768.
    expect(most - before).toBeLessThan(400 * 2 ** 20);
  });

  test("is refused to a flood, rather than queued for ever", async () => {
    const cheap = `$scrypt$ln=4,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
    const all = await Promise.allSettled(Array.from({ length: 230 }, () => isPassword("x", cheap)));
    const refused = all.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(28);
    for (const each of refused) expect(each).toMatchObject({ reason: { reason: "unavailable" } });
    expect(await isPassword("x", null)).toBe(false);
  });
});

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

describeOnEach("signing in by password", (kind) => {
  let town: Town;
  beforeAll(async () => {
    town = await openTown(kind);
    await town.member({ email: "bo@example.com" });
  });
  afterAll(() => town[Symbol.asyncDispose]());
  // Limits count by the minute.
  beforeEach(() => town.clock.step(60_000));

  test("leads to where one wanted to go, with a session that is kept as a hash", async () => {
    const browser = town.browser();
    const answer = await town.signIn(browser, " BO@example.com ", goodPassword, "/account?x=1");
    expect(answer).toMatchObject({ status: 303, location: "/account?x=1" });
    const text = browser.cookies.get("__Host-session") ?? "";
    expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await browser.get("/account")).text).toContain("bo@example.com");
    expect(JSON.stringify(await town.rows("SELECT * FROM session"))).not.toContain(text);
  });

  test("is noted as the member's first sign-in, and in the team's audit log", async () => {
    await town.signIn(town.browser(), "bo@example.com");
    const [row] = await town.rows("SELECT signed_in_at FROM membership WHERE email = 'bo@example.com'");
    const first = Number(row?.["signed_in_at"]);
    expect(first).toBeGreaterThan(0);
    town.clock.step(60_000);
    await town.signIn(town.browser(), "bo@example.com");
    const [again] = await town.rows("SELECT signed_in_at FROM membership WHERE email = 'bo@example.com'");
    expect(Number(again?.["signed_in_at"])).toBe(first);
    expect(await town.rows("SELECT id FROM audit_event WHERE operation = 'console/SignIn'")).not.toEqual([]);
  });

  test.each([
    "wrong password",
    "unknown account",
    "no password",
    "inactive",
    "delegated",
    "removed",
  ])("is refused with the same answer: %s", async (why) => {
    const email = `${why.replace(" ", "-")}@example.com`;
    if (why === "no password") await town.invite({ email });
    else if (why !== "unknown account") await town.member({ email });
    const set = { inactive: "status = 'inactive'", delegated: "delegated_to = 'other'", removed: "status = 'removed'" }[why];
    if (set) await town.run(`UPDATE membership SET ${set} WHERE email = '${email}'`);
    const browser = town.browser();
    const answer = await town.signIn(browser, email, why === "wrong password" ? "not the right one" : goodPassword);
    const strange = await town.signIn(town.browser(), "nobody@example.com");
    const plain = ({ text }: { text: string }) => text.replaceAll(/value="[^"]*"/g, "");
    expect(answer.status).toBe(401);
    expect(plain(answer)).toBe(plain(strange));
    expect(browser.cookies.has("__Host-session")).toBe(false);
  });

  test("is limited for an account, from whatever browser, also when all attempts come at once, and opens again a minute later", async () => {
    await town.member({ email: "cy@example.com" });
    const tries = Array.from({ length: 14 }, async () => (await town.signIn(town.browser(), "cy@example.com", "a wrong password")).status);
    const statuses = await Promise.all(tries);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const right = await town.signIn(town.browser(), "cy@example.com");
    expect(right.status).toBe(429);
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
    town.clock.step(60_000);
    expect((await town.signIn(town.browser(), "cy@example.com")).status).toBe(303);
  });

  test("is limited for an address, whatever accounts are tried, and for accounts that are not there alike", async () => {
    const statuses = [];
    for (let i = 0; i < 32; i += 1) {
      if (i % 10 === 0) statuses.length = i;
      statuses.push((await town.signIn(town.browser(), `none-${i % 4}@example.com`, "x")).status);
    }
    expect(statuses.slice(0, 30)).not.toContain(429);
    expect(statuses.slice(30)).toEqual([429, 429]);
  });

  test("writes a hash anew that was made more cheaply, and only after a good sign-in", async () => {
    await town.member({ email: "di@example.com" });
    const { scryptSync } = await import("node:crypto");
    const salt = Buffer.alloc(16, 1);
    const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
    const cheap = `$scrypt$ln=4,r=8,p=1$${base64(salt)}$${base64(scryptSync(goodPassword, salt, 32, { N: 16, r: 8, p: 1 }))}`;
    await town.run(`UPDATE account SET password = '${cheap}' WHERE email = 'di@example.com'`);
    const stored = async () => (await town.rows("SELECT password FROM account WHERE email = 'di@example.com'"))[0]?.["password"];
    expect((await town.signIn(town.browser(), "di@example.com", "another password")).status).toBe(401);
    expect(await stored()).toBe(cheap);
    expect((await town.signIn(town.browser(), "di@example.com")).status).toBe(303);
    expect(await stored()).toMatch(/^\$scrypt\$ln=15,/);
    expect((await town.signIn(town.browser(), "di@example.com")).status).toBe(303);
  });

  test("checkPassword says whether it is this account's password", async () => {
    const account = await town.store.accounts.byEmail("bo@example.com");
    expect(await checkPassword(town.store, account?.id ?? "", goodPassword)).toBe(true);
    expect(await checkPassword(town.store, account?.id ?? "", "another password")).toBe(false);
    expect(await checkPassword(town.store, "nobody", goodPassword)).toBe(false);
  });
});
