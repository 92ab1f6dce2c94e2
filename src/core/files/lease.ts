import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Store, Tx } from "../store.ts";

/** How long a writer counts as alive after it has last said so, in milliseconds. */
export const leaseMs = 60_000;

const renewMs = 15_000;

/** A lease that is renewed until it is ended or lost. */
export interface Lease {
  /** Aborted with a failure when it is lost: nothing more may be written. */
  readonly lost: AbortSignal;
  end(): void;
}

/**
 * Renews a lease that has just been taken. It is lost when `renew` throws a failure
 * that says so, or when the store has not answered for so long that others may take
 * the writer for dead.
 */
export function holdLease(store: Store, clock: Clock, renew: (tx: Tx, leaseUntil: number) => Promise<void>): Lease {
  const [lost, ended] = [new AbortController(), new AbortController()];
  let renewed = clock.monotonic();

  async function round(): Promise<void> {
    const began = clock.monotonic();
    try {
      await store.change((tx) => renew(tx, clock.now() + leaseMs));
      renewed = began;
    } catch (thrown) {
      const isOver = thrown instanceof Failure && thrown.reason !== "internal";
      if (isOver || clock.monotonic() - renewed > leaseMs - renewMs) lost.abort(thrown);
    }
  }

  async function rounds(): Promise<void> {
    while (!ended.signal.aborted && !lost.signal.aborted) {
      await clock.sleep(renewMs, ended.signal);
      await round();
    }
  }

  // It ends by being woken from its sleep.
  rounds().catch(() => undefined);
  return { lost: lost.signal, end: () => ended.abort("ended") };
}
