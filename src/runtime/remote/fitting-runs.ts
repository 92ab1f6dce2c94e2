import type { RemoteRun } from "../../core/workers/remote-run.ts";

/** About the most bytes of the runs of one response. gRPC clients accept 4 MiB by default. */
const bytesMax = 2 * 1024 * 1024;

/**
 * The first of these runs, and those after it that fit in one response with it. @param giveBack returns a run
 * to the queue.
 */
export async function fitting(
  runs: readonly RemoteRun[],
  giveBack: (run: RemoteRun) => Promise<void>,
): Promise<readonly RemoteRun[]> {
  const fit: RemoteRun[] = [];
  let bytes = 0;
  for (const run of runs) {
    bytes += Buffer.byteLength(JSON.stringify(run));
    if (fit.length === 0 || bytes <= bytesMax) fit.push(run);
    // The user may have stopped it in between.
    else await giveBack(run).catch(() => undefined);
  }
  return fit;
}
