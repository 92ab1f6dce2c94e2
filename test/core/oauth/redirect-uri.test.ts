import { assert, constantFrom, integer, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { selectRedirectUri } from "../../../src/core/oauth/authorization.ts";

const fixed = (...redirectUris: string[]) => ({ redirectUris, loopbackAnyPort: false, verified: true });
const anyPort = (...redirectUris: string[]) => ({ redirectUris, loopbackAnyPort: true, verified: true });

describe("a redirect URI", () => {
  test.each([
    [
      "spec/oauth.md 4: the only registered one, if none is requested",
      fixed("https://a.example/cb"),
      null,
      "https://a.example/cb",
    ],
    [
      "spec/oauth.md 4: none, if none is requested and two are registered",
      fixed("https://a.example/cb", "https://b.example/cb"),
      null,
      null,
    ],
    ["spec/oauth.md 4: none, if none is registered", fixed(), null, null],
    [
      "spec/oauth.md 1.5: the same text",
      fixed("https://a.example/cb", "myapp://cb"),
      "myapp://cb",
      "myapp://cb",
    ],
    [
      "spec/oauth.md 1.5: not with an additional slash",
      fixed("https://a.example/cb"),
      "https://a.example/cb/",
      null,
    ],
    [
      "spec/oauth.md 1.5: not with another port",
      fixed("https://a.example/cb"),
      "https://a.example:443/cb",
      null,
    ],
    ["spec/oauth.md 1.5: not in another case", fixed("https://a.example/cb"), "https://A.example/cb", null],
    [
      "RFC 9700 4.1.3: not with an additional query",
      fixed("https://a.example/cb"),
      "https://a.example/cb?x=1",
      null,
    ],
    [
      "spec/oauth.md 12: the loopback's port must match too, by default",
      fixed("http://127.0.0.1:8123/cb"),
      "http://127.0.0.1:8124/cb",
      null,
    ],
    [
      "RFC 8252 7.3: any port of 127.0.0.1",
      anyPort("http://127.0.0.1:1/cb"),
      "http://127.0.0.1:50123/cb",
      "http://127.0.0.1:50123/cb",
    ],
    [
      "RFC 8252 7.3: or no port",
      anyPort("http://127.0.0.1:1/cb"),
      "http://127.0.0.1/cb",
      "http://127.0.0.1/cb",
    ],
    [
      "RFC 8252 7.3: of [::1] as well",
      anyPort("http://[::1]/cb?a=b"),
      "http://[::1]:9/cb?a=b",
      "http://[::1]:9/cb?a=b",
    ],
    ["RFC 8252 7.3: not the other host's", anyPort("http://[::1]/cb"), "http://127.0.0.1/cb", null],
    ["RFC 8252 7.3: not another path", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:9/other", null],
    ["RFC 8252 7.3: not another query", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:9/cb?a", null],
    ["RFC 8252 7.3: not https", anyPort("https://127.0.0.1/cb"), "https://127.0.0.1:9/cb", null],
    ["RFC 8252 8.3: not localhost", anyPort("http://localhost/cb"), "http://localhost:9/cb", null],
    ["not an invalid port", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:65536/cb", null],
    ["not port 0", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:0/cb", null],
    [
      "not a user that looks like the loopback",
      anyPort("http://127.0.0.1/cb"),
      "http://127.0.0.1:80@evil.example/cb",
      null,
    ],
    [
      "not a host that begins with the loopback address",
      anyPort("http://127.0.0.1/cb"),
      "http://127.0.0.1.evil.example/cb",
      null,
    ],
  ])("%s", (_, app, requested, uri) => {
    expect(selectRedirectUri(app, requested)).toBe(uri);
  });

  test("that differs from every registered one is never accepted", () => {
    const registered = [
      "https://a.example/cb",
      "http://127.0.0.1:8123/cb",
      "http://[::1]/cb?x=y",
      "com.example.app://oauth",
    ];
    const parts = constantFrom(
      ...registered,
      "/",
      "//",
      "@",
      ":80",
      "?",
      "#",
      "\\",
      "\n",
      ".",
      "%2e",
      "evil.example",
      " ",
      "A",
    );
    assert(
      property(
        constantFrom(...registered),
        parts,
        string({ maxLength: 8 }),
        integer({ min: 0, max: 30 }),
        (uri, part, text, at) => {
          const requested = uri.slice(0, at) + part + text + uri.slice(at);
          const port = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?([/?].*)?$/s;
          const withoutPort = (of: string) => of.replace(port, "$1$2");
          const same = registered.includes(requested);
          expect(selectRedirectUri(fixed(...registered), requested)).toBe(same ? requested : null);
          const result = selectRedirectUri(anyPort(...registered), requested);
          if (result !== null)
            expect(same || registered.map(withoutPort).includes(withoutPort(requested))).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("of the loopback is accepted with every port, and with no other change", () => {
    const ports = integer({ min: 1, max: 65_535 });
    assert(
      property(constantFrom("127.0.0.1", "[::1]"), ports, ports, string(), (host, one, other, rest) => {
        const uri = (port: number, tail = "") => `http://${host}:${port}/cb${tail}`;
        expect(selectRedirectUri(anyPort(uri(one)), uri(other))).toBe(uri(other));
        expect(selectRedirectUri(anyPort(uri(one)), uri(other, `x${rest}`))).toBeNull();
      }),
    );
  });
});
