import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { linkDigest } from "../../src/core/sign-in/link.ts";
import { openStore } from "../../src/store/open.ts";
import { rowsIn, runOn } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { openMailServer } from "../support/mail-server.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, install, serve, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

const onlyLink = /^https:\/\/accounts\.example\.com\/link\/([A-Za-z0-9_-]{43})\n$/;

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

type Env = Readonly<Record<string, string>>;

/** `atp user`, as in spec/decisions.md 3. */
const invite = (dataDir: string, words: readonly string[], env: Env = {}) =>
  checkout.atp("user", words, { DATA_DIR: dataDir, CONSENT_URL: "https://accounts.example.com", ...env })
    .ended;

describe("atp user", () => {
  test("prints exactly the link, and a fresh one the next time; a key can be created at once", async () => {
    await install(checkout, "before");
    const first = await invite("before", ["--email", "bo@example.com"]);
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(onlyLink) });
    const again = await invite("before", ["--email", "bo@example.com", "--role", "admin"]);
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(onlyLink) });
    expect(again.out).not.toBe(first.out);
    const databaseUrl = `file:${checkout.path("before/platform.db")}`;
    const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom });
    const [, text = ""] = onlyLink.exec(first.out) ?? [];
    expect(await store.links.findOpen(linkDigest(text), Date.now())).not.toBeNull();
    await store.close();
    const rows = await rowsIn(databaseUrl, "SELECT * FROM audit_event");
    expect(rows.map(({ credential, operation }) => ({ credential, operation }))).toContainEqual({
      credential: "command",
      operation: "console/Invite",
    });
    expect(JSON.stringify(rows)).not.toContain(text);
    const key = await checkout.atp("key", ["--name", "x", "--user", "bo@example.com"], { DATA_DIR: "before" })
      .ended;
    expect(key).toMatchObject({ code: 0, out: expect.stringMatching(/^sk-/) });
  });

  test.each(
    share(
      [
        { why: "no address", words: [] },
        { why: "an unknown role", words: ["--email", "a@example.com", "--role", "king"] },
        { why: "an unknown option", words: ["--email", "a@example.com", "--colour", "red"] },
        {
          why: "a personal space in a team",
          words: ["--email", "a@example.com", "--personal", "--team", "x"],
        },
        { why: "words left over", words: ["--email", "a@example.com", "y"] },
        { why: "a first link for somebody", words: ["first-link", "--email", "a@example.com"] },
        { why: "an operator without an address", words: ["operator"] },
        {
          why: "an operator with a role",
          words: ["operator", "--email", "a@example.com", "--role", "admin"],
        },
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2: $why", async ({ words }) => {
    const { code, out, err } = await invite("usage", words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test.each([
    { why: "a second owner", words: ["--role", "owner"], says: "has an owner" },
    { why: "an unknown team without an owner", words: ["--team", "nowhere"], says: '"nowhere"' },
  ])("refuses with exit code 1 and nothing on standard output: $why", async ({ words, says }) => {
    await install(checkout, "refused");
    const { code, out, err } = await invite("refused", ["--email", "a@example.com", ...words]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(says);
    expect(err).not.toMatch(/\bat .*\.ts:/);
  });

  test("links to the address of the running server, or says that it guesses", async () => {
    await install(checkout, "address");
    const env = { CONSENT_URL: "" };
    const guessed = await invite("address", ["--email", "bo@example.com"], env);
    expect(guessed).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/link\//),
    });
    expect(guessed.err).toContain(
      "the link is guessed from HOST and PORT (http://127.0.0.1:8080); set CONSENT_URL",
    );
    await using server = await serve(checkout, "address");
    const invited = await invite("address", ["--email", "bo@example.com"], env);
    expect(invited).toMatchObject({ code: 0, err: `installation: ${checkout.path("address")}\n` });
    expect((await fetch(invited.out.trim())).status).toBe(200);
    expect(invited.out).toContain(`${server.url}/link/`);
  });

  test("first-link prints a link that works before the first sign-in, and then refuses", async () => {
    await install(checkout, "first");
    const first = await invite("first", ["first-link"]);
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(onlyLink) });
    const [, text = ""] = onlyLink.exec(first.out) ?? [];
    const databaseUrl = `file:${checkout.path("first/platform.db")}`;
    const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom });
    const minutes = (count: number) => store.links.findOpen(linkDigest(text), Date.now() + count * 60_000);
    expect([await minutes(14), await minutes(15)]).toMatchObject([{ isFirst: true }, null]);
    await runOn(databaseUrl, "UPDATE account SET password = 'x'");
    const refused = await invite("first", ["first-link"]);
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("a user has signed in") });
    expect(await minutes(0)).toBeNull();
    await store.close();
  });

  test("operator names an operator and removes one; the first owner is one already", async () => {
    await install(checkout, "operators");
    await invite("operators", ["--email", "bo@example.com"]);
    const databaseUrl = `file:${checkout.path("operators/platform.db")}`;
    const operators = async () =>
      (await rowsIn(databaseUrl, "SELECT email FROM account WHERE operator = 1 ORDER BY email")).map(
        ({ email }) => email,
      );
    const [first] = await operators();
    expect(await invite("operators", ["operator", "--email", "Bo@example.com"])).toMatchObject({
      code: 0,
      out: "",
    });
    expect(await operators()).toEqual(["bo@example.com", first]);
    await invite("operators", ["operator", "--email", "bo@example.com", "--remove"]);
    expect(await operators()).toEqual([first]);
    const unknown = await invite("operators", ["operator", "--email", "no@example.com"]);
    expect(unknown).toMatchObject({
      code: 5,
      err: expect.stringContaining("an account of no@example.com not found"),
    });
    const audit = await rowsIn(
      databaseUrl,
      "SELECT operation, credential FROM audit_event WHERE operation LIKE 'command/%' ORDER BY at, id",
    );
    expect(audit.map(({ operation }) => operation)).toEqual([
      "command/GrantOperator",
      "command/RevokeOperator",
    ]);
  });

  test("reset-factors removes passkeys, app and codes, and ends the sessions and links of the person", async () => {
    await install(checkout, "factors");
    await invite("factors", ["--email", "bo@example.com"]);
    const databaseUrl = `file:${checkout.path("factors/platform.db")}`;
    const [account] = await rowsIn(databaseUrl, "SELECT id FROM account WHERE email = 'bo@example.com'");
    const id = String(account?.["id"]);
    for (const statement of [
      `INSERT INTO passkey VALUES ('p', '${id}', 'c', 'k', 'u', 'Laptop', 0, 1, NULL)`,
      `INSERT INTO authenticator VALUES ('${id}', CAST('x' AS BLOB), 1, 1)`,
      `INSERT INTO recovery_code VALUES ('d', '${id}', 1)`,
      `INSERT INTO session (id, digest, account_id, space_id, created_at, proved_at, expires_at) VALUES ('s', 'd', '${id}', 'n', 1, 1, 9)`,
    ])
      await runOn(databaseUrl, statement);
    const reset = await invite("factors", ["reset-factors", "--email", "BO@example.com"]);
    expect(reset).toMatchObject({
      code: 0,
      out: "bo@example.com needs a link: atp user --email bo@example.com\n",
    });
    const left = await rowsIn(
      databaseUrl,
      `SELECT (SELECT COUNT(*) FROM passkey) + (SELECT COUNT(*) FROM authenticator) + (SELECT COUNT(*) FROM recovery_code)
        + (SELECT COUNT(*) FROM session) + (SELECT COUNT(*) FROM sign_in_link WHERE used_at IS NULL AND account_id = '${id}') AS number`,
    );
    expect(Number(left[0]?.["number"])).toBe(0);
    const audit = await rowsIn(
      databaseUrl,
      "SELECT before FROM audit_event WHERE operation = 'command/ResetFactors'",
    );
    expect(JSON.parse(String(audit[0]?.["before"]))).toEqual({ passkeys: 1, authenticator: true });
    const unknown = await invite("factors", ["reset-factors", "--email", "no@example.com"]);
    expect(unknown).toMatchObject({
      code: 5,
      err: expect.stringContaining("an account of no@example.com not found"),
    });
  });

  test("mails the link when a mail server is set, and then does not print it", async () => {
    await using server = await openMailServer();
    await install(checkout, "mail");
    const sent = await invite("mail", ["--email", "bo@example.com"], {
      SMTP_URL: server.url,
      MAIL_FROM: "platform@example.com",
    });
    expect(sent).toMatchObject({ code: 0, out: "The link was mailed to bo@example.com.\n" });
    expect(server.received[0]?.text).toMatch(/https:\/\/accounts\.example\.com\/link\/[A-Za-z0-9_-]{43}/);
  });

  test("prints the link when the mail server fails", async () => {
    await install(checkout, "mail");
    const env = { SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "platform@example.com" };
    const sent = await invite("mail", ["--email", "cy@example.com"], env);
    expect(sent).toMatchObject({ code: 0, out: expect.stringMatching(onlyLink) });
    expect(sent.err).toContain("did not accept the mail to cy@example.com");
  });
});
