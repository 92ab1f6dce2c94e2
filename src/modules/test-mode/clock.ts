import { type Clock, systemClock } from "../../core/clock.ts";

/** A pause of repeated work, or of a run, which a moved clock ends. */
interface Pause {
  /** Unix milliseconds by this clock. */
  due: number;
  readonly isRun: boolean;
  readonly end: () => void;
}

/**
 * The clock of test mode: the machine's time and an offset. Time-outs and leases follow the machine's time.
 */
export interface TestClock extends Clock {
  pause(ms: number, signal?: AbortSignal, of?: "run"): Promise<void>;
  /**
   * Sets the time of day. Pauses that are over then end in their order, and those of work that looks every
   * minute or more often.
   */
  set(now: number): Promise<void>;
  /** Lets a second pass: a still clock gives the calls of a test an order. */
  tick(): void;
  /** Ends the pauses of all runs. */
  endRuns(): Promise<void>;
  /** When the next pause of a run ends; null without one. */
  nextRun(): number | null;
  /** The number of runs that pause. */
  readonly pausingRuns: number;
  /** The pauses of repeated work. Once there are as many as before, all work that was woken has ended. */
  readonly pausingLoops: number;
}

/** Work that looks for due rows may find them this late. */
const lookMs = 60_000;

/**
 * @param at the time at the start, in Unix milliseconds.
 * @param isStill the time passes by `set` and `tick` only, so that the same calls get the same times.
 */
export function createTestClock({
  at = systemClock.now(),
  isStill = false,
}: {
  readonly at?: number | undefined;
  readonly isStill?: boolean;
}): TestClock {
  const machine = isStill ? () => 0 : systemClock.now;
  let offset = at - machine();
  const pauses = new Set<Pause>();
  const now = () => machine() + offset;
  const runs = () => [...pauses].filter(({ isRun }) => isRun);

  async function pause(ms: number, signal?: AbortSignal, of?: "run"): Promise<void> {
    signal?.throwIfAborted();
    const over = new AbortController();
    const entry: Pause = { due: now() + ms, isRun: of === "run", end: () => over.abort() };
    pauses.add(entry);
    try {
      await systemClock.sleep(ms, signal ? AbortSignal.any([signal, over.signal]) : over.signal);
    } catch (thrown) {
      if (!over.signal.aborted) throw thrown;
    } finally {
      pauses.delete(entry);
    }
  }

  return {
    now,
    monotonic: systemClock.monotonic,
    sleep: systemClock.sleep,
    pause,
    tick() {
      offset += 1000;
    },
    async endRuns() {
      for (const { end } of runs()) end();
    },
    async set(to) {
      const by = to - now();
      offset += by;
      // Back, at a reset: what was to wait a second still does.
      if (by < 0) for (const entry of pauses) entry.due += by;
      const isOver = ({ due, isRun }: Pause) => due <= to + (isRun || by < 0 ? 0 : lookMs);
      for (const entry of [...pauses].filter(isOver).toSorted((a, b) => a.due - b.due)) {
        pauses.delete(entry);
        entry.end();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    nextRun: () => runs().reduce<number | null>((least, { due }) => Math.min(least ?? due, due), null),
    get pausingRuns() {
      return runs().length;
    },
    get pausingLoops() {
      return pauses.size - runs().length;
    },
  };
}
