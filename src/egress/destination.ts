import type { AllowedAddresses } from "../config/address-range.ts";
import { blockList, isPublic, parseAddress } from "./public-address.ts";

/** One address to connect to, as it was resolved. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  /** Over TLS. */
  readonly secure: boolean;
}

/** Where requests to addresses that strangers give may go. */
export interface Reach {
  /** Of public addresses. */
  readonly ports: readonly number[];
  /** Whether public addresses may be spoken to without TLS. */
  readonly plain: boolean;
  /** Addresses that need not be public, as the operator allows them. */
  readonly allowed: readonly AllowedAddresses[];
}

/** Whether a request may go there; denied unless one rule says otherwise. */
export function mayReach({ ports, plain, allowed }: Reach, destination: Destination): boolean {
  const { address, port, secure } = destination;
  if (isPublic(address) && ports.includes(port) && (secure || plain)) return true;
  return allowed.some((entry) => allows(entry, destination));
}

const loopbacks = { ipv4: blockList("ipv4", "127.0.0.0/8"), ipv6: blockList("ipv6", "::1/128") };

/** `loopback` permits any port and plain http; a range its one port, over TLS (contract/decisions.md 39). */
function allows(entry: AllowedAddresses, { address: text, port, secure }: Destination): boolean {
  const parsed = parseAddress(text);
  if (parsed === null) return false;
  const { address, family } = parsed;
  if (entry.kind === "loopback") return loopbacks[family].check(address, family);
  const { network, prefix } = entry;
  return secure && port === entry.port && family === entry.family && blockList(family, `${network}/${prefix}`).check(address, family);
}
