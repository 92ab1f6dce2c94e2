import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store.ts";
import type { Blobs } from "./blobs.ts";

/** What the clock ends, by whichever process comes first. */
export interface FileSweep {
  /**
   * Ends files whose 48 hours are over and windows that have passed, and removes the
   * bytes that belong to nothing any more. It may be killed anywhere.
   */
  sweep(stopping: AbortSignal): Promise<void>;
  /** Forgets tombstones after 30 days. */
  forget(): Promise<void>;
}

/** What a sweep needs of its surroundings. */
export interface SweepParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rows in one change. */
const batch = 100;
/** Bytes that could not be removed are tried again after this, in milliseconds. */
const retryMs = 30_000;
const tombstoneMs = 30 * 24 * 3_600_000;

export function fileSweep({ store, blobs, clock, log }: SweepParts): FileSweep {
  async function expire(): Promise<number> {
    return store.change(async (tx) => {
      const ids = await tx.files.expire(clock.now(), batch);
      await tx.blobs.drop(ids);
      return ids.length;
    });
  }

  const closeWindows = (): Promise<number> => store.change((tx) => tx.files.closeWindows(clock.now(), batch));

  async function removeLoose(): Promise<number> {
    const now = clock.now();
    const taken = await store.change((tx) => tx.blobs.takeLoose(now, now + retryMs, batch));
    const gone: string[] = [];
    for (const id of taken) {
      await blobs.remove(id).then(
        () => gone.push(id),
        (cause: unknown) => log("error", "bytes of a file were not removed", { cause }),
      );
    }
    if (gone.length > 0) await store.change((tx) => tx.blobs.erase(gone));
    return taken.length;
  }

  return {
    async sweep(stopping) {
      for (const step of [expire, closeWindows, removeLoose]) {
        while ((await step()) === batch) if (stopping.aborted) return;
      }
    },
    async forget() {
      await store.change((tx) => tx.files.purge(clock.now() - tombstoneMs));
    },
  };
}
