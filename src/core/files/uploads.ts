import { finished } from "node:stream/promises";
import type { Clock } from "../clock.ts";
import { Failure, failureOf, notFound } from "../failure.ts";
import type { Observe } from "../observe.ts";
import type { Store, Tx } from "../store.ts";
import { fileAt, keptMs, type StoredFile, tooLarge } from "./file.ts";
import { meter } from "./meter.ts";
import { pipeOneWay, uploadAbandoned, type Writer, type Writing, type Written } from "./writer.ts";

export type Incoming = Required<Pick<Writing, "bytes" | "length" | "signal" | "digests" | "isComplete">>;

/** Receives the bytes that are PUT to upload links (spec/decisions.md 37). */
export interface Uploads {
  /**
   * Completes a pending file. The first complete upload wins; the same bytes again also
   * succeed. A failed upload leaves no bytes. The file stays pending, unless they were too many.
   *
   * @param until the end of the file's window, from the link.
   * @throws Failure `not_found`, `already_exists` for bytes that differ from the present ones,
   * `failed_precondition` for a failed file, `too_large` beyond the file's limit or the
   * quota, and the failures of `Writer.write`.
   */
  receive(id: string, until: number, incoming: Incoming): Promise<StoredFile>;
}

export interface UploadsParts {
  readonly store: Pick<Tx, "files">;
  /** Runs changes that wait for an account's total of bytes. */
  readonly changeBytes: Store["change"];
  readonly writer: Writer;
  readonly clock: Clock;
  /** The maximum bytes of one file. */
  readonly max: number;
  readonly observe?: Pick<Observe, "uploaded">;
}

export function uploads({ store, changeBytes, writer, clock, max, observe }: UploadsParts): Uploads {
  async function find(id: string): Promise<StoredFile> {
    const file = await store.files.byId(id);
    if (!file) throw notFound("file");
    return fileAt(file, clock.now());
  }

  /**
   * Keeps the window open while bytes arrive. After another upload has completed, this one continues: it may
   * have the same bytes.
   */
  async function keepOpen(tx: Tx, id: string, leaseUntil: number): Promise<void> {
    if (await tx.files.extendWindow(id, leaseUntil)) return;
    const file = await tx.files.byId(id);
    if (file?.status !== "uploaded") throw notReceivable(file);
  }

  /** Writes bytes to the storage and keeps the window open during the write. */
  async function write(file: StoredFile, until: number, incoming: Incoming): Promise<Written> {
    let openUntil = until;
    try {
      return await writer.write({
        ...incoming,
        accountId: file.accountId,
        max,
        async onRenew(tx, leaseUntil) {
          await keepOpen(tx, file.id, leaseUntil);
          openUntil = leaseUntil;
        },
      });
    } catch (thrown) {
      await changeBytes((tx) => tx.files.restoreWindow(file.id, openUntil, until)).catch(() => undefined);
      throw thrown;
    }
  }

  /** Fails the file if it is too large or the quota is used up. After any other failure it stays pending. */
  async function failIfTooLarge(id: string, thrown: unknown): Promise<unknown> {
    if (
      !(thrown instanceof Failure) ||
      (thrown.reason !== "too_large" && thrown.reason !== "resource_exhausted")
    )
      return thrown;
    await changeBytes((tx) => tx.files.fail(id, thrown.message, clock.now()));
    return new Failure("too_large", thrown.message);
  }

  /** True if these bytes are now the file's; false if another upload was first. */
  async function keep(id: string, written: Written): Promise<boolean> {
    const { blobId, bytes, sha256 } = written;
    try {
      return await changeBytes(async (tx) => {
        const now = clock.now();
        if (!(await tx.files.complete(id, { blobId, bytes, sha256, expiresAt: now + keptMs }))) return false;
        if (written.reserved !== bytes) await writer.settle(tx, written, now);
        if (!(await tx.blobs.keep(blobId))) throw uploadAbandoned();
        return true;
      });
    } catch (thrown) {
      await writer.discard(blobId);
      throw thrown;
    }
  }

  async function fill(file: StoredFile, until: number, incoming: Incoming): Promise<StoredFile> {
    if (incoming.length !== null && incoming.length > max) throw await failIfTooLarge(file.id, tooLarge(max));
    const written = await write(file, until, incoming).catch(async (thrown: unknown) => {
      throw await failIfTooLarge(file.id, thrown);
    });
    const isFirst = await keep(file.id, written);
    if (!isFirst) await writer.discard(written.blobId);
    const now = await find(file.id);
    return isFirst ? now : requireSame(now, written.sha256);
  }

  async function receive(id: string, until: number, incoming: Incoming): Promise<StoredFile> {
    const file = await find(id);
    if (file.status === "pending") return fill(file, until, incoming);
    if (file.status !== "uploaded") throw notReceivable(file);
    return requireSame(file, await hashOf(file, incoming));
  }

  return {
    async receive(id, until, incoming) {
      try {
        const file = await receive(id, until, incoming);
        observe?.uploaded("ok", file.bytes ?? 0);
        return file;
      } catch (thrown) {
        observe?.uploaded(failureOf(thrown).reason, 0);
        throw thrown;
      }
    },
  };
}

const notReceivable = (file: StoredFile | null): Failure =>
  file?.status === "error"
    ? new Failure("failed_precondition", `the upload has failed: ${file.error}`)
    : notFound("file");

const bytesDiffer = (): Failure => new Failure("already_exists", "the file has other bytes already");

function requireSame(file: StoredFile, sha256: string): StoredFile {
  if (file.status !== "uploaded") throw notReceivable(file);
  if (file.sha256 !== sha256) throw bytesDiffer();
  return file;
}

/** The SHA-256 of repeated bytes. They are not written. */
async function hashOf(
  { bytes: size }: StoredFile,
  { bytes, length, isComplete, digests }: Incoming,
): Promise<string> {
  if (length !== null && length !== size) throw bytesDiffer();
  const metered = meter({ max: size ?? 0, length, isComplete, digests, admit: () => undefined });
  pipeOneWay(bytes, metered.through);
  metered.through.resume();
  await finished(metered.through).catch((thrown: unknown) => {
    throw thrown instanceof Failure && thrown.reason === "too_large" ? bytesDiffer() : thrown;
  });
  return metered.result().sha256;
}
