/** Sequences of commands for each database: `MODEL_RUNS=500` makes a run longer. */
export const numRuns = Number(process.env["MODEL_RUNS"] ?? 5);

/** `MODEL_SEED` throws the same dice again. */
export const seed = Number(process.env["MODEL_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

const allowedMs = 30_000 + numRuns * 15_000;

/** However slow the machine: what fails is told with the shortest sequence found by then. */
export const patience = { interruptAfterTimeLimit: allowedMs, markInterruptAsFailure: true } as const;

/** The test's own limit, in milliseconds: after that. */
export const timeout = allowedMs + 30_000;

/** Says how to do it again. */
export const told = (kind: string): void => console.log(`MODEL_RUNS=${numRuns} MODEL_SEED=${seed} (${kind})`);
