import type { Finding } from "./endurance/finding.ts";
import { mixedLoad } from "./endurance/mixed.ts";
import { stalledReaders } from "./endurance/stalled.ts";
import { grpcStreams, sseWatchers } from "./endurance/watchers.ts";
import type { Stage } from "./figure.ts";

/** The load of the endurance tests. */
export interface Endurance {
  readonly watchers: number;
  readonly minutes: number;
}

/** Measures a process after a long time and with many watchers; each test uses a separate process. */
export async function runEndurance(
  stage: Stage,
  { watchers, minutes }: Endurance,
  report: (finding: Finding) => void,
): Promise<void> {
  const tests: readonly ((stage: Stage) => Promise<Finding | readonly Finding[]>)[] = [
    (ownStage) => sseWatchers(ownStage, watchers),
    grpcStreams,
    stalledReaders,
    (ownStage) => mixedLoad(ownStage, minutes),
  ];
  for (const test of tests) {
    await using stack = new AsyncDisposableStack();
    for (const finding of [await test({ ...stage, stack })].flat()) report(finding);
  }
}
