import { sample } from "../../support/depth.ts";
import { testMs } from "../../support/patience.ts";

/**
 * Sequences of commands for each database; one takes about 20 s on a quiet machine. Fewer than three may not
 * contain every required outcome.
 */
export const numRuns = Math.max(3, sample(12, 1));

/** The test's own limit, in milliseconds: a guard against hangs. */
export const timeout = testMs + numRuns * 120_000;

/**
 * Shrinking ends halfway to that limit at the latest, so that a failure is reported with the shortest
 * sequence found until then.
 */
export const patience = { interruptAfterTimeLimit: timeout / 2, markInterruptAsFailure: true } as const;
