import { setTimeout as pause } from "node:timers/promises";
import { Failure, invalidArgument } from "../../core/failure.ts";
import type { TestClock } from "./clock.ts";
import type { TestState } from "./state.ts";

const hourMs = 3_600_000;
const daysMaxMs = 400 * 24 * hourMs;
/**
 * Work without a stored time, such as the removal of expired files, is looked for at least this often on the
 * way.
 */
const rounds = 24;
/** The longest wait until nothing is active. */
const quietMs = 60_000;
const lookMs = 1;
const namesMax = 5;

/** Moves a clock, one call at a time. */
export interface Advance {
  /**
   * @param ms forward. @returns the number of times at which something was due. @throws Failure
   * `failed_precondition`, `invalid_argument`.
   */
  by(ms: number): Promise<number>;
  /** Runs work while no call moves the clock. @throws Failure `failed_precondition` while one does. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is active, or `ms` have passed. @returns what still is. */
  quiet(ms: number): Promise<readonly string[]>;
}

export function createAdvance(
  clock: TestClock,
  state: Pick<TestState, "active" | "nextDue" | "extendLeases">,
  held: () => number,
): Advance {
  let isMoving = false;

  /** Nothing is active in two looks in a row, and all repeated work is waiting again. */
  async function quiet(ms: number): Promise<readonly string[]> {
    const until = clock.monotonic() + ms;
    let calm = 0;
    let found: readonly string[] = [];
    while (calm < 2) {
      found = [
        ...state.active(clock.now(), clock.pausingRuns),
        ...(held() > 0 ? ["delivery that a fault holds"] : []),
      ];
      calm = found.length === 0 ? calm + 1 : 0;
      if (calm < 2 && clock.monotonic() >= until) return found;
      await (found.length === 0 ? new Promise((resolve) => setImmediate(resolve)) : pause(lookMs));
    }
    return [];
  }

  async function settle(): Promise<void> {
    const left = await quiet(quietMs);
    if (left.length === 0) return;
    const names = left.slice(0, namesMax).join(", ");
    throw new Failure(
      "failed_precondition",
      `the clock has the time ${new Date(clock.now()).toISOString()}: after ${quietMs / 1000} s still active: ${names}${left.length > namesMax ? ` and ${left.length - namesMax} more` : ""}`,
    );
  }

  /** One stop: repeated work is woken in the order of its times, and ends. */
  async function stopAt(at: number): Promise<void> {
    const by = at - clock.now();
    if (by > 0) await state.extendLeases(by);
    const before = clock.pausingLoops;
    await clock.set(Math.max(at, clock.now()));
    const until = clock.monotonic() + quietMs;
    while (clock.pausingLoops < before && clock.monotonic() < until) await pause(lookMs);
    await settle();
  }

  async function move(ms: number): Promise<number> {
    const target = clock.now() + ms;
    const roundMs = Math.max(hourMs, ms / rounds);
    let stops = 0;
    await settle();
    for (let round = clock.now() + roundMs; clock.now() < target; ) {
      const dues = [state.nextDue(clock.now()), clock.nextRun()].filter((at) => at !== null);
      const due = Math.min(...dues);
      const at = Math.min(due, round, target);
      if (due <= target && due <= at) stops += 1;
      if (at >= round) round = at + roundMs;
      await stopAt(Math.max(at, clock.now()));
    }
    return stops;
  }

  async function alone<T>(work: () => Promise<T>): Promise<T> {
    if (isMoving)
      throw new Failure("failed_precondition", "another call moves the clock: wait for its answer");
    isMoving = true;
    try {
      return await work();
    } finally {
      isMoving = false;
    }
  }

  return {
    quiet,
    alone,
    async by(ms) {
      if (ms <= 0)
        throw invalidArgument(
          "to",
          "must be after the present time of the server: the clock moves forward only",
        );
      if (ms > daysMaxMs)
        throw invalidArgument("to", "must be at most 400 days after the present time of the server");
      return alone(() => move(ms));
    },
  };
}
