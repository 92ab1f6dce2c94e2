import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublic, parseAddress } from "../../src/egress/public-address.ts";

/** The first and the last address of each network that contract/webhooks.md 10 lists. */
const refused = [
  ...["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255"],
  ...["169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0"],
  ...["192.0.2.255", "192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.0"],
  ...["198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"],
  ...["::", "::1", "fe80::1", "febf::1", "fc00::1", "fdff::1", "ff02::1", "2001:db8::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1"],
  ...["100::1", "2002::1", "2002:a00:1::1", "64:ff9b::a00:1", "64:ff9b:1::1", "5f00::1", "1fff::1", "4000::1", "fec0::1", "::10.0.0.1"],
  ...["::ffff:10.0.0.1", "::ffff:7f00:1", "::FFFF:127.0.0.1", "0:0:0:0:0:ffff:a9fe:a9fe", "fe80::1%eth0", "2600::1%1"],
  ...["", "localhost", "127.1", "0x7f.1", "010.0.0.1", "1.2.3", "[::1]", "8.8.8.8 ", "8.8.8.8/32"],
];
/** Their public neighbours, and well-known ones. */
const accepted = [
  ...["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255"],
  ...["169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255"],
  ...["192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"],
  ...["2000::", "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2600::1", "3ffe::1", "3fff:1000::1"],
  ...["::ffff:8.8.8.8", "::ffff:808:808"],
];

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join("."));
const group = fc.integer({ min: 0, max: 0xffff });

describe("addresses of the public internet", () => {
  test.each(refused)("%s is not public", (address) => expect(isPublic(address)).toBe(false));
  test.each(accepted)("%s is public", (address) => expect(isPublic(address)).toBe(true));

  test("an IPv4-mapped address is as public as the IPv4 address in it, however it is spelled", () => {
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), ([a, b, c, d]) => {
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        const plain = [a, b, c, d].join(".");
        for (const form of [`::ffff:${plain}`, `::FFFF:${hex}`, `0:0:0:0:0:ffff:${hex}`, `0000::0:ffff:${plain}`]) {
          expect(parseAddress(form)).toEqual({ address: plain, family: "ipv4" });
          expect(isPublic(form)).toBe(isPublic(plain));
        }
      }),
    );
  });

  test("an IPv6 address outside of 2000::/3 is public only as a public IPv4 address", () => {
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

  test("every form of an IPv4 address that a URL may hold becomes one address before it is judged", () => {
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
