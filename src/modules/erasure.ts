import { recordErasures } from "../backup/erasure-list.ts";
import type { Config } from "../config/config.ts";
import type { Clock } from "../core/clock.ts";
import { fileSweep } from "../core/files/sweep.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../core/store.ts";
import type { EraseParts } from "../core/use-cases/erase.ts";
import { compact } from "../store/compact.ts";
import { openBlobs } from "./blobs.ts";

export function eraseParts(
  config: Config,
  store: Store,
  clock: Clock,
  log: Log,
  onProgress: EraseParts["onProgress"],
): EraseParts {
  const { sweep } = fileSweep({ changeBytes: store.change, blobs: openBlobs(config, log), clock, log });
  return {
    store,
    clock,
    sweep,
    onProgress,
    // What would follow a task is erased with it.
    publishTask: async (_, { task }) => task,
    record: (erased) => recordErasures(config.dataDir, erased, clock.now()),
    compact: () => compact(config.databaseUrl),
  };
}
