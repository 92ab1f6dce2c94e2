import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublic, parseAddress } from "../../src/adapters/egress/public-address.ts";

/** The first and the last address of each network that spec/webhooks.md 10 lists. */
const privateAddresses = [
  ...[
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
  ],
  ...[
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.255",
    "192.0.2.0",
  ],
  ...[
    "192.0.2.255",
    "192.88.99.0",
    "192.88.99.255",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
  ],
  ...[
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",
  ],
  ...[
    "::",
    "::1",
    "fe80::1",
    "febf::1",
    "fc00::1",
    "fdff::1",
    "ff02::1",
    "2001:db8::1",
    "2001:db8:ffff::1",
    "3fff::1",
    "3fff:fff::1",
  ],
  ...[
    "100::1",
    "2002::1",
    "2002:a00:1::1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "5f00::1",
    "1fff::1",
    "4000::1",
    "fec0::1",
    "::10.0.0.1",
  ],
  ...[
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "::FFFF:127.0.0.1",
    "0:0:0:0:0:ffff:a9fe:a9fe",
    "fe80::1%eth0",
    "2600::1%1",
  ],
  ...["", "localhost", "127.1", "0x7f.1", "010.0.0.1", "1.2.3", "[::1]", "8.8.8.8 ", "8.8.8.8/32"],
];
/** Well-known addresses, the borders of 2000::/3, and two forms of an IPv4 address in IPv6. */
const publicAddresses = [
  ...[
    "1.0.0.0",
    "8.8.8.8",
    "223.255.255.255",
    "2000::",
    "2001:4860:4860::8888",
    "2600::1",
    "3ffe::1",
    "3fff:ffff:ffff::1",
  ],
  ...["::ffff:8.8.8.8", "::ffff:808:808"],
];

/**
 * IANA's complete registries of special-purpose addresses for IPv4 and IPv6, including those listed as
 * globally reachable: each of those leads to a protocol's nearest server, or to an IPv4 address.
 */
const specialPurpose = [
  ...[
    "0.0.0.0/8",
    "0.0.0.0/32",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
  ],
  ...[
    "192.0.0.0/29",
    "192.0.0.8/32",
    "192.0.0.9/32",
    "192.0.0.10/32",
    "192.0.0.170/32",
    "192.0.0.171/32",
    "192.0.2.0/24",
  ],
  ...[
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.88.99.2/32",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
  ],
  ...["198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32"],
  ...[
    "::1/128",
    "::/128",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001::/32",
    "2001:1::1/128",
  ],
  ...[
    "2001:1::2/128",
    "2001:1::3/128",
    "2001:2::/48",
    "2001:3::/32",
    "2001:4:112::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:30::/28",
  ],
  ...["2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10"],
];
/** Multicast addresses have separate registries. */
const multicast = ["224.0.0.0/4", "ff00::/8"];

interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

const groupsOf = (part: string): readonly string[] => (part === "" ? [] : part.split(":"));

/** The first and the last address of a network, as numbers. */
function rangeOf(network: string): Range {
  const [address = "", prefix = ""] = network.split("/");
  const isIPv4 = !address.includes(":");
  const [front = [], back = []] = address.split("::").map(groupsOf);
  const groups = [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0"), ...back];
  const first = isIPv4
    ? address.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n)
    : groups.reduce((sum, part) => (sum << 16n) + BigInt(`0x${part}`), 0n);
  return { first, last: first | ((1n << (BigInt(isIPv4 ? 32 : 128) - BigInt(prefix))) - 1n) };
}

const ipv4Text = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((bits) => (value >> bits) & 255n).join(".");
const ipv6Text = (value: bigint): string =>
  Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(":");
const textOf = (network: string) => (network.includes(":") ? ipv6Text : ipv4Text);

function endsOf(network: string): readonly string[] {
  const { first, last } = rangeOf(network);
  return [first, last].map(textOf(network));
}

/**
 * The addresses directly before and after each network of a family that are in no other network, and satisfy
 * `where`.
 */
function neighboursOf(
  networks: readonly string[],
  text: (value: bigint) => string,
  where: (value: bigint) => boolean,
): readonly string[] {
  const ranges = networks.map(rangeOf);
  const isInNone = (value: bigint) => !ranges.some(({ first, last }) => first <= value && value <= last);
  const beside = ranges.flatMap(({ first, last }) => [first - 1n, last + 1n]);
  return [...new Set(beside.filter((value) => isInNone(value) && where(value)))].map(text);
}

const isIPv6 = (network: string): boolean => network.includes(":");
const ipv4Neighbours = neighboursOf(
  [...specialPurpose, ...multicast].filter((network) => !isIPv6(network)),
  ipv4Text,
  (value) => value >= 0n && value < 1n << 32n,
);
/** Outside 2000::/3 nothing is public, so only the neighbours in it are. */
const ipv6Neighbours = neighboursOf(
  [...specialPurpose, ...multicast].filter(isIPv6),
  ipv6Text,
  (value) => value >> 125n === 1n,
);

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join("."));
const group = fc.integer({ min: 0, max: 0xffff });

describe("addresses of the public internet", () => {
  test.each(privateAddresses)("%s is not public", (address) => expect(isPublic(address)).toBe(false));
  test.each([...specialPurpose, ...multicast])("no special-purpose network is public: %s", (network) => {
    expect(endsOf(network).map((address) => [address, isPublic(address)])).toEqual(
      endsOf(network).map((address) => [address, false]),
    );
  });
  test.each([
    ...ipv4Neighbours,
    ...ipv6Neighbours,
  ])("%s, next to a special-purpose network, is public", (address) => {
    expect(isPublic(address)).toBe(true);
  });
  test.each(publicAddresses)("%s is public", (address) => expect(isPublic(address)).toBe(true));

  test("an IPv4-mapped address is public exactly when its IPv4 address is, in every spelling", () => {
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), ([a, b, c, d]) => {
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        const plain = [a, b, c, d].join(".");
        for (const form of [
          `::ffff:${plain}`,
          `::FFFF:${hex}`,
          `0:0:0:0:0:ffff:${hex}`,
          `0000::0:ffff:${plain}`,
        ]) {
          expect(parseAddress(form)).toEqual({ address: plain, family: "ipv4" });
          expect(isPublic(form)).toBe(isPublic(plain));
        }
      }),
    );
  });

  test("an IPv6 address outside 2000::/3 is public only as a public IPv4 address", () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const [first = 0] = groups;
        fc.pre(first >> 13 !== 1);
        const text = groups.map((value) => value.toString(16)).join(":");
        const parsed = parseAddress(text);
        expect(isPublic(text)).toBe(parsed?.family === "ipv4" && isPublic(parsed.address));
      }),
    );
  });

  test("every form of an IPv4 address in a URL becomes one address before the check", () => {
    fc.assert(
      fc.property(ipv4, (plain) => {
        const value = plain.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
        const forms = [
          `${value}`,
          `0x${value.toString(16)}`,
          `0${value.toString(8)}`,
          plain
            .split(".")
            .map((part) => `0x${Number(part).toString(16)}`)
            .join("."),
        ];
        for (const form of forms) expect(new URL(`http://${form}/`).hostname).toBe(plain);
      }),
    );
  });
});
