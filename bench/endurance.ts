import type { Finding } from "./endurance/finding.ts";
import { mixedLoad } from "./endurance/mixed.ts";
import { stalledReaders } from "./endurance/stalled.ts";
import { grpcStreams, sseWatchers } from "./endurance/watchers.ts";
import type { Stage } from "./figure.ts";

/** How much is endured. */
export interface Endurance {
  readonly watchers: number;
  readonly minutes: number;
}

/** What a process is like after long, and with many who watch; each test on a process of its own. */
export async function endure(stage: Stage, { watchers, minutes }: Endurance, tell: (finding: Finding) => void): Promise<void> {
  const tests: readonly ((stage: Stage) => Promise<Finding | readonly Finding[]>)[] = [
    (own) => sseWatchers(own, watchers),
    grpcStreams,
    stalledReaders,
    (own) => mixedLoad(own, minutes),
  ];
  for (const test of tests) {
    await using stack = new AsyncDisposableStack();
    for (const finding of [await test({ ...stage, stack })].flat()) tell(finding);
  }
}
