import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Store, Tx } from "../store.ts";

/** How long a writer counts as alive after its last renewal, in milliseconds. */
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
 * other than `internal`, or when the store has not answered long enough that other
 * processes may consider the writer dead.
 */
export function holdLease(
  changeBytes: Store["change"],
  clock: Clock,
  renew: (tx: Tx, leaseUntil: number) => Promise<void>,
): Lease {
  const [lost, ended] = [new AbortController(), new AbortController()];
  let renewedAt = clock.monotonic();

  async function renewOnce(): Promise<void> {
    const began = clock.monotonic();
    try {
      await changeBytes((tx) => renew(tx, clock.now() + leaseMs));
      renewedAt = began;
    } catch (thrown) {
      const isOver = thrown instanceof Failure && thrown.reason !== "internal";
      if (isOver || clock.monotonic() - renewedAt > leaseMs - renewMs) lost.abort(thrown);
    }
  }

  async function renewUntilEnd(): Promise<void> {
    while (!ended.signal.aborted && !lost.signal.aborted) {
      await clock.sleep(renewMs, ended.signal);
      await renewOnce();
    }
  }

  // `end` interrupts the sleep, which rejects.
  renewUntilEnd().catch(() => undefined);
  return { lost: lost.signal, end: () => ended.abort("ended") };
}
