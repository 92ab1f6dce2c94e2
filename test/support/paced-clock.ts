import type { Clock } from "../../src/core/clock.ts";

/** The machine's time, which passes as many times as fast as a test says at the moment. */
export interface PacedClock extends Clock, Disposable {
  /** At first 1. Who sleeps already sleeps on at the new speed. */
  speed: number;
}

const tickMs = 10;
/**
 * What one tick counts at most: a process that stood still has not let much time pass, so that no lease
 * lapses by it.
 */
const tickMax = 50;

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

export function pacedClock(): PacedClock {
  const start = Date.now();
  const sleepers = new Set<Sleeper>();
  let passed = 0;
  let ticked = performance.now();
  const clock = {
    speed: 1,
    now: () => start + Math.floor(passed),
    monotonic: () => passed,
    sleep,
    [Symbol.dispose]: stop,
  };
  const ticks = setInterval(tick, tickMs).unref();

  function tick(): void {
    const at = performance.now();
    passed += Math.min(at - ticked, tickMax) * clock.speed;
    ticked = at;
    for (const sleeper of [...sleepers].filter(({ due }) => due <= passed)) sleeper.wake();
  }

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (ms <= 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { due: passed + ms, wake: resolve };
    const give = () => reject(signal?.reason);
    sleepers.add(sleeper);
    signal?.addEventListener("abort", give, { once: true });
    await promise.finally(() => {
      sleepers.delete(sleeper);
      signal?.removeEventListener("abort", give);
    });
  }

  function stop(): void {
    clearInterval(ticks);
  }

  return clock;
}
