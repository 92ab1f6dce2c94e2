import { systemIds } from "../../src/core/ids.ts";
import type { Retention } from "../../src/core/retention/retention.ts";
import type { Store } from "../../src/core/store.ts";
import { retain } from "../../src/core/use-cases/retain.ts";
import { archiveFiles, noBlobs } from "./archive-files.ts";
import { stillClock } from "./still-clock.ts";
import { keepsAll } from "./timed-jobs.ts";

/** One pass of retention at a time (Unix milliseconds). */
export async function retainAt(
  store: Store,
  now: number,
  retention: Partial<Retention>,
  keepsEvents = false,
  blobs = noBlobs,
): Promise<void> {
  const archive = archiveFiles(store, blobs, now);
  const config = {
    deletedTaskDays: keepsEvents ? 1 : 0,
    webhookLogDays: 0,
    retention: { ...keepsAll, ...retention },
  };
  await retain.run(
    { store, archive, config, ids: systemIds, clock: stillClock(now) },
    new AbortController().signal,
  );
}
