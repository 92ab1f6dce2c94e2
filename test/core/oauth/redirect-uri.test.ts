import { assert, constantFrom, integer, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { redirectUriFor } from "../../../src/core/oauth/redirect-uri.ts";

const fixed = (...redirectUris: string[]) => ({ redirectUris, loopbackAnyPort: false });
const anyPort = (...redirectUris: string[]) => ({ redirectUris, loopbackAnyPort: true });

describe("a redirect URI", () => {
  test.each([
    ["oauth.md 4: the only registered one, where none is asked", fixed("https://a.example/cb"), null, "https://a.example/cb"],
    ["oauth.md 4: none, where none is asked of two", fixed("https://a.example/cb", "https://b.example/cb"), null, null],
    ["oauth.md 4: none, where none is registered", fixed(), null, null],
    ["oauth.md 1.5: the same text", fixed("https://a.example/cb", "myapp://cb"), "myapp://cb", "myapp://cb"],
    ["oauth.md 1.5: not with a slash more", fixed("https://a.example/cb"), "https://a.example/cb/", null],
    ["oauth.md 1.5: not with another port", fixed("https://a.example/cb"), "https://a.example:443/cb", null],
    ["oauth.md 1.5: not in another case", fixed("https://a.example/cb"), "https://A.example/cb", null],
    ["RFC 9700 4.1.3: not with a query more", fixed("https://a.example/cb"), "https://a.example/cb?x=1", null],
    ["oauth.md 12: the loopback's port too, by default", fixed("http://127.0.0.1:8123/cb"), "http://127.0.0.1:8124/cb", null],
    ["RFC 8252 7.3: any port of 127.0.0.1", anyPort("http://127.0.0.1:1/cb"), "http://127.0.0.1:50123/cb", "http://127.0.0.1:50123/cb"],
    ["RFC 8252 7.3: or none", anyPort("http://127.0.0.1:1/cb"), "http://127.0.0.1/cb", "http://127.0.0.1/cb"],
    ["RFC 8252 7.3: of [::1] as well", anyPort("http://[::1]/cb?a=b"), "http://[::1]:9/cb?a=b", "http://[::1]:9/cb?a=b"],
    ["RFC 8252 7.3: not the other host's", anyPort("http://[::1]/cb"), "http://127.0.0.1/cb", null],
    ["RFC 8252 7.3: not another path", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:9/other", null],
    ["RFC 8252 7.3: not another query", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:9/cb?a", null],
    ["RFC 8252 7.3: not https", anyPort("https://127.0.0.1/cb"), "https://127.0.0.1:9/cb", null],
    ["RFC 8252 8.3: not localhost", anyPort("http://localhost/cb"), "http://localhost:9/cb", null],
    ["not a port that is none", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:65536/cb", null],
    ["not port 0", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:0/cb", null],
    ["not a user that looks like the loopback", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1:80@evil.example/cb", null],
    ["not a host that begins like it", anyPort("http://127.0.0.1/cb"), "http://127.0.0.1.evil.example/cb", null],
  ])("%s", (_, app, asked, uri) => {
    expect(redirectUriFor(app, asked)).toBe(uri);
  });

  test("that is none of the registered ones never passes, whatever it looks like", () => {
    const registered = ["https://a.example/cb", "http://127.0.0.1:8123/cb", "http://[::1]/cb?x=y", "com.example.app://oauth"];
    const parts = constantFrom(...registered, "/", "//", "@", ":80", "?", "#", "\\", "\n", ".", "%2e", "evil.example", " ", "A");
    assert(
      property(constantFrom(...registered), parts, string({ maxLength: 8 }), integer({ min: 0, max: 30 }), (uri, part, text, at) => {
        const asked = uri.slice(0, at) + part + text + uri.slice(at);
        const port = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?([/?].*)?$/s;
        const bare = (of: string) => of.replace(port, "$1$2");
        const same = registered.includes(asked);
        expect(redirectUriFor(fixed(...registered), asked)).toBe(same ? asked : null);
        const passed = redirectUriFor(anyPort(...registered), asked);
        if (passed !== null) expect(same || registered.map(bare).includes(bare(asked))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("of the loopback passes with every port, and with nothing else changed", () => {
    const ports = integer({ min: 1, max: 65_535 });
    assert(
      property(constantFrom("127.0.0.1", "[::1]"), ports, ports, string(), (host, one, other, rest) => {
        const uri = (port: number, tail = "") => `http://${host}:${port}/cb${tail}`;
        expect(redirectUriFor(anyPort(uri(one)), uri(other))).toBe(uri(other));
        expect(redirectUriFor(anyPort(uri(one)), uri(other, `x${rest}`))).toBeNull();
      }),
    );
  });
});
