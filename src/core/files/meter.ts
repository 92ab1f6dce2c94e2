import { createHash, type Hash } from "node:crypto";
import { Transform } from "node:stream";
import { Failure, invalidArgument } from "../failure.ts";
import { tooLarge } from "./file.ts";

/** A digest of the bytes that their sender states. */
export interface Digest {
  /** As node:crypto names it. */
  readonly algorithm: "md5" | "sha1" | "sha256" | "sha512";
  readonly value: Buffer;
  readonly header: string;
}

export interface Metering {
  /** The maximum number of bytes. */
  readonly max: number;
  /** The announced length; null without one. */
  readonly length: number | null;
  /** Called with the number of bytes so far, before they pass; it throws to stop them. */
  readonly admit: (total: number) => Promise<void> | undefined;
  /** Whether a stream that has ended is complete. */
  readonly isComplete: () => boolean;
  readonly digests: readonly Digest[];
}

/** A stream that counts and hashes its bytes. */
export interface Meter {
  readonly through: Transform;
  /** The number and the digest of the bytes, after the stream has ended. */
  readonly result: () => { bytes: number; sha256: string };
}

/** The bytes that may wait between the sender and the storage: few, so that buffers are collected soon. */
const bufferBytes = 64 * 1024;

/**
 * Counts and hashes the bytes of a stream. It fails with `too_large` at the first byte
 * beyond `max` or the announced length, with `cancelled` when the stream ends before it
 * is complete, and with `invalid_argument` when a stated digest does not match.
 */
export function meter({ max, length, admit, isComplete, digests }: Metering): Meter {
  const limit = Math.min(max, length ?? max);
  const sha256 = createHash("sha256");
  const stated = digests.map((digest) => ({ digest, hash: createHash(digest.algorithm) }));
  const hashes: readonly Hash[] = [sha256, ...stated.map(({ hash }) => hash)];
  const counted = { bytes: 0, sha256: "" };

  const through = new Transform({
    highWaterMark: bufferBytes,
    transform(chunk: Buffer, _encoding, done) {
      counted.bytes += chunk.length;
      if (counted.bytes > limit) return done(tooLarge(limit));
      for (const hash of hashes) hash.update(chunk);
      const admitted = admit(counted.bytes);
      if (admitted === undefined) return done(null, chunk);
      admitted.then(() => done(null, chunk), done);
    },
    flush(done) {
      if (!isComplete() || (length !== null && counted.bytes < length)) return done(senderDisconnected());
      counted.sha256 = sha256.digest("hex");
      const wrong = stated.find(({ digest, hash }) => !hash.digest().equals(digest.value));
      done(wrong ? invalidArgument(wrong.digest.header, "does not match the bytes") : null);
    },
  });
  // Attach an error handler early; readers still see the error.
  through.on("error", () => undefined);
  return { through, result: () => counted };
}

export const senderDisconnected = (): Failure => new Failure("cancelled", "the connection was closed");
