import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { areBytesKept } from "../processes/hold.ts";
import { dayMs, hourMs, type JobNeeds, type TimedJob } from "../processes/timed-job.ts";
import type { Store } from "../store.ts";
import type { Blobs } from "./blob.ts";

/** Work on a timer, in any process of the installation. */
export interface FileSweep {
  /**
   * Expires files after 48 hours, closes windows that have passed, and deletes bytes that
   * files no longer refer to. It may be interrupted at any point.
   */
  sweep(stopping: AbortSignal): Promise<void>;
  /** Purges tombstones after 30 days. */
  purge(): Promise<void>;
}

export interface SweepParts {
  /** Runs changes that wait for an account's total of bytes. */
  readonly changeBytes: Store["change"];
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rows per change. */
const batchMax = 100;
/** A failed deletion of bytes is tried again after this, in milliseconds. */
const retryMs = 30_000;
const tombstoneMs = 30 * dayMs;

export function fileSweep({ changeBytes, blobs, clock, log }: SweepParts): FileSweep {
  async function expire(): Promise<number> {
    return changeBytes(async (tx) => {
      const ids = await tx.files.expire(clock.now(), batchMax);
      await tx.blobs.drop(ids);
      return ids.length;
    });
  }

  const closeWindows = (): Promise<number> =>
    changeBytes((tx) => tx.files.closeWindows(clock.now(), batchMax));

  async function deleteUnused(): Promise<number> {
    const now = clock.now();
    const claimed = await changeBytes(async (tx) =>
      (await areBytesKept(tx, now)) ? [] : tx.blobs.claimDeletable(now, now + retryMs, batchMax),
    );
    const deleted: string[] = [];
    for (const id of claimed) {
      await blobs.remove(id).then(
        () => deleted.push(id),
        (cause: unknown) => log("error", "bytes of a file were not deleted", { cause }),
      );
    }
    if (deleted.length > 0) await changeBytes((tx) => tx.blobs.deleteDropped(deleted));
    return claimed.length;
  }

  return {
    async sweep(stopping) {
      for (const step of [expire, closeWindows, deleteUnused]) {
        while ((await step()) === batchMax) if (stopping.aborted) return;
      }
    },
    async purge() {
      await changeBytes((tx) => tx.files.purge(clock.now() - tombstoneMs));
    },
  };
}

type SweepNeeds = JobNeeds & { readonly files: FileSweep };

/** Expired files are purged within a minute (spec/decisions.md 38). */
export const sweepFiles: TimedJob<SweepNeeds> = {
  name: "sweep-files",
  every: 10_000,
  run: ({ files }, signal) => files.sweep(signal),
};

export const purgeFiles: TimedJob<SweepNeeds> = {
  name: "purge-files",
  every: hourMs,
  once: true,
  run: ({ files }) => files.purge(),
};
