import { BlockList, isIP, isIPv6 } from "node:net";
import { network } from "../pipeline/limit.ts";

/** The largest amounts that may be held at a time: in total, and by each holder. */
export interface BudgetLimits {
  readonly total: number;
  readonly perHolder: number;
}

/** Counts the amounts (bytes, connections, requests) that are held at a time, by holder. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #byHolder = new Map<string, number>();
  #held = 0;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
  }

  /** The total amount over all holders. */
  get held(): number {
    return this.#held;
  }

  /** The number of holders with more than zero. */
  get holders(): number {
    return this.#byHolder.size;
  }

  /** Takes an amount for a holder. Returns false and takes nothing when a limit would be exceeded. */
  take(holder: string, amount: number): boolean {
    const amountOfHolder = (this.#byHolder.get(holder) ?? 0) + amount;
    if (amountOfHolder > this.limits.perHolder || this.#held + amount > this.limits.total) return false;
    this.#set(holder, amountOfHolder);
    this.#held += amount;
    return true;
  }

  release(holder: string, amount: number): void {
    this.#set(holder, (this.#byHolder.get(holder) ?? 0) - amount);
    this.#held -= amount;
  }

  #set(holder: string, amountOfHolder: number): void {
    if (amountOfHolder === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, amountOfHolder);
  }
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/**
 * Limits the open connections of one address (of IPv6, of a /64). Loopback is not counted: all clients of a
 * proxy on this machine share its address.
 *
 * @param most the limit; null: no limit.
 * @returns a function that takes the address of a new connection and returns a function to call when the
 * connection ends; null when the connection is refused.
 */
export function connectionGuard(most: number | null): (address: string) => (() => void) | null {
  const open = new Budget({ total: Number.POSITIVE_INFINITY, perHolder: most ?? Number.POSITIVE_INFINITY });
  return (address) => {
    if (most === null || isLoopback(address)) return () => undefined;
    const peer = network(address);
    return open.take(peer, 1) ? () => open.release(peer, 1) : null;
  };
}

const isLoopback = (address: string): boolean =>
  isIP(address) > 0 && loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
