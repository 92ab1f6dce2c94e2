import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findRedirectUriFault } from "../../../src/core/oauth/authorization.ts";

/** spec/oauth.md 1.5 and spec/decisions.md 29, row by row. */
const accepted = [
  "https://a.example/cb",
  "https://a.example",
  "https://a.example:8443/cb?tenant=1&x=%20",
  "HTTPS://A.example/cb",
  "http://a.example/cb",
  "http://127.0.0.1:8123/cb",
  "http://[::1]:8123/cb",
  "http://[0:0:0:0:0:0:0:1]/cb",
  "http://localhost/cb",
  "https://xn--bcher-kva.example/cb",
  "com.example.app://oauth",
  "com.example.app:/oauth2redirect",
  "myapp://cb",
  "myapp:///cb",
  "myapp:cb",
  "https://a.example/cb?redirect=https://b.example/",
  "https://a.example/a;b=1,2/(x)!$&'+=:@~",
];

const refused: readonly (readonly [uri: string, named: string])[] = [
  ["", "absolute"],
  ["/cb", "absolute"],
  ["a.example/cb", "absolute"],
  ["//a.example/cb", "absolute"],
  ["1app://cb", "absolute"],
  ["https://*.a.example/cb", "*"],
  ["https://a.example/*", "*"],
  ["https://a.example/cb#x", "fragment"],
  ["https://a.example/cb#", "fragment"],
  ["javascript:alert(1)", "scheme javascript"],
  ["JavaScript:alert(1)", "scheme javascript"],
  ["data:text/html,x", "scheme data"],
  ["file:///etc/passwd", "scheme file"],
  ["about:blank", "scheme about"],
  ["VBScript:x", "scheme vbscript"],
  ["blob:https://app.example/x", "scheme blob"],
  ["FileSystem:https://app.example/x", "scheme filesystem"],
  ["view-source:https://app.example/cb", "scheme view-source"],
  [" javascript:alert(1)", "white space"],
  ["java\tscript:alert(1)", "white space"],
  ["https://a.example/c\nb", "white space"],
  ["https://a.example/c b", "white space"],
  ["https://a.example/\u007f", "control"],
  ["https://bücher.example/cb", "ASCII"],
  ["https://a.example/\u202e", "ASCII"],
  ["https:///cb", "a host"],
  ["https:cb", "a host"],
  ["http:/cb", "a host"],
  ["https://:443/cb", "a host"],
  ["https://", "a host"],
  ["https:\\\\a.example\\cb", "backslash"],
  ["https://a.example\\@b.example/cb", "backslash"],
  ["https://ann@a.example/cb", "user"],
  ["https://ann:pw@a.example/cb", "user"],
  ["https://@a.example/cb", "user"],
  ["myapp://ann@cb", "user"],
  ["https://a.example@b.example@c.example/cb", "a valid host"],
  ["https://a.example:99999/cb", "port"],
  ["https://a.example:8o/cb", "port"],
  ["https://[::1/cb", "host"],
  ["https://[x]/cb", "host"],
  ["https://[:::::]/cb", "host"],
  ["http://0x7f.1/cb", "do not rewrite"],
  ["http://2130706433/cb", "do not rewrite"],
  ["https://%61.example/cb", "do not rewrite"],
  ["https://a.example/<script>", "RFC 3986"],
  ["https://a.example/{id}", "RFC 3986"],
  ["https://a.example/%zz", "RFC 3986"],
  ["https://a.example/[x]", "RFC 3986"],
  ['https://a.example/"', "RFC 3986"],
];

describe("a redirect URI", () => {
  test.each(accepted)("accepts %j", (uri) => expect(findRedirectUriFault(uri)).toBeUndefined());

  test.each(refused)("refuses %j", (uri, named) => expect(findRedirectUriFault(uri)).toContain(named));

  const schemes = ["https", "http", "HTTP", "myapp", "com.example.app", "javascript", "Data", "x+y-1"];
  const piece = fc.constantFrom(
    "/",
    "//",
    ":",
    "@",
    "#",
    "*",
    "?",
    "\\",
    "\t",
    " ",
    "[",
    "]",
    "[::1]",
    "a.example",
    "%41",
    "%",
    "80",
    "é",
    ".",
  );
  const nearUri = fc
    .tuple(
      fc.constantFrom(...schemes),
      fc.constantFrom(":", "://", ":/", ":///", ""),
      fc.array(fc.oneof(piece, fc.string({ maxLength: 4 }))),
    )
    .map(([scheme, mark, rest]) => scheme + mark + rest.join(""));

  test("that is accepted has the same meaning for browsers as its text", () => {
    let acceptedCount = 0;
    fc.assert(
      fc.property(fc.oneof(nearUri, fc.string(), fc.webUrl()), (uri) => {
        if (findRedirectUriFault(uri) !== undefined) return;
        acceptedCount += 1;
        expect(uri).toMatch(/^[\x21-\x7e]+$/);
        expect(uri).not.toMatch(/[*#\\]/);
        const scheme = uri.slice(0, uri.indexOf(":")).toLowerCase();
        expect([
          "javascript",
          "data",
          "file",
          "about",
          "vbscript",
          "blob",
          "filesystem",
          "view-source",
        ]).not.toContain(scheme);
        if (scheme !== "http" && scheme !== "https") return;
        const read = new URL(uri);
        expect(read.protocol).toBe(`${scheme}:`);
        expect([read.username, read.password, read.hash]).toEqual(["", "", ""]);
        const host = /^[^:]+:\/\/(\[[^\]]+\]|[^/?:]+)/.exec(uri)?.[1]?.toLowerCase();
        if (!host?.startsWith("[")) expect(read.hostname).toBe(host);
      }),
      { numRuns: 5_000, seed: 1 },
    );
    expect(acceptedCount).toBeGreaterThan(500);
  });

  test("with any host, path and query of RFC 3986 is accepted", () => {
    const path = fc.stringMatching(/^(\/([A-Za-z0-9\-._~!$&'()+,;=:@]|%[0-9A-F]{2}){0,8}){0,3}$/);
    const query = fc.stringMatching(/^(\?([A-Za-z0-9\-._~!$&'()+,;=:@/?]|%[0-9A-F]{2}){0,8})?$/);
    const port = fc.oneof(
      fc.constant(""),
      fc.integer({ min: 0, max: 65_535 }).map((n) => `:${n}`),
    );
    fc.assert(
      fc.property(
        fc.constantFrom("https", "http"),
        fc.domain(),
        port,
        path,
        query,
        (scheme, host, portPart, pathPart, queryPart) => {
          expect(
            findRedirectUriFault(`${scheme}://${host}${portPart}${pathPart}${queryPart}`),
          ).toBeUndefined();
        },
      ),
      { numRuns: 1_000, seed: 2 },
    );
  });
});
