import { timingSafeEqual } from "node:crypto";
import type { Cipher } from "../cipher.ts";

/** How long a download link lives, in milliseconds (contract/decisions.md 38). */
export const downloadMs = 7 * 24 * 3_600_000;

/** Addresses at which whoever has one may bring or fetch a file, without a key. */
export interface FileLinks {
  /** Where a file's bytes are PUT. @param until Unix milliseconds, a whole second. */
  upload(fileId: string, until: number): string;
  /** Where a file's bytes are fetched, for 7 days; made afresh at each read. */
  download(fileId: string, now: number): string;
  /** What a link comes to; the text of its parts was never checked. */
  check(kind: LinkKind, link: LinkParts, now: number): LinkState;
}

/** What a link is for: each kind is signed with a key of its own. */
export type LinkKind = "uploads" | "downloads";

/** A link is `{base}/{kind}/{fileId}/{expires}/{signature}` (contract/decisions.md 37). */
export interface LinkParts {
  readonly fileId: string;
  /** Unix seconds, in digits. */
  readonly expires: string;
  /** HMAC-SHA256 of the two, in base64url. */
  readonly signature: string;
}

export type LinkState = "good" | "expired" | "forged";

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function fileLinks(cipher: Pick<Cipher, "marker">, baseUrl: string): FileLinks {
  const of = {
    uploads: signedLinks(cipher.marker("file upload link"), `${baseUrl}/uploads`),
    downloads: signedLinks(cipher.marker("file download link"), `${baseUrl}/downloads`),
  };
  return {
    upload: (fileId, until) => of.uploads.link(fileId, until),
    download: (fileId, now) => of.downloads.link(fileId, now + downloadMs),
    check: (kind, link, now) => of[kind].check(link, now),
  };
}

/** Links of one kind: `{address}/{id}/{expires}/{signature}`. */
export interface SignedLinks {
  /** @param until Unix milliseconds; the link ends with that second. */
  link(id: string, until: number): string;
  check(link: LinkParts, now: number): LinkState;
}

/** @param mark HMAC-SHA256 under the kind's own key. */
export function signedLinks(mark: (text: string) => Uint8Array, address: string): SignedLinks {
  return {
    link(id, until) {
      const expires = `${Math.floor(until / 1000)}`;
      return `${address}/${id}/${expires}/${Buffer.from(mark(`${id}/${expires}`)).toString("base64url")}`;
    },
    check({ fileId, expires, signature: shown }, now) {
      if (!isSame(Buffer.from(mark(`${fileId}/${expires}`)), shown)) return "forged";
      return now < Number(expires) * 1000 ? "good" : "expired";
    },
  };
}

/** Compared in constant time, and letter by letter: base64url has several spellings of the same bytes. */
function isSame(made: Buffer, shown: string): boolean {
  const [wanted, given] = [Buffer.from(made.toString("base64url")), Buffer.from(shown)];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}
