import type { Clock } from "../../src/core/clock.ts";

/** A clock for clients of a real server: waits for an answer last, and pauses between calls take no time. */
export interface PatientClock extends Clock {
  /** Milliseconds of the pauses so far. */
  readonly pauses: readonly number[];
  /** Resolves once a caller waits for an answer. */
  waiting(): Promise<void>;
  /** Lets time pass: waits that have lasted long enough end. */
  pass(ms: number): void;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/**
 * @param longest sleeps up to this length are pauses and end at once; longer ones last until the test lets
 * time pass.
 */
export function patientClock(longest = 60_000, start = 1_790_000_000_000): PatientClock {
  let passed = 0;
  const pauses: number[] = [];
  const sleepers = new Set<Sleeper>();
  let waited = Promise.withResolvers<void>();

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { due: passed + ms, wake: resolve };
    sleepers.add(sleeper);
    const give = () => {
      sleepers.delete(sleeper);
      reject(signal?.reason);
    };
    if (signal?.aborted) give();
    signal?.addEventListener("abort", give, { once: true });
    waited.resolve();
    return promise;
  }

  return {
    pauses,
    now: () => start + passed,
    monotonic: () => passed,
    async sleep(ms, signal) {
      if (ms > longest) return sleep(ms, signal);
      signal?.throwIfAborted();
      pauses.push(ms);
      passed += ms;
    },
    async waiting() {
      if (sleepers.size === 0) waited = Promise.withResolvers();
      await waited.promise;
    },
    pass(ms) {
      passed += ms;
      for (const sleeper of [...sleepers].filter(({ due }) => due <= passed)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}
