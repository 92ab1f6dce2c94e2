import type { Pool } from "undici";
import type { OnBehalf } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { checkedAddresses, connectorTo, type GuardParts } from "./agent.ts";
import { undici } from "./undici.ts";

/** Connections to one origin for one holder, and the addresses that they use. */
export interface CheckedPool {
  readonly pool: Pool;
  readonly addresses: readonly string[];
}

/** Looks up the origin's name and checks every address. @throws the errors of `checkedAddresses`. */
export type CheckedPools = (origin: URL, holder: string, by: OnBehalf) => Promise<CheckedPool>;

interface Kept extends CheckedPool {
  /** Monotonic milliseconds. */
  readonly until: number;
}

/**
 * Shorter than the idle timeout of common servers, so that no request uses a connection that the server is
 * closing.
 */
const idleMs = 1_000;
/**
 * The lifetime of a pool. Then it closes after its running requests, and the next request opens a new pool.
 */
const keptMs = 5_000;

/**
 * Connections that the same holder reuses for a few seconds. The addresses are looked up and checked for
 * every request (spec/webhooks.md 10): a name with other addresses gets separate connections, or none.
 */
export function checkedPools(clock: Pick<Clock, "monotonic">, guard: Omit<GuardParts, "by">): CheckedPools {
  // Ordered from the oldest, because all have the same lifetime.
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
    const addresses = await checkedAddresses(
      host,
      { port: Number(port) || (secure ? 443 : 80), secure },
      { ...guard, by },
    );
    const now = clock.monotonic();
    closeOld(now);
    const name = [holder, origin, ...addresses.toSorted()].join(" ");
    const path = kept.get(name) ?? { pool: poolTo(origin, addresses), addresses, until: now + keptMs };
    kept.set(name, path);
    return path;
  };
}

const poolTo = (origin: string, addresses: readonly string[]): Pool =>
  new (undici().Pool)(origin, {
    connect: connectorTo(addresses),
    // If HTTP/2 is allowed, a pool waits for its first connection before it opens a second one.
    allowH2: false,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  });
