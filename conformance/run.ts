import type { Check } from "./checks/check.ts";
import { Flaw } from "./flaw.ts";
import { brokenLaws } from "./laws.ts";
import { openStage, type StageOptions } from "./stage.ts";

/** What a check came to. */
export interface Verdict {
  readonly check: Check;
  /** Sentences for what is wrong; empty when nothing is. */
  readonly flaws: readonly string[];
  readonly seconds: number;
}

/** Checks that are under way at a time: most of the time they wait. */
const lanes = 4;

/** Runs the checks, each on a platform of its own; tells of each as soon as it is over, and answers all. */
export async function runChecks(
  checks: readonly Check[],
  options: StageOptions,
  tell: (verdict: Verdict) => void,
): Promise<readonly Verdict[]> {
  const waiting = [...checks];
  const verdicts: Verdict[] = [];
  async function lane(): Promise<void> {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const verdict = await runCheck(check, options);
      verdicts.push(verdict);
      tell(verdict);
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return verdicts;
}

async function runCheck(check: Check, options: StageOptions): Promise<Verdict> {
  const began = performance.now();
  await using stage = await openStage(options);
  const flaws: string[] = [];
  try {
    await check.run(stage);
  } catch (thrown) {
    flaws.push(thrown instanceof Flaw ? thrown.message : `The kit could not go on: ${thrown}`);
  }
  flaws.push(...brokenLaws(stage.proxy.calls, stage.deaths, performance.now()));
  return { check, flaws, seconds: (performance.now() - began) / 1000 };
}
