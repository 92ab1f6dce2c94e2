import type { JsonObject } from "../../../../../core/json.ts";

/** A file to be read, once. */
export interface Source {
  readonly filename: string;
  /** Media type. */
  readonly contentType: string;
  read(): AsyncIterable<Uint8Array>;
}

/** Which part of it is wanted. */
export interface Part {
  /** A character of a text, a row of a table, a page of a document; 0 is the first. */
  readonly from: number;
  /** A JSON Pointer (RFC 6901); empty for the whole. */
  readonly pointer: string;
  readonly signal: AbortSignal;
}

/** What was read. `next` is where it goes on; null at the end. */
export type Reading = JsonObject & { readonly next: number | null };
