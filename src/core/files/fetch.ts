import type { Readable } from "node:stream";

/** A file that another server gives. */
export interface FetchedFile {
  readonly bytes: Readable;
  /** As that server says, without parameters; null when it says none. */
  readonly contentType: string | null;
  /** As that server or the address's last part says; null when neither does. It was not checked. */
  readonly filename: string | null;
}

/**
 * Gets a file from an address that a stranger gave: public addresses only, over http
 * and https (contract/decisions.md 39). Every resolved address is checked, and every
 * redirect anew.
 *
 * @throws Failure `invalid`, with a text that says nothing of what stands there, for
 * an address that is refused, an answer other than 200, and what takes too long; reading on
 * past `max` bytes fails the same way.
 */
export type FetchFile = (url: string, bound: { readonly max: number; readonly signal: AbortSignal }) => Promise<FetchedFile>;
