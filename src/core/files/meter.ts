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
