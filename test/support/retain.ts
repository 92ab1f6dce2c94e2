import { systemIds } from "../../src/core/ids.ts";
import type { Retention } from "../../src/core/retention/retention.ts";
import type { Store } from "../../src/core/store.ts";
import { retainer } from "../../src/core/use-cases/retain.ts";
import { archiveFiles, noBlobs } from "./archive-files.ts";
import { keepsAll } from "./maintenance.ts";
import { stillClock } from "./still-clock.ts";

/** One pass of retention at a time (Unix milliseconds). */
export async function retainAt(
  store: Store,
  now: number,
  retention: Partial<Retention>,
  keepsEvents = false,
  blobs = noBlobs,
): Promise<void> {
  const archive = archiveFiles(store, blobs, now);
  const parts = { store, archive, ids: systemIds, clock: stillClock(now), keepsEvents, retention: { ...keepsAll, ...retention } };
  await retainer(parts)?.(new AbortController().signal);
}
