import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { event, senderWith, webhookAt } from "./send-rig.ts";

/** The addresses of the tests' names. */
const names: Readonly<Record<string, readonly string[]>> = {
  "loopback.test": ["127.0.0.1"],
  "private.test": ["10.0.0.1"],
  "metadata.test": ["169.254.169.254"],
  "six.test": ["::1"],
  "unique-local.test": ["fd00::1"],
  "mapped.test": ["::ffff:10.0.0.1"],
  "mapped-hex.test": ["::ffff:7f00:1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "six-to-four.test": ["2002:7f00:1::"],
  "one-bad.test": ["93.184.216.34", "192.168.1.1"],
  "one-bad-first.test": ["192.168.1.1", "93.184.216.34"],
  "zone.test": ["fe80::1%eth0"],
  "nowhere.test": [],
  "public.test": ["93.184.216.34"],
};

/** Literal addresses outside the public internet (spec/webhooks.md 10). */
const literals = [
  ...[
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.1.2.3",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
  ],
  ...[
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
  ],
  ...["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
  ...[
    "[::]",
    "[::1]",
    "[fe80::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[100::1]",
    "[2002:7f00:1::]",
  ],
  ...[
    "[64:ff9b::a00:1]",
    "[64:ff9b:1::1]",
    "[5f00::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a00:1]",
    "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]",
  ],
  // The same machine in other spellings: decimal, octal, hexadecimal, short, with a dot, full width, escaped.
  ...[
    "2130706433",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "017700000001",
    "127.1",
    "127.0.1",
    "127.0.0.1.",
    "１２７.０.０.１",
    "%31%32%37.0.0.1",
  ],
  ...["3232235777", "0xc0a80101", "0", "①②⑦.0.0.1"],
];

const hostile: readonly string[] = [
  ...literals.map((host) => `https://${host}/hook`),
  ...Object.keys(names).flatMap((name) => (name === "public.test" ? [] : [`https://${name}/hook`])),
  // URLs that lead to a public address, and are refused nevertheless.
  ...[
    "http://public.test/",
    "http://public.test:443/",
    "https://public.test:22/",
    "https://public.test:80/",
    "https://public.test:8443/",
  ],
  ...[
    "https://user@public.test/",
    "https://user:word@public.test/",
    "https://:word@public.test/",
    "https://public.test/#part",
  ],
  ...[
    "https://93.184.216.34:25/",
    "http://93.184.216.34/",
    "https://127.0.0.1:443@public.test/",
    "https://public.test/#",
  ],
  ...[
    "ftp://public.test/",
    "file:///etc/passwd",
    "gopher://public.test/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "ws://public.test/",
  ],
  ...[
    "unix:/var/run/docker.sock",
    "//public.test/",
    "public.test",
    "https://",
    "https:///path",
    "",
    "https://public.test:99999/",
  ],
];

describe("hostile addresses of webhooks", () => {
  let connects: MockInstance<Socket["connect"]>;
  beforeEach(() => {
    connects = vi.spyOn(Socket.prototype, "connect");
  });
  afterEach(() => connects.mockRestore());

  test("are a table of at least 60", () => expect(new Set(hostile).size).toBeGreaterThanOrEqual(60));

  const send = senderWith({ allow: "", resolve: async (host) => names[host] ?? [] });

  test.each(hostile)("%s is refused, and no server is contacted", async (url) => {
    expect(await send(webhookAt(url), event)).toMatchObject({
      delivered: false,
      status: null,
      failure: "address_refused",
    });
    expect(connects).not.toHaveBeenCalled();
  });

  test("a name that is public at the check and private at the connection is never looked up twice", async () => {
    let lookUps = 0;
    const rebinding = senderWith({
      allow: "",
      resolve: async () => {
        lookUps += 1;
        return lookUps % 2 === 1 ? ["192.0.2.1"] : ["127.0.0.1"];
      },
    });
    expect(await rebinding(webhookAt("https://rebinding.test/"), event)).toMatchObject({
      failure: "address_refused",
    });
    expect(lookUps).toBe(1);
    expect(await rebinding(webhookAt("https://rebinding.test/"), event)).toMatchObject({
      failure: "address_refused",
    });
    expect([lookUps, connects.mock.calls.length]).toEqual([2, 0]);
  });

  test.each([
    ["loopback", "http://10.0.0.1/"],
    ["loopback", "https://private.test/"],
    ["loopback", "http://public.test/"],
    ["loopback", "http://[::ffff:10.0.0.1]/"],
    ["10.1.0.0/16:8443", "https://10.1.2.3/"],
    ["10.1.0.0/16:8443", "http://10.1.2.3:8443/"],
    ["10.1.0.0/16:8443", "https://10.2.0.0:8443/"],
    ["10.1.0.0/16:8443", "https://private.test:8443/"],
  ])("WEBHOOK_ALLOW=%s allows nothing next to it: %s", async (allow, url) => {
    const allowing = senderWith({ allow, resolve: async (host) => names[host] ?? [] });
    expect(await allowing(webhookAt(url), event)).toMatchObject({ failure: "address_refused" });
    expect(connects).not.toHaveBeenCalled();
  });
});
