import { describe, expect, test } from "vitest";
import { customDomainReader } from "../../src/config/custom-domain.ts";

const read = customDomainReader({
  baseUrl: "https://api.our-platform.com",
  consentUrl: "https://accounts.our-platform.com",
  appUrl: "https://tasks.other-app.co.uk.",
  sitesDomain: "our-sites.net",
});

describe("the name of a custom domain", () => {
  test.each([
    ["www.example.com", "www.example.com"],
    ["example.com", "example.com"],
    ["WWW.Example.COM", "www.example.com"],
    ["www.example.com.", "www.example.com"],
    ["a.b.c.example.co.uk", "a.b.c.example.co.uk"],
    ["me.github.io", "me.github.io"],
    ["xn--bcher-kva.example.com", "xn--bcher-kva.example.com"],
    ["xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"],
    ["2026.example.com", "2026.example.com"],
  ])("%s is %s", (text, domain) => {
    expect(read(text)).toEqual({ domain });
  });

  test.each([
    ...[
      "",
      ".",
      "com",
      "co.uk",
      "github.io",
      "localhost",
      "shop.localhost",
      "shop.internal",
      "shop.test",
      "10.in-addr.arpa",
      "abc.onion",
    ],
    ...["127.0.0.1", "0x7f.1", "1.2.3.4.5", "[::1]", "::1", "2130706433"],
    ...[
      "*.example.com",
      "_atp.example.com",
      "example.com:443",
      "https://example.com",
      "example.com/x",
      "user@example.com",
      "exa mple.com",
    ],
    ...[
      "example.com..",
      ".example.com",
      "-a.example.com",
      "a-.example.com",
      "a..example.com",
      "exаmple.com",
      "bücher.example.com",
      "example。com",
    ],
    ...[
      "xn--a.example.com",
      "xn--.example.com",
      `${"a".repeat(64)}.example.com`,
      `${"a.".repeat(130)}com`,
      "example.com\0",
      "example.com\n",
    ],
  ])("%j is refused", (text) => {
    expect(read(text)).toEqual({ fault: expect.stringMatching(/^is not /) });
  });

  test.each([
    ...[
      "our-platform.com",
      "api.our-platform.com",
      "accounts.our-platform.com",
      "new.our-platform.com",
      "API.our-platform.com.",
    ],
    ...[
      "our-sites.net",
      "a.our-sites.net",
      "tasks.other-app.co.uk",
      "other-app.co.uk",
      "www.other-app.co.uk",
    ],
  ])("%s is of the site of the platform's own addresses", (text) => {
    expect(read(text)).toEqual({ fault: expect.stringMatching(/^belongs to the site of this server/) });
  });

  test("names next to and above a domain of websites that is a public suffix are refused too", () => {
    const hosted = customDomainReader({
      baseUrl: "https://a.example.com",
      consentUrl: "https://a.example.com",
      appUrl: "https://a.example.com",
      sitesDomain: "github.io",
    });
    for (const text of ["github.io", "me.github.io"]) expect(hosted(text)).toHaveProperty("fault");
  });
});
