import { finished } from "node:stream/promises";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Store, Tx } from "../store.ts";
import { asOf, keptMs, type StoredFile } from "./file.ts";
import { meter } from "./meter.ts";
import { tooLarge } from "./quota.ts";
import { givenUp, lead, type Writer, type Writing, type Written } from "./writer.ts";

/** Bytes that come in for a slot. */
export type Incoming = Required<Pick<Writing, "bytes" | "length" | "signal" | "digests" | "isWhole">>;

/** Takes what is PUT to upload links (contract/decisions.md 37). */
export interface Uploads {
  /**
   * Fills a slot: the first complete upload wins, and the same bytes once more are
   * fine. Whatever fails leaves no bytes, and unless they were too many the slot as it was.
   *
   * @param until when the slot's window ends, as its link says.
   * @throws Failure `absent`, `exists` for other bytes than those that are there,
   * `precondition` for a slot that has failed, `too_large` beyond the file's limit or
   * the quota, and what `Writer.write` throws.
   */
  receive(id: string, until: number, incoming: Incoming): Promise<StoredFile>;
}

/** What uploads need of their surroundings. */
export interface UploadsParts {
  readonly store: Store;
  readonly writer: Writer;
  readonly clock: Clock;
  /** Bytes of one file. */
  readonly max: number;
}

export function uploads({ store, writer, clock, max }: UploadsParts): Uploads {
  async function find(id: string): Promise<StoredFile> {
    const file = await store.files.byId(id);
    if (!file) throw absent("file");
    return asOf(file, clock.now());
  }

  /** While bytes come the window stays open. Who comes second may still turn out to bring the same. */
  async function stayOpen(tx: Tx, id: string, leaseUntil: number): Promise<void> {
    if (await tx.files.await(id, leaseUntil)) return;
    const file = await tx.files.byId(id);
    if (file?.status !== "uploaded") throw unwanted(file);
  }

  /** Writes bytes down, with the window open as long as that takes. */
  async function write(file: StoredFile, until: number, incoming: Incoming): Promise<Written> {
    let openUntil = until;
    try {
      return await writer.write({
        ...incoming,
        ...{ accountId: file.accountId, max },
        async coming(tx, leaseUntil) {
          await stayOpen(tx, file.id, leaseUntil);
          openUntil = leaseUntil;
        },
      });
    } catch (thrown) {
      await store.change((tx) => tx.files.unawait(file.id, openUntil, until)).catch(() => undefined);
      throw thrown;
    }
  }

  /** A file that is too large, or an account that is full, ends the slot; all else leaves it open. */
  async function ended(id: string, thrown: unknown): Promise<unknown> {
    if (!(thrown instanceof Failure) || (thrown.reason !== "too_large" && thrown.reason !== "exhausted")) return thrown;
    await store.change((tx) => tx.files.fail(id, thrown.message, clock.now()));
    return new Failure("too_large", thrown.message);
  }

  /** True when these bytes are the file's now; false when others were first. */
  async function keep(id: string, written: Written): Promise<boolean> {
    const { blobId, bytes, sha256 } = written;
    try {
      return await store.change(async (tx) => {
        const now = clock.now();
        if (!(await tx.files.complete(id, { blobId, bytes, sha256, expiresAt: now + keptMs }))) return false;
        if (written.reserved !== bytes) await writer.settle(tx, written, now);
        if (!(await tx.blobs.keep(blobId))) throw givenUp();
        return true;
      });
    } catch (thrown) {
      await writer.discard(blobId);
      throw thrown;
    }
  }

  async function fill(file: StoredFile, until: number, incoming: Incoming): Promise<StoredFile> {
    if (incoming.length !== null && incoming.length > max) throw await ended(file.id, tooLarge(max));
    const written = await write(file, until, incoming).catch(async (thrown: unknown) => {
      throw await ended(file.id, thrown);
    });
    const won = await keep(file.id, written);
    if (!won) await writer.discard(written.blobId);
    const now = await find(file.id);
    return won ? now : sameAs(now, written.sha256);
  }

  return {
    async receive(id, until, incoming) {
      const file = await find(id);
      if (file.status === "pending") return fill(file, until, incoming);
      if (file.status !== "uploaded") throw unwanted(file);
      return sameAs(file, await hashOf(file, incoming));
    },
  };
}

/** A slot that takes nothing any more. */
const unwanted = (file: StoredFile | null): Failure =>
  file?.status === "error" ? new Failure("precondition", `the upload has failed: ${file.error}`) : absent("file");

const differs = (): Failure => new Failure("exists", "other bytes are there already");

function sameAs(file: StoredFile, sha256: string): StoredFile {
  if (file.status !== "uploaded") throw unwanted(file);
  if (file.sha256 !== sha256) throw differs();
  return file;
}

/** The SHA-256 of bytes that come once more; they are written nowhere. */
async function hashOf({ bytes: size }: StoredFile, { bytes, length, isWhole, digests }: Incoming): Promise<string> {
  if (length !== null && length !== size) throw differs();
  const metered = meter({ max: size ?? 0, length, isWhole, digests, admit: () => undefined });
  lead(bytes, metered.through);
  metered.through.resume();
  await finished(metered.through).catch((thrown: unknown) => {
    throw thrown instanceof Failure && thrown.reason === "too_large" ? differs() : thrown;
  });
  return metered.counted().sha256;
}
