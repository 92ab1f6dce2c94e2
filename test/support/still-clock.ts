import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.ts";

/**
 * A clock that does not move until a test moves it, for a complete service: sleeps
 * on it last until then. (`movableClock` ends every sleep at once, so that loops spin.)
 */
export interface StillClock extends Clock {
  /**
   * Moves on; each sleep that has ended wakes in order, at its requested time, and gets a turn before the
   * next.
   */
  advance(ms: number): Promise<void>;
  /**
   * Moves on in one step, as on a suspended machine: each sleep that has ended wakes once, at the new time.
   * For hours, in which `advance` would wake loops of one second thousands of times.
   */
  leap(ms: number): Promise<void>;
  /** Steps the time of day, in either direction; no sleep ends, because sleeps use the monotonic clock. */
  step(ms: number): void;
  /** The number of current sleeps: all loops have finished a round when it is the same as before a move. */
  readonly sleeping: number;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A quarter past a minute: 45 s of it remain. */
export const quarterPast = 1_790_000_055_000;

/** @param start Unix milliseconds at first. */
export function stillClock(start = quarterPast): StillClock {
  let offset = start;
  let passed = 0;
  const sleepers = new Set<Sleeper>();
  const firstUpTo = (until: number) =>
    [...sleepers].filter(({ due }) => due <= until).toSorted((a, b) => a.due - b.due)[0];

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { due: passed + ms, wake: resolve };
    const give = () => {
      sleepers.delete(sleeper);
      reject(signal?.reason);
    };
    sleepers.add(sleeper);
    if (signal?.aborted) give();
    signal?.addEventListener("abort", give, { once: true });
    return promise;
  }

  return {
    now: () => offset + passed,
    monotonic: () => passed,
    sleep,
    async advance(ms) {
      const until = passed + ms;
      for (let next = firstUpTo(until); next !== undefined; next = firstUpTo(until)) {
        passed = Math.max(passed, next.due);
        sleepers.delete(next);
        next.wake();
        await turn();
      }
      passed = until;
    },
    async leap(ms) {
      passed += ms;
      for (const sleeper of [...sleepers]
        .filter(({ due }) => due <= passed)
        .toSorted((a, b) => a.due - b.due)) {
        sleepers.delete(sleeper);
        sleeper.wake();
        await turn();
      }
    },
    step(ms) {
      offset += ms;
    },
    get sleeping() {
      return sleepers.size;
    },
  };
}
