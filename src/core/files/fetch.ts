import type { Readable } from "node:stream";
import type { OnBehalf } from "../on-behalf.ts";

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
 * @throws Failure `invalid` with the path `file_url` and the reason: an address that is refused, a name that is not found, an
 * answer other than 200, what takes too long. Reading on past `max` bytes fails the same way. Of addresses that are not
 * public it says only that.
 */
export type FetchFile = (url: string, bound: OnBehalf & { readonly max: number }) => Promise<FetchedFile>;
