import { createHash, type Hash } from "node:crypto";
import { Transform } from "node:stream";
import { Failure, invalid } from "../failure.ts";
import { tooLarge } from "./quota.ts";

/** What the bytes are said to be, by whoever sends them. */
export interface Digest {
  /** As node:crypto names it. */
  readonly algorithm: "md5" | "sha1" | "sha256" | "sha512";
  readonly value: Buffer;
  /** Where it was said: a header's name. */
  readonly said: string;
}

/** What a meter goes by. */
export interface Metering {
  /** The most bytes that may come. */
  readonly max: number;
  /** As it was announced; null when nothing was. */
  readonly length: number | null;
  /** Asked with the bytes so far, before they go on; it throws to stop them. */
  readonly admit: (total: number) => Promise<void> | undefined;
  /** Whether what has ended has come whole. */
  readonly isWhole: () => boolean;
  readonly digests: readonly Digest[];
}

/** Bytes that are counted and hashed on their way. */
export interface Meter {
  readonly through: Transform;
  /** What they were, once they are through. */
  readonly counted: () => { readonly bytes: number; readonly sha256: string };
}

/** So much may wait between whoever sends and the storage: little, so that buffers are soon garbage. */
const bufferBytes = 64 * 1024;

/**
 * Counts and hashes bytes that flow through. It fails with `too_large` at the first
 * one beyond `max` or the announced length, with `cancelled` when they have ended
 * before they were whole, and with `invalid` when they are not what they were said to be.
 */
export function meter({ max, length, admit, isWhole, digests }: Metering): Meter {
  const most = Math.min(max, length ?? max);
  const sha256 = createHash("sha256");
  const said = digests.map((digest) => ({ digest, hash: createHash(digest.algorithm) }));
  const hashes: readonly Hash[] = [sha256, ...said.map(({ hash }) => hash)];
  const counted = { bytes: 0, sha256: "" };

  const through = new Transform({
    highWaterMark: bufferBytes,
    transform(chunk: Buffer, _encoding, done) {
      counted.bytes += chunk.length;
      if (counted.bytes > most) return done(tooLarge(most));
      for (const hash of hashes) hash.update(chunk);
      const admitted = admit(counted.bytes);
      if (admitted === undefined) return done(null, chunk);
      admitted.then(() => done(null, chunk), done);
    },
    flush(done) {
      if (!isWhole() || (length !== null && counted.bytes < length)) return done(cutOff());
      counted.sha256 = sha256.digest("hex");
      const wrong = said.find(({ digest, hash }) => !hash.digest().equals(digest.value));
      done(wrong ? invalid(wrong.digest.said, "does not match the bytes") : null);
    },
  });
  // It may fail before anybody reads it; who does then finds it failed.
  through.on("error", () => undefined);
  return { through, counted: () => counted };
}

/** Whoever sends has gone away. */
export const cutOff = (): Failure => new Failure("cancelled", "the connection was closed");
