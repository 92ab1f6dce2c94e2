import { setTimeout as delay } from "node:timers/promises";

/** Time as a parameter, so that a test moves it instead of waiting. */
export interface Clock {
  /** Unix milliseconds. It may step in either direction. */
  now(): number;
  /** Milliseconds that only grow, from an arbitrary start: for leases and time-outs. */
  monotonic(): number;
  /**
   * Resolves after `ms`, or at once if `ms` is not positive. Rejects with the signal's reason once it is
   * aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * The same by the time of day, for work that repeats and for pauses that users ask for: it also ends when
   * test mode moves the time past its end. Absent: `sleep` is used.
   */
  pause?(ms: number, signal?: AbortSignal, of?: "run"): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // A caller that sleeps until a given time may be a little late, and Node warns about negative timers.
  sleep: (ms, signal) => delay(Math.max(0, ms), undefined, signal ? { signal, ref: true } : {}),
};
