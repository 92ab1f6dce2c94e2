import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "../figure.ts";
import { createEvents, startWatchedPlatform, watch } from "../figures/watch.ts";
import { sample } from "../load.ts";
import { median, roundSignificant } from "../statistics.ts";
import type { Finding } from "./finding.ts";

const stalledWatchers = 1_000;
const rounds = 5;
const roundMs = 3_000;
const settleMs = 1_000;

/**
 * The effect of a thousand stalled watchers on the p99 of other callers, while events
 * arrive for them: compared with no watchers, and with as many reading watchers. The
 * events of a round do not fill the sockets' buffers.
 */
export async function stalledReaders(stage: Stage): Promise<Finding> {
  const watched = await startWatchedPlatform(stage);
  const { server, taskIds } = watched;
  const others = {
    name: "others",
    pid: server.pid,
    call: () => server.post("/v2/task.detail", { task_id: taskIds[0] }),
  };
  const p99 = async () => {
    const [{ p99: value }] = await Promise.all([
      sample(others, 4, roundMs),
      createEvents(watched, roundMs, () => undefined),
    ]);
    return value;
  };
  await p99();
  const toAlone: number[] = [];
  const toReading: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const alone = await p99();
    using watchers = await watch(watched, stalledWatchers);
    await sleep(settleMs);
    const reading = await p99();
    watchers.stall();
    const stalled = await p99();
    toAlone.push(stalled / alone);
    toReading.push(stalled / reading);
  }
  return {
    figure: "endurance.stalled.p99",
    ours: roundSignificant(median(toAlone)),
    goal: 1.2,
    to_reading: roundSignificant(median(toReading)),
    stalled: stalledWatchers,
  };
}
