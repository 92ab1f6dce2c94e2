import { lookup } from "node:dns";
import { lookup as lookupAll } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { UsageError } from "../frame/failures.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether an IP address is one of this machine's loopback addresses. */
export const isLoopback = (address: string): boolean =>
  loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** Where events are forwarded to. */
export interface Target {
  readonly url: URL;
  /** Addresses that are not loopback are allowed. */
  readonly allowsRemote: boolean;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

/** Reads the address of a receiver, and looks its name up. @throws UsageError unless events may go there */
export async function readTarget(text: string, allowsRemote: boolean): Promise<Target> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError("--forward-to: must be an http or https address");
  if (url.username !== "" || url.password !== "")
    throw new UsageError("--forward-to: must have no user name and no password");
  url.hash = "";
  if (allowsRemote) return { url, allowsRemote };
  const found = await lookupAll(hostOf(url), { all: true }).catch(() => []);
  if (found.length === 0) throw new UsageError(`--forward-to: ${url.hostname} has no address`);
  const other = found.find(({ address }) => !isLoopback(address));
  if (other)
    throw new UsageError(
      `--forward-to: ${other.address} is not this machine; to send events there, add --allow-remote`,
    );
  return { url, allowsRemote };
}

/**
 * The look-up of each connection: the name can have another address than at the start. A literal address was
 * checked there.
 */
export const lookupOf =
  ({ allowsRemote }: Target): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const refused = allowsRemote ? undefined : addresses?.find(({ address }) => !isLoopback(address));
      if (error) callback(error, []);
      else if (refused) callback(new Error(`${refused.address} is not this machine`), []);
      else if (options.all) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
    });
