import { type Clock, systemClock } from "../../src/core/clock.ts";

/** A turn of the offline agent that lasts until the test releases it. */
export interface Hold {
  /** The beginning of the message of the turn. */
  readonly text: string;
  release(): void;
}

/**
 * The system's clock, and turns that last until the test ends them, so that a slow machine does not end a
 * turn too early.
 */
export interface HoldingClock extends Clock {
  hold(): Hold;
}

/** Nothing else sleeps this long. */
const firstSeconds = 80_000;

export function holdingClock(): HoldingClock {
  const held = new Map<number, Promise<void>>();
  return {
    ...systemClock,
    async sleep(ms, signal) {
      const released = held.get(ms / 1000);
      if (released === undefined) return systemClock.sleep(ms, signal);
      signal?.throwIfAborted();
      const aborted = Promise.withResolvers<never>();
      const abort = () => aborted.reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      await Promise.race([released, aborted.promise]).finally(() =>
        signal?.removeEventListener("abort", abort),
      );
    },
    hold() {
      const seconds = firstSeconds + held.size;
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(seconds, promise);
      return { text: `[[sleep ${seconds}]]`, release: resolve };
    },
  };
}
