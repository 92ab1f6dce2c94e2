import { type Clock, systemClock } from "../../../src/core/clock.ts";

/** A clock that goes back by whole days, so that work lies in the past. */
export interface MovableDays {
  readonly clock: Clock;
  goBack(days: number): void;
}

export function movableDays(): MovableDays {
  let back = 0;
  return {
    clock: { ...systemClock, now: () => systemClock.now() - back },
    goBack(days) {
      back = days * 24 * 3_600_000;
    },
  };
}
