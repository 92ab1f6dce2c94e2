import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFromOwnSite } from "../../src/sign-in-pages/form.ts";
import { goodPassword, openSignInPlatform, type SignInPlatform } from "../sign-in/people-rig.ts";

const issuer = "https://platform.test";

test.each([
  { headers: {}, good: true },
  { headers: { origin: issuer }, good: true },
  { headers: { origin: issuer, "sec-fetch-site": "same-origin" }, good: true },
  // Browsers send this under no-referrer.
  { headers: { origin: "null", "sec-fetch-site": "same-origin" }, good: true },
  { headers: { origin: "null", "sec-fetch-site": "cross-site" }, good: false },
  { headers: { origin: "https://evil.com" }, good: false },
  { headers: { origin: "https://evil.com", "sec-fetch-site": "same-origin" }, good: false },
  { headers: { "sec-fetch-site": "same-site" }, good: false },
  { headers: { "sec-fetch-site": "cross-site" }, good: false },
  { headers: { "sec-fetch-site": "none" }, good: false },
  { headers: { origin: "https://platform.test.evil.com" }, good: false },
])("a form counts as sent by our own page: $headers is $good", ({ headers, good }) => {
  expect(isFromOwnSite(headers, issuer)).toBe(good);
});

describe("a form", () => {
  let platform: SignInPlatform;
  beforeAll(async () => {
    platform = await openSignInPlatform();
    await platform.member({ email: "bo@example.com" });
  });
  afterAll(() => platform[Symbol.asyncDispose]());
  const right = { email: "bo@example.com", password: goodPassword };

  test.each([
    { why: "no token", fields: { csrf: "" } },
    { why: "a made-up token", fields: { csrf: "A".repeat(43) } },
  ])("does nothing with $why", async ({ fields }) => {
    const browser = platform.browser();
    const page = await browser.get("/sign-in");
    expect((await browser.submit(page, "/sign-in", { ...right, ...fields })).status).toBe(403);
    expect(browser.cookies.has("__Host-session")).toBe(false);
  });

  test("does nothing with another browser's token, or without the cookie that it was made for", async () => {
    const [one, other] = [platform.browser(), platform.browser()];
    const page = await one.get("/sign-in");
    await other.get("/sign-in");
    expect((await other.submit(page, "/sign-in", right)).status).toBe(403);
    one.cookies.clear();
    expect((await one.submit(page, "/sign-in", right)).status).toBe(403);
  });

  test("does nothing when another site sent it, even with correct fields", async () => {
    const browser = platform.browser();
    const page = await browser.get("/sign-in");
    expect((await browser.submit(page, "/sign-in", right, { "sec-fetch-site": "cross-site" })).status).toBe(
      403,
    );
    expect((await browser.submit(page, "/sign-in", right, { origin: "https://evil.com" })).status).toBe(403);
    expect(
      (await browser.submit(page, "/sign-in", right, { origin: "null", "sec-fetch-site": "same-origin" }))
        .status,
    ).toBe(303);
  });

  test.each([
    "/sign-out",
    "/account/password",
    "/account/prove",
  ])("of a session needs that session's token: %s", async (path) => {
    const [mine, theirs] = [platform.browser(), platform.browser()];
    platform.clock.step(60_000);
    await platform.signIn(mine, "bo@example.com");
    await platform.signIn(theirs, "bo@example.com");
    const csrf = /name="csrf" value="([^"]*)"/.exec((await theirs.get("/sign-out")).text)?.[1] ?? "";
    expect((await mine.post(path, { csrf })).status).toBe(403);
    expect((await mine.post(path, {})).status).toBe(403);
    expect((await mine.get("/sign-out")).status).toBe(200);
  });

  test.each([
    {
      why: "larger than any form",
      body: "a".repeat(40_000),
      type: "application/x-www-form-urlencoded",
      status: 413,
    },
    { why: "JSON", body: "{}", type: "application/json", status: 415 },
  ])("that is $why is refused on a page", async ({ body, type, status }) => {
    const answer = await fetch(`${platform.service.url}/sign-in`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  });

  test("is never sent back with the password that was typed", async () => {
    const browser = platform.browser();
    const answer = await platform.signIn(browser, '"><script>alert(1)</script>', "my secret password");
    expect(answer.text).not.toContain("my secret password");
    expect(answer.text).not.toContain("<script>");
  });
});

test("a signed-out browser is redirected to the sign-in page, and back afterwards", async () => {
  await using platform = await openSignInPlatform();
  await platform.member({ email: "bo@example.com" });
  const browser = platform.browser();
  const away = await browser.get("/account/password?x=1");
  expect(away).toMatchObject({ status: 303, location: "/sign-in?next=%2Faccount%2Fpassword%3Fx%3D1" });
  const page = await browser.get(away.location);
  const back = await browser.submit(page, "/sign-in", { email: "bo@example.com", password: goodPassword });
  expect(back.location).toBe("/account/password?x=1");
});

test.each([
  "https://evil.com",
  "//evil.com",
  "/\\evil.com",
  "javascript:alert(1)",
])("no redirect leaves the site by ?next=%s", async (next) => {
  await using platform = await openSignInPlatform();
  await platform.member({ email: "bo@example.com" });
  expect((await platform.signIn(platform.browser(), "bo@example.com", goodPassword, next)).location).toBe(
    "/",
  );
});
