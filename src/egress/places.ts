import type { Clock } from "../core/clock.ts";
import type { OnBehalf } from "../core/on-behalf.ts";

/** Gives a place back; a second call does nothing. */
export type FreePlace = () => void;

/** Places for work, of which one account can hold only some. */
export interface PlaceBounds {
  readonly perAccount: number;
  readonly inAll: number;
  /** Milliseconds to wait for a place. */
  readonly waitMs: number;
}

interface Waiter {
  readonly accountId: string;
  readonly found: (free: FreePlace) => void;
}

/**
 * Hands out places. A caller waits when there is none. A free place goes to the caller that has waited longest among
 * those whose account has room, so an account that holds all of its places does not delay other accounts.
 *
 * @returns a place, or null when none got free in time; rejects with the signal's reason once that is aborted.
 */
export function places({ perAccount, inAll, waitMs }: PlaceBounds, clock: Pick<Clock, "sleep">) {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let all = 0;

  const hasRoom = (accountId: string): boolean => all < inAll && (held.get(accountId) ?? 0) < perAccount;

  function count(accountId: string, by: 1 | -1): void {
    all += by;
    const now = (held.get(accountId) ?? 0) + by;
    if (now === 0) held.delete(accountId);
    else held.set(accountId, now);
  }

  function take(accountId: string): FreePlace {
    let isHeld = true;
    count(accountId, 1);
    return () => {
      if (!isHeld) return;
      isHeld = false;
      count(accountId, -1);
      handOut();
    };
  }

  function handOut(): void {
    for (const waiter of waiting) {
      if (all >= inAll) return;
      if (!hasRoom(waiter.accountId)) continue;
      waiting.delete(waiter);
      waiter.found(take(waiter.accountId));
    }
  }

  const wait = (accountId: string, signal: AbortSignal): Promise<FreePlace | null> =>
    new Promise((resolve, reject) => {
      const over = new AbortController();
      const found = (free: FreePlace) => {
        over.abort();
        resolve(free);
      };
      const waiter = { accountId, found };
      waiting.add(waiter);
      // A caller that got a place in the meantime is no longer among those who wait.
      clock.sleep(waitMs, AbortSignal.any([signal, over.signal])).then(
        () => waiting.delete(waiter) && resolve(null),
        () => waiting.delete(waiter) && reject(signal.reason),
      );
    });

  return async ({ accountId, signal }: OnBehalf): Promise<FreePlace | null> => {
    signal.throwIfAborted();
    return hasRoom(accountId) ? take(accountId) : wait(accountId, signal);
  };
}
