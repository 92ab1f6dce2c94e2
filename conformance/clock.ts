import { type Clock, systemClock } from "../src/core/clock.ts";

/**
 * The machine's clock, which can be moved forward, so that a lease ends without waiting. `sleep` uses the
 * machine's clock.
 */
export interface MovableClock extends Clock {
  advance(ms: number): void;
}

export function movableClock(): MovableClock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    sleep: systemClock.sleep,
    advance(ms) {
      ahead += ms;
    },
  };
}
