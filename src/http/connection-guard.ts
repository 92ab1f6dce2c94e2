import { BlockList, isIP, isIPv6 } from "node:net";
import { network } from "../call/limit.ts";
import { Budget } from "./budget.ts";

/** This machine's own addresses. */
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/**
 * Bounds the connections of one address (of IPv6, of a /64) that are open at a time. Those of loopback
 * are not counted: all clients of a proxy on this machine share its address.
 *
 * @param most null: any number.
 * @returns a function that takes the address of a new connection, and returns what to call when the connection ends; null when it is refused.
 */
export function connectionGuard(most: number | null): (address: string) => (() => void) | null {
  const open = new Budget({ inAll: Number.POSITIVE_INFINITY, each: most ?? Number.POSITIVE_INFINITY });
  return (address) => {
    if (most === null || isLoopback(address)) return () => undefined;
    const peer = network(address);
    return open.take(peer, 1) ? () => open.give(peer, 1) : null;
  };
}

const isLoopback = (address: string): boolean => isIP(address) > 0 && loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
