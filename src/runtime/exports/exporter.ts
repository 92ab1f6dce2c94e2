import { type Dispatcher, type Places, startDispatcher } from "../../async/dispatcher.ts";
import type { Cipher } from "../../core/cipher.ts";
import type { Clock } from "../../core/clock.ts";
import type { Export, ExportArchive, ExportProgress } from "../../core/exports/export.ts";
import { createSeal } from "../../core/exports/seal.ts";
import { Failure, failureOf } from "../../core/failure.ts";
import { leaseMs } from "../../core/files/lease.ts";
import { meter } from "../../core/files/meter.ts";
import { pipeOneWay, type Writer, type Written } from "../../core/files/writer.ts";
import type { Random } from "../../core/ids.ts";
import type { Log } from "../../core/log.ts";
import type { Store, Tx } from "../../core/store.ts";
import { type ArchiveParts as DataParts, packData } from "./archive.ts";
import { packCompliance } from "./compliance.ts";
import { createZip, type Packing } from "./zip.ts";

/** The inputs for archives of every kind. */
interface ArchiveParts extends DataParts {
  readonly store: DataParts["store"] & Pick<Tx, "steps" | "accounts">;
}

const packingOf = (parts: ArchiveParts, requested: Export): Packing =>
  requested.kind === "data" ? packData(parts, requested) : packCompliance(parts.store, requested);

/** The maximum number of archives at a time in one process: each uses one core while it packs. */
const limits = { max: 1, perHolder: 1 };
/** After this many failed or lost claims, an export has failed. */
const claimsMax = 3;
/** The pause before the next attempt, in milliseconds, times the number of attempts. */
const retryMs = 10_000;
/** The interval of the search for exports of dead processes, for missed jobs, and for lost claims. */
const everyMs = 5_000;
/** The shortest interval between two writes of an export's progress. */
const progressMs = 1_000;

export interface ExporterParts extends ArchiveParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cipher: Pick<Cipher, "derive">;
  readonly random: Random;
  readonly writer: Writer;
  readonly log: Log;
}

/** The failure for a lost claim: the export was cancelled, or another process claimed it. */
const lostClaim = (): Failure => new Failure("cancelled", "this process no longer holds the export");

/** Makes archives in this process. A drain releases those in progress. */
export function startExporter(parts: ExporterParts): Dispatcher {
  const { store, clock, log } = parts;
  const made = new Map<string, Making>();

  /** Claims the oldest exports that no process makes. */
  async function round({ free }: Places) {
    if (free <= 0) return { taken: [], more: false };
    const now = clock.now();
    const due = (await store.exports.unclaimed(now, free + made.size))
      .filter((id) => !made.has(id))
      .slice(0, free);
    const claimed = await Promise.all(
      due.map((id) => store.change((tx) => tx.exports.claim(id, now, now + leaseMs))),
    );
    return { taken: claimed.filter((one) => one !== null), more: claimed.includes(null) };
  }

  /**
   * Stops the work on exports that were cancelled, deleted or taken over, also during a step of any duration.
   */
  async function stopLost(): Promise<void> {
    for (const { claimed, lost } of made.values()) if (await isLost(store, claimed)) lost.abort(lostClaim());
  }

  return startDispatcher<Export>({
    clock,
    log,
    name: "exports",
    everyMs,
    limits,
    round,
    holderOf: ({ id }) => id,
    look: stopLost,
    async attempt(claimed, { stopping }) {
      const lost = new AbortController();
      made.set(claimed.id, { claimed, lost });
      try {
        await make(parts, claimed, { stopping, lost: lost.signal });
      } catch (cause) {
        log("error", "an export waits for the end of its lease", { id: claimed.id, cause });
      } finally {
        made.delete(claimed.id);
      }
    },
  });
}

interface Making {
  readonly claimed: Export;
  readonly lost: AbortController;
}

/** Why the work on an export stops early: the process drains, or the claim is lost. */
interface MakingSignals {
  readonly stopping: AbortSignal;
  readonly lost: AbortSignal;
}

/** Runs one claim to its end: completed, failed, released, or lost to another process. */
async function make(parts: ExporterParts, claimed: Export, { stopping, lost }: MakingSignals): Promise<void> {
  const { store, clock, log } = parts;
  const { id, fence, claims } = claimed;
  const fail = (error: string) => store.change((tx) => tx.exports.fail(id, fence, error, clock.now()));
  if (claims > claimsMax) {
    log("error", "an export failed: its process died each time", { id });
    return void (await fail(
      `the archive could not be made: the server stopped ${claimsMax} times while making it`,
    ));
  }
  log("info", "an export has begun", { id, claims });
  try {
    const progress = await attempt(parts, claimed, AbortSignal.any([stopping, lost]));
    log("info", "an export is complete", { id, ...progress });
  } catch (thrown) {
    if (stopping.aborted) {
      await store.change(async (tx) => {
        if (await tx.exports.release(id, fence))
          await tx.jobs.put({ kind: "export", key: id, runAt: clock.now() });
      });
      return log("info", "an export was released", { id });
    }
    if (await isLost(store, claimed)) return log("info", "an export was ended or taken over", { id });
    log("error", "making an export failed", { id, claims, cause: thrown });
    if (claims < claimsMax)
      return void (await store.change((tx) => postpone(tx, claimed, clock.now() + retryMs * claims)));
    await fail(`the archive could not be made in ${claimsMax} attempts: ${failureOf(thrown).message}`);
  }
}

async function isLost({ exports }: Pick<Tx, "exports">, { id, fence }: Export): Promise<boolean> {
  const now = await exports.byId(id);
  return now?.fence !== fence || now.status !== "processing";
}

/** Keeps the claim until the next attempt, so that no other process makes one before. */
async function postpone(tx: Tx, { id, fence }: Export, until: number): Promise<void> {
  if (await tx.exports.progress(id, fence, { done: 0, total: 0 }, until))
    await tx.jobs.put({ kind: "export", key: id, runAt: until });
}

/** @throws the error that prevents the archive. Then its bytes are deleted. */
async function attempt(
  parts: ExporterParts,
  requested: Export,
  signal: AbortSignal,
): Promise<ExportProgress> {
  const { store, clock, writer, cipher, random } = parts;
  const { id, fence } = requested;
  const packing = packingOf(parts, requested);
  const progress = { done: 0, total: await packing.steps() };
  const hold = async (tx: Tx, leaseUntil: number) => {
    if (!(await tx.exports.progress(id, fence, progress, leaseUntil))) throw lostClaim();
  };
  let writtenAt = clock.monotonic();
  async function onStep(): Promise<void> {
    signal.throwIfAborted();
    // The total does not include tasks created in the meantime, but it includes tasks deleted in the
    // meantime.
    progress.done = Math.min(progress.done + 1, progress.total);
    if (clock.monotonic() - writtenAt < progressMs) return;
    writtenAt = clock.monotonic();
    await store.change((tx) => hold(tx, clock.now() + leaseMs));
  }

  const plain = meter({
    max: Number.POSITIVE_INFINITY,
    length: null,
    isComplete: () => true,
    digests: [],
    admit: () => undefined,
  });
  const sealed = createSeal(cipher, id, random);
  const archive = createZip(packing.entries(onStep), new Date(requested.createdAt));
  // Attach error handlers early; readers still see the error.
  for (const stream of [archive, sealed]) stream.on("error", () => undefined);
  try {
    pipeOneWay(archive, plain.through);
    pipeOneWay(plain.through, sealed);
    const max = Number.POSITIVE_INFINITY;
    const written = await writer.write({
      bytes: sealed,
      length: null,
      accountId: null,
      max,
      signal,
      onRenew: hold,
    });
    await keep(parts, requested, written, { ...plain.result(), eventCount: packing.eventCount() });
    return { done: progress.total, total: progress.total };
  } catch (thrown) {
    throw archive.errored ?? thrown;
  } finally {
    for (const stream of [archive, plain.through, sealed]) stream.destroy();
  }
}

/** Attaches the archive to the export, or discards it. */
async function keep(
  { store, clock, writer }: ExporterParts,
  { id, fence }: Export,
  written: Written,
  archive: Omit<ExportArchive, "blobId">,
): Promise<void> {
  const { blobId } = written;
  try {
    await store.change(async (tx) => {
      await writer.settle(tx, written, clock.now() + leaseMs);
      const isOurs =
        (await tx.exports.complete(id, fence, { blobId, ...archive }, clock.now())) &&
        (await tx.blobs.keep(blobId));
      if (!isOurs) throw lostClaim();
    });
  } catch (thrown) {
    await writer.discard(blobId);
    throw thrown;
  }
}
