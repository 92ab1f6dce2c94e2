import { BlockList, isIP } from "node:net";

/**
 * Networks that requests of users may not reach (spec/webhooks.md 10): private, local and reserved ones, and
 * those that lead to such a network. The list is IANA's registry of special-purpose IPv4 addresses, and
 * multicast. It includes the anycast networks of AS112 (RFC 7534, RFC 7535) and AMT (RFC 7450) although they
 * are routed: a server in a nearby network answers there.
 */
const special4 = blockList(
  "ipv4",
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
);
/** The only IPv6 addresses that IANA has released for public use (spec/decisions.md 39). */
const globalUnicast = blockList("ipv6", "2000::/3");
/**
 * The parts of 2000::/3 that are not public, or that contain IPv4 addresses (6to4, Teredo). All other
 * networks in IANA's registry are outside 2000::/3. 2001::/23 has all protocol assignments: Teredo,
 * benchmarking, ORCHID, DETs, AMT, AS112.
 */
const specialUnicast = blockList(
  "ipv6",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "2620:4f:8000::/48",
  "3fff::/20",
);

/** Networks of one family, each as `network/prefix`. */
export function blockList(family: "ipv4" | "ipv6", ...networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const [network = "", prefix] = text.split("/");
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

/**
 * An address and its family; null for any other text. An IPv4-mapped IPv6 address is returned as its IPv4
 * address.
 */
export function parseAddress(text: string): { address: string; family: "ipv4" | "ipv6" } | null {
  const version = isIP(text);
  // A zone (`fe80::1%eth0`) is local to a machine: no public address has one.
  if (version === 0 || text.includes("%")) return null;
  if (version === 4) return { address: text, family: "ipv4" };
  const canonical = new URL(`http://[${text}]`).hostname;
  const mapped = /^\[::ffff:(?<high>[0-9a-f]{1,4}):(?<low>[0-9a-f]{1,4})\]$/.exec(canonical)?.groups;
  if (mapped === undefined) return { address: canonical.slice(1, -1), family: "ipv6" };
  return { address: dotted(mapped["high"] ?? "", mapped["low"] ?? ""), family: "ipv4" };
}

const dotted = (high: string, low: string): string =>
  [high, low]
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
    .join(".");

export function isPublic(text: string): boolean {
  const parsed = parseAddress(text);
  if (parsed === null) return false;
  const { address, family } = parsed;
  if (family === "ipv4") return !special4.check(address, family);
  return globalUnicast.check(address, family) && !specialUnicast.check(address, family);
}
