import type { Readable } from "node:stream";

/** A part of some bytes: both ends included, as HTTP counts (RFC 9110 14.1.2). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where bytes are kept: a folder, or a bucket. It knows ids and nothing else. */
export interface Blobs {
  /**
   * Writes bytes down under an id of their own, durable when the promise resolves.
   * Nothing is left of them when it rejects, but after a crash: then `remove` finds
   * what was begun.
   *
   * @param signal aborted when they are to be given up.
   */
  put(id: string, bytes: Readable, signal: AbortSignal): Promise<void>;
  /** @throws Failure `absent` when they are gone. */
  read(id: string, range?: ByteRange): Promise<Readable>;
  /** Removes bytes, whole or begun; it is no fault when there are none. */
  remove(id: string): Promise<void>;
  /** An address at which whoever has it may read them for a while; null where this server sends them itself. */
  address(id: string, as: { readonly filename: string; readonly contentType: string; readonly seconds: number }): Promise<string | null>;
}
