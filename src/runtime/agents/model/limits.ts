import type { RunLimits } from "../../../config/models.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Hold } from "../../agent.ts";
import { Ended, overTime } from "./ended.ts";

/** What a run has taken of what it may take. */
export interface Limits {
  /** When the run is over, on the monotonic clock. */
  readonly deadline: number;
  /**
   * Before a call of the model.
   *
   * @param steps those of the turn so far.
   * @throws Ended `step_limit`, `timeout` or `quota_limit`.
   */
  check(steps: number): void;
  /** After a reservation: whether what the call may cost is left. */
  covers(hold: Hold): boolean;
  /** After a call. @param atMost the tokens that the hold was for. */
  add(tokens: number, atMost: number, hold: Hold): void;
}

/**
 * Limits of one run. Steps count over all runs of a turn, for its events tell them; time, tokens and credits count from
 * the start of the run. What a call costs is taken from its hold, in proportion to the tokens that it used.
 */
export function openLimits({ steps: stepsMax, minutes, tokens: tokensMax, credits: creditsMax }: RunLimits, clock: Clock): Limits {
  const deadline = clock.monotonic() + minutes * 60_000;
  let tokens = 0;
  let credits = 0;
  return {
    deadline,
    check(steps) {
      if (steps >= stepsMax) throw new Ended("step_limit", `The run was ended after ${stepsMax} steps, the most that it may take.`);
      if (clock.monotonic() >= deadline) throw overTime();
      if (tokens >= tokensMax) throw new Ended("quota_limit", "The run has used up the tokens that it may take.");
    },
    covers: (hold) => creditsMax === null || credits + hold.credits <= creditsMax,
    add(used, atMost, hold) {
      tokens += used;
      credits += Math.ceil(hold.credits * Math.min(1, used / Math.max(1, atMost)));
    },
  };
}
