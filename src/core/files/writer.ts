import type { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import type { Blobs } from "./blob.ts";
import { overQuota } from "./file.ts";
import { holdLease, leaseMs } from "./lease.ts";
import { type Digest, meter, senderDisconnected } from "./meter.ts";
import type { Staged } from "./staging.ts";

/** Bytes to write to the storage. */
export interface Writing {
  /** It stays open when the write is refused: the caller closes it. */
  readonly bytes: Readable;
  /** The announced length; null without one. */
  readonly length: number | null;
  /** The account whose quota they count toward; null for an artifact. */
  readonly accountId: string | null;
  readonly max: number;
  readonly signal: AbortSignal;
  readonly digests?: readonly Digest[];
  /** Called when the stream has ended. */
  readonly isComplete?: () => boolean;
  /**
   * Runs in each change that begins or renews the lease of the write. @throws Failure when the bytes are no
   * longer needed.
   */
  readonly onRenew?: (tx: Tx, leaseUntil: number) => Promise<void>;
}

/** Bytes in the storage, and their reservation. */
export interface Written extends Staged {
  readonly reserved: number;
}

/**
 * Writes bytes to the storage. The row of a blob exists before its first byte is written, and until its last
 * byte is deleted.
 */
export interface Writer {
  /**
   * @throws Failure `too_large` beyond `max`, `resource_exhausted` beyond the quota, `invalid_argument`
   * when a stated digest does not match, `cancelled` when the stream is interrupted.
   * Then no bytes are left.
   */
  write(writing: Writing): Promise<Written>;
  /** Deletes written bytes that are not kept. If it fails, the sweep deletes them. */
  discard(blobId: string): Promise<void>;
  /**
   * Replaces the reservation with the actual size. @throws Failure `unavailable` when the bytes were
   * abandoned in the meantime.
   */
  settle(tx: Tx, written: Written, leaseUntil: number): Promise<void>;
}

export interface WriterParts {
  /** Runs changes that wait for an account's total of bytes. */
  readonly changeBytes: Store["change"];
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  /** The maximum bytes of an account. */
  readonly quota: number;
}

/**
 * Bytes reserved at a time without an announced length: few, so that concurrent uploads do not exclude each
 * other.
 */
const stepOf = (quota: number): number => Math.min(4 * 1024 * 1024, Math.floor(quota / 256));

/** The pauses before each further attempt to discard bytes. */
const discardPausesMs = [1_000, 4_000, 15_000];

export function writer({ changeBytes, blobs, clock, ids, quota }: WriterParts): Writer {
  async function begin(blobId: string, { accountId, length, onRenew, signal }: Writing): Promise<void> {
    const leaseUntil = clock.now() + leaseMs;
    await changeBytes(async (tx) => {
      // The change may have waited for its turn.
      if (signal.aborted) throw senderDisconnected();
      // Lock order: file, blob, account total last, because all uploads of an account wait for that row.
      await onRenew?.(tx, leaseUntil);
      if (!(await tx.blobs.begin({ id: blobId, accountId, bytes: length ?? 0, leaseUntil }, quota)))
        throw overQuota(quota);
    });
  }

  /** Reserves a full step or, if the quota has no room for it, only the missing bytes. */
  async function reserve(blobId: string, missing: number): Promise<number> {
    for (const more of [Math.max(stepOf(quota), missing), missing]) {
      if (await changeBytes((tx) => tx.blobs.reserve(blobId, more, quota))) return more;
    }
    throw overQuota(quota);
  }

  /** Returns a function that deletes written bytes. Called again, it continues where it failed. */
  function createDiscard(blobId: string): () => Promise<void> {
    let isAbandoned = false;
    return async () => {
      // First the row: a change whose answer was lost may have kept the blob.
      isAbandoned ||= await changeBytes((tx) => tx.blobs.abandon(blobId));
      if (!isAbandoned) return;
      await blobs.remove(blobId);
      await changeBytes((tx) => tx.blobs.deleteDropped([blobId]));
    };
  }

  /** Retries in case the database is busy, long before the lease expires. The sweep deletes what is left. */
  async function retry(work: () => Promise<void>): Promise<void> {
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
    const work = createDiscard(blobId);
    await work().catch(() => void retry(work).catch(() => undefined));
  }

  async function write(writing: Writing): Promise<Written> {
    const { bytes, length, max, digests = [], isComplete = () => true, onRenew } = writing;
    if (writing.signal.aborted) throw senderDisconnected();
    const blobId = ids.short();
    await begin(blobId, writing);
    let reserved = length ?? 0;
    const metered = meter({
      max,
      length,
      isComplete,
      digests,
      admit: (total) =>
        total <= reserved || writing.accountId === null
          ? undefined
          : reserve(blobId, total - reserved).then((more) => {
              reserved += more;
            }),
    });
    const lease = holdLease(changeBytes, clock, async (tx, leaseUntil) => {
      if (!(await tx.blobs.renew(blobId, leaseUntil))) throw uploadAbandoned();
      await onRenew?.(tx, leaseUntil);
    });
    try {
      pipeOneWay(bytes, metered.through);
      await blobs.put(blobId, metered.through, AbortSignal.any([writing.signal, lease.lost]));
      return { blobId, ...metered.result(), reserved };
    } catch (thrown) {
      metered.through.destroy();
      await discard(blobId);
      throw originalFailure(thrown, metered.through.errored, lease.lost, writing.signal);
    } finally {
      lease.end();
    }
  }

  return {
    write,
    discard,
    async settle(tx, { blobId, bytes, reserved }, leaseUntil) {
      if (!(await tx.blobs.settle(blobId, { reserved, bytes }, leaseUntil))) throw uploadAbandoned();
    },
  };
}

/**
 * Pipes a source into a stream. An interrupted source destroys the stream, but not the reverse: a client
 * waits for its answer at the source.
 */
export function pipeOneWay(
  source: Readable,
  into: NodeJS.WritableStream & { destroy(cause?: Error): unknown; destroyed: boolean },
): void {
  const interrupted = () => {
    if (!source.readableEnded) into.destroy(senderDisconnected());
  };
  source.once("error", interrupted).once("close", interrupted);
  // The source may have been interrupted before the listeners were added.
  if (source.destroyed) interrupted();
  source.pipe(into);
}

/** The original failure, not an error that it caused. */
function originalFailure(
  thrown: unknown,
  errored: Error | null,
  lost: AbortSignal,
  callers: AbortSignal,
): unknown {
  if (lost.aborted) return lost.reason;
  if (errored instanceof Failure) return errored;
  return callers.aborted ? senderDisconnected() : thrown;
}

/** These bytes can no longer be kept: their lease has expired, or their file is deleted. */
export const uploadAbandoned = (): Failure =>
  new Failure("unavailable", "the upload was abandoned, try again", { retryAfter: 1 });
