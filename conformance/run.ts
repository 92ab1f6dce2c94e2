import type { Check } from "./checks/check.ts";
import { findViolations } from "./rules.ts";
import { openStage, type StageOptions } from "./stage.ts";
import { WorkerError } from "./worker-error.ts";

/** The result of a check. */
export interface Verdict {
  readonly check: Check;
  /** One sentence per error of the worker; empty if it passed. */
  readonly errors: readonly string[];
  readonly seconds: number;
}

/** Checks that run in parallel; most of the time they wait. */
const parallelChecks = 4;

/** Runs the checks, each on a separate platform. Reports each as soon as it ends, and returns all. */
export async function runChecks(
  checks: readonly Check[],
  options: StageOptions,
  report: (verdict: Verdict) => void,
): Promise<readonly Verdict[]> {
  const pending = [...checks];
  const verdicts: Verdict[] = [];
  async function runPending(): Promise<void> {
    for (let check = pending.shift(); check !== undefined; check = pending.shift()) {
      const verdict = await runCheck(check, options);
      verdicts.push(verdict);
      report(verdict);
    }
  }
  await Promise.all(Array.from({ length: parallelChecks }, runPending));
  return verdicts;
}

async function runCheck(check: Check, options: StageOptions): Promise<Verdict> {
  const startedAt = performance.now();
  await using stage = await openStage(options);
  const flaws: string[] = [];
  try {
    await check.run(stage);
  } catch (thrown) {
    flaws.push(thrown instanceof WorkerError ? thrown.message : `The check could not continue: ${thrown}`);
  }
  flaws.push(
    ...findViolations(stage.proxy.calls, [...stage.deaths, ...stage.suspensions], performance.now()),
  );
  return { check, errors: flaws, seconds: (performance.now() - startedAt) / 1000 };
}
