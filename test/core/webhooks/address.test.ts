import { describe, expect, test } from "vitest";
import { checkWebhookUrl } from "../../../src/core/addresses/address.ts";

const publicOnly = { plainLoopback: false };
const withLoopback = { plainLoopback: true };

describe("a webhook's address", () => {
  test.each([
    ["https://hooks.example.com", "https://hooks.example.com/"],
    ["https://hooks.example.com?t=1", "https://hooks.example.com/?t=1"],
    ["https://hooks.example.com/?t=1", "https://hooks.example.com/?t=1"],
    ["https://hooks.example.com:8443", "https://hooks.example.com:8443/"],
    ["HTTPS://Hooks.Example.com/A/../b?x=%2F//y?z", "HTTPS://Hooks.Example.com/A/../b?x=%2F//y?z"],
    ["https://[2001:DB8::1]?a", "https://[2001:DB8::1]/?a"],
  ])("%s is stored as %s", (input, kept) => {
    expect(checkWebhookUrl("url", input, publicOnly)).toBe(kept);
  });

  test.each([
    "http://127.0.0.1:9/in",
    "http://127.8.9.10/",
    "http://[::1]:8080/",
    "http://localhost/",
  ])("%s is accepted only if the operator allows the loopback", (url) => {
    expect(checkWebhookUrl("url", url, withLoopback)).toBe(url);
    expect(() => checkWebhookUrl("url", url, publicOnly)).toThrow(
      "url: is not a valid webhook URL: must begin with https://",
    );
  });

  test.each([
    "http://10.0.0.1/",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "http://128.0.0.1/",
    "http://0x7f.1/",
    "http://127.1/",
    "http://user@127.0.0.1/",
    "http://127.0.0.1/#f",
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
    "https:hooks.example.com",
    "https:/hooks.example.com",
    "https://",
    "https://user:pass@hooks.example.com/",
    "https://hooks.example.com/#",
    "https://hooks.example.com\\@evil.example/",
    " https://hooks.example.com/",
    "https://hooks.example.com/a b",
    "https://hooks.example.com/\n",
    "https://hööks.example.com/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://hooks.example.com:65536/",
    "https://hooks.example.com/%zz",
  ])("%s is refused with every setting", (url) => {
    for (const rules of [publicOnly, withLoopback]) {
      expect(() => checkWebhookUrl("url", url, rules)).toThrow(
        expect.objectContaining({ name: "Failure", reason: "invalid_argument" }),
      );
    }
  });
});
