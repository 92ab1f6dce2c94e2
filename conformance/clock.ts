import { type Clock, systemClock } from "../src/core/clock.ts";

/** The machine's clock, which can leap forward: so that a lease is over without waiting for it. Sleep goes by the machine's own. */
export interface LeapingClock extends Clock {
  leap(ms: number): void;
}

export function leapingClock(): LeapingClock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    sleep: systemClock.sleep,
    leap(ms) {
      ahead += ms;
    },
  };
}
