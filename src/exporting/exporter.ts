import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Export, ExportArchive, ExportProgress } from "../core/exports/export.ts";
import { sealing } from "../core/exports/seal.ts";
import { Failure, failureOf } from "../core/failure.ts";
import { leaseMs } from "../core/files/lease.ts";
import { meter } from "../core/files/meter.ts";
import { lead, type Writer, type Written } from "../core/files/writer.ts";
import type { Random } from "../core/ids.ts";
import type { Job } from "../core/jobs/job.ts";
import type { Log } from "../core/log.ts";
import { repeat } from "../core/repeat.ts";
import type { Store, Tx } from "../core/store.ts";
import { type ArchiveParts, packingOf } from "./packing.ts";
import { zipOf } from "./zip.ts";

/** Archives made at once in one process: each takes a core while it packs. */
const atOnce = 1;
/** After so many claims that failed or died an export has failed. */
const claimsMax = 3;
/** An attempt that failed is followed by another after this for each that there was, in milliseconds. */
const retryMs = 10_000;
/** Exports of dead processes are looked for this often, and what nobody has told of. */
const lookMs = 5_000;
/** How far an export is, is written this often. */
const tellMs = 1_000;

/** What making archives needs. */
export interface ExporterParts extends ArchiveParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cipher: Pick<Cipher, "derive">;
  readonly random: Random;
  readonly writer: Writer;
  readonly log: Log;
}

/** Makes archives, in this process. */
export interface Exporter {
  /** There may be something to make. */
  wake(jobs: readonly Job[]): Promise<void>;
  hasRoom(): boolean;
  /** Gives back what is being made, and makes no more. */
  drain(): Promise<void>;
}

/** A claim was lost: to an operator who cancelled, or to another process. */
const lost = (): Failure => new Failure("cancelled", "the export is not this process's any more");

export function startExporter(parts: ExporterParts): Exporter {
  const { store, clock, log } = parts;
  const stopping = new AbortController();
  const made = new Map<string, Promise<void>>();

  /** The oldest that nobody makes; null when there is none. */
  async function claim(): Promise<Export | null> {
    const now = clock.now();
    for (const id of await store.exports.loose(now, atOnce + made.size)) {
      if (made.has(id)) continue;
      const claimed = await store.change((tx) => tx.exports.claim(id, now, now + leaseMs));
      if (claimed) return claimed;
    }
    return null;
  }

  let looking: Promise<void> | null = null;
  let again = false;
  /** Takes as many as there is room for; one look at a time, and one more for whoever came during it: it may have missed what they know of. */
  function look(): Promise<void> {
    again = true;
    looking ??= looks();
    return looking;
  }

  async function looks(): Promise<void> {
    try {
      while (again) {
        again = false;
        await lookNow();
      }
    } finally {
      looking = null;
    }
  }

  async function lookNow(): Promise<void> {
    while (made.size < atOnce && !stopping.signal.aborted) {
      const claimed = await claim();
      if (claimed === null) return;
      const making = make(parts, claimed, stopping.signal)
        .catch((cause: unknown) => log("error", "an export was left to its lease", { id: claimed.id, cause }))
        .finally(() => made.delete(claimed.id));
      made.set(claimed.id, making);
      void making.then(() => look()).catch(() => undefined);
    }
  }

  const rounds = repeat(clock, lookMs, stopping.signal, log, async function lookForExports() {
    await look();
  });
  return {
    wake: () => look(),
    hasRoom: () => made.size < atOnce,
    async drain() {
      stopping.abort();
      await rounds;
      await looking?.catch(() => undefined);
      await Promise.all(made.values());
    },
  };
}

/** One claim, to its end: completed, failed, given back, or another's. */
async function make(parts: ExporterParts, claimed: Export, stopping: AbortSignal): Promise<void> {
  const { store, clock, log } = parts;
  const { id, fence, claims } = claimed;
  const fail = (error: string) => store.change((tx) => tx.exports.fail(id, fence, error, clock.now()));
  if (claims > claimsMax) {
    log("error", "an export failed: its process died each time", { id });
    return void (await fail(`the archive could not be made: the server stopped ${claimsMax} times while making it`));
  }
  log("info", "an export has begun", { id, claims });
  try {
    const progress = await attempt(parts, claimed, stopping);
    log("info", "an export is complete", { id, ...progress });
  } catch (thrown) {
    if (stopping.aborted) {
      await store.change(async (tx) => {
        if (await tx.exports.release(id, fence)) await tx.jobs.put({ kind: "export", key: id, runAt: clock.now() });
      });
      return log("info", "an export was given back", { id });
    }
    if (await isLost(store, claimed)) return log("info", "an export was ended or taken over", { id });
    log("error", "making an export failed", { id, claims, cause: thrown });
    if (claims < claimsMax) return void (await store.change((tx) => postpone(tx, claimed, clock.now() + retryMs * claims)));
    await fail(`the archive could not be made in ${claimsMax} attempts: ${failureOf(thrown).message}`);
  }
}

async function isLost({ exports }: Pick<Tx, "exports">, { id, fence }: Export): Promise<boolean> {
  const now = await exports.byId(id);
  return now?.fence !== fence || now.status !== "processing";
}

/** The claim is held until the next attempt, so that nobody makes one before. */
async function postpone(tx: Tx, { id, fence }: Export, until: number): Promise<void> {
  if (await tx.exports.progress(id, fence, { done: 0, total: 0 }, until)) await tx.jobs.put({ kind: "export", key: id, runAt: until });
}

/** @throws whatever keeps the archive from being made; then nothing of it is left. */
async function attempt(parts: ExporterParts, wanted: Export, stopping: AbortSignal): Promise<ExportProgress> {
  const { store, clock, writer, cipher, random } = parts;
  const { id, fence } = wanted;
  const packing = packingOf(parts, wanted);
  const progress = { done: 0, total: await packing.steps() };
  const hold = async (tx: Tx, leaseUntil: number) => {
    if (!(await tx.exports.progress(id, fence, progress, leaseUntil))) throw lost();
  };
  let told = clock.monotonic();
  async function onStep(): Promise<void> {
    stopping.throwIfAborted();
    // Tasks that came meanwhile are not counted, but those that went away are.
    progress.done = Math.min(progress.done + 1, progress.total);
    if (clock.monotonic() - told < tellMs) return;
    told = clock.monotonic();
    await store.change((tx) => hold(tx, clock.now() + leaseMs));
  }

  const plain = meter({ max: Number.POSITIVE_INFINITY, length: null, isWhole: () => true, digests: [], admit: () => undefined });
  const sealed = sealing(cipher, id, random);
  const archive = zipOf(packing.entries(onStep), new Date(wanted.createdAt));
  // They may fail before anybody reads them; who does then finds them failed.
  for (const stream of [archive, sealed]) stream.on("error", () => undefined);
  try {
    lead(archive, plain.through);
    lead(plain.through, sealed);
    const max = Number.POSITIVE_INFINITY;
    const written = await writer.write({ bytes: sealed, length: null, accountId: null, max, signal: stopping, coming: hold });
    await keep(parts, wanted, written, { ...plain.counted(), eventCount: packing.eventCount() });
    return { done: progress.total, total: progress.total };
  } catch (thrown) {
    throw archive.errored ?? thrown;
  } finally {
    for (const stream of [archive, plain.through, sealed]) stream.destroy();
  }
}

/** The archive is the export's, or it is nobody's. */
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
      const isOurs = (await tx.exports.complete(id, fence, { blobId, ...archive }, clock.now())) && (await tx.blobs.keep(blobId));
      if (!isOurs) throw lost();
    });
  } catch (thrown) {
    await writer.discard(blobId);
    throw thrown;
  }
}
