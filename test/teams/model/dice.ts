import { testMs } from "../../support/patience.ts";

/** Sequences of commands for each database: `MODEL_RUNS=500` makes a run longer. */
export const numRuns = Number(process.env["MODEL_RUNS"] ?? 5);

/** `MODEL_SEED` throws the same dice again. */
export const seed = Number(process.env["MODEL_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** The test's own limit, in milliseconds: a guard against hangs. */
export const timeout = testMs + numRuns * 60_000;

/** Shrinking ends half-way to that limit at the latest, so that a failure is told with the shortest sequence found by then. */
export const patience = { interruptAfterTimeLimit: timeout / 2, markInterruptAsFailure: true } as const;

/** Says how to do it again. */
export const told = (kind: string): void => console.log(`MODEL_RUNS=${numRuns} MODEL_SEED=${seed} (${kind})`);
