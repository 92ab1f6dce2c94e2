import type { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import type { Blobs } from "./blobs.ts";
import { holdLease, leaseMs } from "./lease.ts";
import { cutOff, type Digest, meter } from "./meter.ts";
import { overQuota } from "./quota.ts";
import type { Staged } from "./staging.ts";

/** Bytes to be written down. */
export interface Writing {
  /** It is left open when they are refused, for whoever gave it to close. */
  readonly bytes: Readable;
  /** As it was announced; null when nothing was. */
  readonly length: number | null;
  /** Whose quota they count toward; null for an artefact's. */
  readonly accountId: string | null;
  readonly max: number;
  readonly signal: AbortSignal;
  readonly digests?: readonly Digest[];
  /** Asked when they have ended. */
  readonly isWhole?: () => boolean;
  /** Part of each change that says that they are still coming. @throws Failure when nobody wants them any more. */
  readonly coming?: (tx: Tx, leaseUntil: number) => Promise<void>;
}

/** Bytes in the storage, and what is reserved for them. */
export interface Written extends Staged {
  readonly reserved: number;
}

/** Writes bytes into the storage; each blob's row is there before its first byte, and until its last. */
export interface Writer {
  /**
   * @throws Failure `too_large` beyond `max`, `exhausted` beyond the quota, `invalid`
   * when they are not what they were said to be, `cancelled` when they break off:
   * then nothing of them is left.
   */
  write(writing: Writing): Promise<Written>;
  /** Removes what was written and is not kept. What this fails to do, the sweep does. */
  discard(blobId: string): Promise<void>;
  /** Takes an account's bytes; what is reserved beyond them is given back. @throws Failure `unavailable` when they were given up meanwhile. */
  settle(tx: Tx, written: Written, leaseUntil: number): Promise<void>;
}

/** What a writer needs of its surroundings. */
export interface WriterParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  /** Bytes of an account. */
  readonly quota: number;
}

/** Where nothing was announced, so much is reserved at a time: little enough that those who send at once do not keep each other out. */
const stepOf = (quota: number): number => Math.min(4 * 1024 * 1024, Math.floor(quota / 256));

/** What could not be discarded is tried again after each of these. */
const discardPausesMs = [1_000, 4_000, 15_000];

export function writer({ store, blobs, clock, ids, quota }: WriterParts): Writer {
  async function begin(blobId: string, { accountId, length, coming, signal }: Writing): Promise<void> {
    const leaseUntil = clock.now() + leaseMs;
    await store.change(async (tx) => {
      // It may have waited for its turn.
      if (signal.aborted) throw cutOff();
      // Everywhere the file goes before its blob, and the account's sum last: all that comes for an account waits for that row.
      await coming?.(tx, leaseUntil);
      if (!(await tx.blobs.begin({ id: blobId, accountId, bytes: length ?? 0, leaseUntil }, quota))) throw overQuota(quota);
    });
  }

  /** A whole step, or, where there is no room for it, just what has come. */
  async function reserve(blobId: string, missing: number): Promise<number> {
    for (const more of [Math.max(stepOf(quota), missing), missing]) {
      if (await store.change((tx) => tx.blobs.reserve(blobId, more, quota))) return more;
    }
    throw overQuota(quota);
  }

  /** Removes what was written; called again it goes on where it failed. */
  function discarding(blobId: string): () => Promise<void> {
    let isLoose = false;
    return async () => {
      // First the row: a change whose answer was lost may have kept it.
      isLoose ||= await store.change((tx) => tx.blobs.abandon(blobId));
      if (!isLoose) return;
      await blobs.remove(blobId);
      await store.change((tx) => tx.blobs.erase([blobId]));
    };
  }

  /** A busy database has time again long before the lease is over; what is left then, the sweep finds. */
  async function again(work: () => Promise<void>): Promise<void> {
    for (const pause of discardPausesMs) {
      await clock.sleep(pause);
      const isDone = await work().then(
        () => true,
        () => false,
      );
      if (isDone) return;
    }
  }

  async function discard(blobId: string): Promise<void> {
    const work = discarding(blobId);
    await work().catch(() => void again(work).catch(() => undefined));
  }

  async function write(writing: Writing): Promise<Written> {
    const { bytes, length, max, digests = [], isWhole = () => true, coming } = writing;
    if (writing.signal.aborted) throw cutOff();
    const blobId = ids.short();
    await begin(blobId, writing);
    let reserved = length ?? 0;
    const metered = meter({
      ...{ max, length, isWhole, digests },
      admit: (total) =>
        total <= reserved || writing.accountId === null
          ? undefined
          : reserve(blobId, total - reserved).then((more) => {
              reserved += more;
            }),
    });
    const lease = holdLease(store, clock, async (tx, leaseUntil) => {
      if (!(await tx.blobs.renew(blobId, leaseUntil))) throw givenUp();
      await coming?.(tx, leaseUntil);
    });
    try {
      lead(bytes, metered.through);
      await blobs.put(blobId, metered.through, AbortSignal.any([writing.signal, lease.lost]));
      return { blobId, ...metered.counted(), reserved };
    } catch (thrown) {
      metered.through.destroy();
      await discard(blobId);
      throw reasonOf(thrown, metered.through.errored, lease.lost, writing.signal);
    } finally {
      lease.end();
    }
  }

  return {
    write,
    discard,
    async settle(tx, { blobId, bytes, reserved }, leaseUntil) {
      if (!(await tx.blobs.settle(blobId, { reserved, bytes }, leaseUntil))) throw givenUp();
    },
  };
}

/** Lets bytes flow; a source that breaks off breaks what it flows into, and never the other way round: a client waits for its answer there. */
export function lead(
  source: Readable,
  into: NodeJS.WritableStream & { destroy(cause?: Error): unknown; readonly destroyed: boolean },
): void {
  const broken = () => {
    if (!source.readableEnded) into.destroy(cutOff());
  };
  source.once("error", broken).once("close", broken);
  // It may have broken off before anybody listened.
  if (source.destroyed) broken();
  source.pipe(into);
}

/** What was refused, not what the refusal broke. */
function reasonOf(thrown: unknown, errored: Error | null, lost: AbortSignal, given: AbortSignal): unknown {
  if (lost.aborted) return lost.reason;
  if (errored instanceof Failure) return errored;
  return given.aborted ? cutOff() : thrown;
}

/** Nobody may keep these bytes any more: their lease was over, or their file is gone. */
export const givenUp = (): Failure => new Failure("unavailable", "the upload was given up, try again", { retryAfter: 1 });
