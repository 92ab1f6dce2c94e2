import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { RateCounters } from "../limits/counter.ts";

/** Attempts to prove by password who one is, a minute: for an account, whether it exists or not, and from an address. */
const perMinute = { account: 10, address: 30 } as const;

/** Counts an attempt, before anything is looked at. @throws Failure `limited` */
export type CountAttempt = (email: string, address: string) => Promise<void>;

/**
 * Limits attempts in windows of a minute, over all nodes. RATE_LIMITS does not lift
 * them: they are no courtesy to others but what keeps passwords from being guessed.
 *
 * @param network what of an address counts as one customer.
 */
export function attemptCounter(counters: RateCounters, clock: Clock, network: (address: string) => string): CountAttempt {
  async function count(kind: keyof typeof perMinute, whose: string): Promise<void> {
    const now = clock.now();
    const minute = Math.floor(now / 60_000);
    // Whatever was typed, the key has a bounded length, and no address stands in it.
    const key = `sign-in ${kind} ${createHash("sha256").update(whose).digest("base64url")}`;
    const { granted } = await counters.take(key, minute, 1, perMinute[kind]);
    const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
    if (granted === 0) throw new Failure("limited", "too many attempts to sign in", { retryAfter });
  }
  return async (email, address) => {
    await count("address", network(address));
    await count("account", email);
  };
}
