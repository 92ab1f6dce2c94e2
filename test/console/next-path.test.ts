import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextPath } from "../../src/sign-in-pages/entrance.ts";

const issuer = "https://accounts.example.com";

/** Texts from patterns that have bypassed redirect checks elsewhere. */
const misleadingText = fc
  .array(
    fc.constantFrom(
      "/",
      "\\",
      "//",
      ".",
      "..",
      "@",
      ":",
      "?",
      "#",
      "%2f",
      "%5c",
      "\t",
      "\n",
      " ",
      "a",
      "evil.com",
      "https:",
      "javascript:",
      "\u00ad",
      "\u2215",
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(""));

describe("the path after sign-in", () => {
  test("is on our own site for every input", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          misleadingText,
          misleadingText.map((text) => `/${text}`),
          fc.string(),
          fc.webUrl(),
        ),
        (text) => {
          const path = nextPath("", text);
          if (path === null) return;
          expect(path).toMatch(/^\/(?![/\\])/);
          expect(new URL(path, issuer).origin).toBe(issuer);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test.each([
    ["/account", "/account"],
    [
      "/openapi/oauth?client_id=client_1&redirect_uri=https%3A%2F%2Fa.example%2Fcb&state=a%20b",
      "/openapi/oauth?client_id=client_1&redirect_uri=https%3A%2F%2Fa.example%2Fcb&state=a%20b",
    ],
    ["/a/../account", "/account"],
  ])("may be %s", (text, path) => {
    expect(nextPath("", text)).toBe(path);
  });

  test.each([
    "",
    "account",
    "//evil.com",
    "/\\evil.com",
    "/.//evil.com",
    "/a/..//evil.com",
    "https://evil.com/account",
    "javascript:alert(1)",
    "/\t/evil.com",
    "/acc ount",
    `/${"a".repeat(2048)}`,
  ])("is never %j", (text) => {
    expect(nextPath("", text)).toBeNull();
  });

  test("is below the path in CONSENT_URL, with or without dots", () => {
    expect(nextPath("/people", "/people/account")).toBe("/people/account");
    for (const text of ["/account", "/peoples", "/people/../account", "/people"])
      expect(nextPath("/people", text)).toBeNull();
  });
});
