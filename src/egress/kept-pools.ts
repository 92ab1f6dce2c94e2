import { Pool } from "undici";
import type { Clock } from "../core/clock.ts";
import type { OnBehalf } from "../core/on-behalf.ts";
import { checkedAddresses, connectorTo, type GuardParts } from "./agent.ts";

/** Connections to one origin for one holder, and the addresses that all of them lead to. */
export interface CheckedPool {
  readonly pool: Pool;
  readonly addresses: readonly string[];
}

/** Looks the origin's name up and checks every address. @throws as `checkedAddresses`. */
export type CheckedPools = (origin: URL, holder: string, by: OnBehalf) => Promise<CheckedPool>;

interface Kept extends CheckedPool {
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Shorter than the servers in use wait for another request: what they are about to close is not written to. */
const idleMs = 1_000;
/** After that, connections end with the requests that are under way, and the next one is made anew. */
const keptMs = 5_000;

/**
 * Connections that are used again for a few seconds, by the same holder alone. The addresses are looked up and checked for
 * every request (contract/webhooks.md 10): a name that leads elsewhere by then has connections of its own, or none.
 */
export function checkedPools(clock: Pick<Clock, "monotonic">, guard: Omit<GuardParts, "by">): CheckedPools {
  // The oldest first, as all are kept for as long.
  const kept = new Map<string, Kept>();

  function closeOld(now: number): void {
    for (const [name, { pool, until }] of kept) {
      if (until > now) return;
      kept.delete(name);
      void pool.close();
    }
  }

  return async ({ origin, hostname, protocol, port }, holder, by) => {
    const secure = protocol === "https:";
    const host = hostname.replace(/^\[|\]$/g, "");
    const addresses = await checkedAddresses(host, { port: Number(port) || (secure ? 443 : 80), secure }, { ...guard, by });
    const now = clock.monotonic();
    closeOld(now);
    const name = [holder, origin, ...addresses.toSorted()].join(" ");
    const path = kept.get(name) ?? { pool: poolTo(origin, addresses), addresses, until: now + keptMs };
    kept.set(name, path);
    return path;
  };
}

const poolTo = (origin: string, addresses: readonly string[]): Pool =>
  new Pool(origin, {
    connect: connectorTo(addresses),
    // With HTTP/2 in sight a pool waits for its first connection before it opens a second.
    allowH2: false,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  });
