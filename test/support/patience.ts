/**
 * How long a test waits for what is going to happen, in milliseconds: a guard against hangs, far more than a machine
 * needs that is ten times slower. No test measures by it. What has to happen in time is bounded by a moved clock or
 * by progress.
 */
export const hangMs = 300_000;

/** How long a whole test may take, in milliseconds: as `hangMs`, a guard against hangs. */
export const testMs = 900_000;
