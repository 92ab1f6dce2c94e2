import { causeText } from "../../../src/core/failure.ts";

export type Verdict = "ok" | "warn" | "fail";

/** What a check found, and what to do unless it is ok. Neither shows a secret. */
export interface Finding {
  readonly verdict: Verdict;
  readonly found: string;
  readonly advice?: string;
}

/** A part of the installation that is checked. It changes nothing that stays. */
export interface Check {
  readonly name: string;
  /** @param signal is aborted when the time of the check is over. A thrown error is a finding too. */
  readonly run: (signal: AbortSignal) => Promise<readonly Finding[]>;
  /** What to do when the check throws, or does not end in time. */
  readonly advice: string;
}

export const ok = (found: string): Finding => ({ verdict: "ok", found });
export const warn = (found: string, advice: string): Finding => ({ verdict: "warn", found, advice });
export const fail = (found: string, advice: string): Finding => ({ verdict: "fail", found, advice });

/** A finding with the name of its check. */
export interface Named extends Finding {
  readonly name: string;
}

/**
 * Runs all checks at the same time; each ends within `limitMs`. The findings are in the order of the checks.
 */
export async function examine(checks: readonly Check[], limitMs: number): Promise<readonly Named[]> {
  const found = await Promise.all(checks.map((check) => runOne(check, limitMs)));
  return checks.flatMap(({ name }, index) => (found[index] ?? []).map((finding) => ({ name, ...finding })));
}

async function runOne({ run, advice }: Check, limitMs: number): Promise<readonly Finding[]> {
  const ending = new AbortController();
  const { promise, resolve } = Promise.withResolvers<readonly Finding[]>();
  const timer = setTimeout(() => {
    resolve([fail(`no answer within ${limitMs / 1000} s`, advice)]);
    ending.abort();
  }, limitMs);
  try {
    return await Promise.race([
      run(ending.signal).catch((error: unknown) => [fail(causeText(error), advice)]),
      promise,
    ]);
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}
