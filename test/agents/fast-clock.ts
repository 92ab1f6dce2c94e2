import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.ts";

/**
 * A clock whose time passes `speed` times as fast: leases expire in less than a second, and waits are short.
 */
export function fastClock(speed: number): Clock {
  const start = Date.now();
  const began = performance.now();
  const passed = () => Math.floor((performance.now() - began) * speed);
  return {
    now: () => start + passed(),
    monotonic: passed,
    sleep: (ms, signal) => setTimeout(ms / speed, undefined, signal ? { signal } : {}),
  };
}
