import { isIPv6 } from "node:net";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { RateCounters } from "../core/limits/counter.ts";
import type { Operation, RateClass } from "../operations.ts";

/** Calls a minute of one account to one operation, over all its credentials (contract/v2.md 4). */
const perMinute: Record<RateClass, number> = { start: 10, write: 40, read: 100, report: 600 };

/** Calls a minute from one address that show no good credential, and as many to services that ask for none. */
const perMinuteAndAddress = 60;

/** Requests a minute of one OAuth client to one endpoint, and those of one address that prove nothing (contract/decisions.md 32). */
const perMinuteAndClient = 60;
const unprovenPerMinute = 300;

/** From this limit on a node takes a tenth at once, and counts that down by itself. */
const blockFrom = 100;

/** Where a caller stands with its limit: the `RateLimit-*` headers. `reset` is in whole seconds. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** A call beyond a rate limit; its message names the limit and the calls that it counts. */
export class OverLimit extends Failure {
  readonly rate: RateState;

  /** @param calls what is counted, for instance ` for task.create`. */
  constructor(rate: RateState, calls: string) {
    super("limited", `rate limit of ${rate.limit} calls a minute${calls} exceeded`, { retryAfter: rate.reset });
    this.rate = rate;
  }
}

export interface Limits {
  /** Counts a call of an account; null when limits are lifted. @throws OverLimit */
  account(accountId: string, operation: Operation): Promise<RateState | null>;
  /** Counts a call that showed no good credential. @throws OverLimit */
  stranger(address: string): Promise<void>;
  /** Counts a call to a service that asks for no credential, apart from those that fail for theirs. @throws OverLimit */
  anonymous(address: string): Promise<void>;
  /** Counts a request of a client to an OAuth endpoint, from one address, whatever it proves. @throws OverLimit */
  client(endpoint: string, clientId: string, address: string): Promise<void>;
  /** Counts one that proves to be the client's, over all addresses. @throws OverLimit */
  proven(endpoint: string, clientId: string): Promise<void>;
  /** Counts one that proves nothing: it never counts against other addresses. @throws OverLimit */
  unproven(address: string): Promise<void>;
}

/**
 * Rate limits in fixed windows of a minute, never above their number over all
 * nodes: what a node counts by itself was taken from the shared counter before.
 *
 * @param factor multiplies every number; null lifts them all.
 */
export function limits(counters: RateCounters, clock: Clock, factor: number | null): Limits {
  /** What this node has in hand, by key: taken from the shared counter, not yet used. */
  let hand = new Map<string, Hand>();
  let handMinute = 0;

  async function count(key: string, limit: number, calls: string): Promise<RateState> {
    const now = clock.now();
    const minute = Math.floor(now / 60_000);
    const reset = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
    if (minute !== handMinute) [hand, handMinute] = [new Map(), minute];
    const held = hand.get(key) ?? { have: 0, left: limit, taking: undefined };
    hand.set(key, held);
    while (held.have === 0 && held.left > 0) await taken(held, key, minute, limit);
    if (held.have === 0) throw new OverLimit({ limit, remaining: 0, reset }, calls);
    held.have -= 1;
    return { limit, remaining: held.have + held.left, reset };
  }

  /** Calls that come at once share a block: if each took its own, other nodes would run out of what nobody uses here. */
  function taken(held: Hand, key: string, minute: number, limit: number): Promise<void> {
    held.taking ??= take(held, key, minute, limit).finally(() => {
      held.taking = undefined;
    });
    return held.taking;
  }

  async function take(held: Hand, key: string, minute: number, limit: number): Promise<void> {
    const { granted, left } = await counters.take(key, minute, blockOf(limit), limit);
    held.have += granted;
    held.left = left;
  }

  const counted = async (key: string, most: number, calls: string): Promise<RateState | null> =>
    factor === null ? null : count(key, Math.max(1, Math.floor(most * factor)), calls);

  return {
    account: (accountId, { countedAs, countedWith, rateClass }) =>
      counted(`${accountId} ${countedAs}`, perMinute[rateClass], ` for ${countedWith.join(" and ")}`),
    async stranger(address) {
      await counted(`stranger ${network(address)}`, perMinuteAndAddress, " without a valid credential");
    },
    async anonymous(address) {
      await counted(`anonymous ${network(address)}`, perMinuteAndAddress, " without a credential");
    },
    async client(endpoint, clientId, address) {
      await counted(`oauth ${endpoint} ${clientId} ${network(address)}`, perMinuteAndClient, ` for ${endpoint}`);
    },
    async proven(endpoint, clientId) {
      await counted(`oauth ${endpoint} ${clientId}`, perMinuteAndClient, ` for ${endpoint}`);
    },
    async unproven(address) {
      await counted(`oauth unproven ${network(address)}`, unprovenPerMinute, " without a valid credential");
    },
  };
}

/** What a node has taken of a limit and not yet used, and what was left to take then. */
interface Hand {
  have: number;
  left: number;
  taking: Promise<void> | undefined;
}

const blockOf = (limit: number): number => (limit >= blockFrom ? Math.floor(limit / 10) : 1);

/** One customer of IPv6 has at least a /64: its addresses count as one. */
export function network(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...(tail ?? "").split(":").filter(Boolean)].slice(0, 4).join(":");
}
