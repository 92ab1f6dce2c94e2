import type { Clock } from "../../src/core/clock.ts";

/** A clock that a test moves. A sleep on it ends at once, and moves the time. */
export interface MovableClock extends Clock {
  /** Sets the time of day, in either direction. */
  set(now: number): void;
  /** Lets time pass. */
  pass(ms: number): void;
}

export function movableClock(start = 1_790_000_000_000): MovableClock {
  let now = start;
  let monotonic = 0;
  const pass = (ms: number) => {
    now += ms;
    monotonic += ms;
  };
  return {
    now: () => now,
    monotonic: () => monotonic,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      pass(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    set(to) {
      now = to;
    },
    pass,
  };
}
