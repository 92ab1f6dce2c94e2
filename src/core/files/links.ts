import type { Cipher, Mac } from "../cipher.ts";
import { isMacOf } from "../signed-token.ts";

/** How long a download link is valid, in milliseconds (spec/decisions.md 38). */
export const downloadMs = 7 * 24 * 3_600_000;
/**
 * How long a short download link is valid, in milliseconds: of a shared task, and of files and skills on
 * settings pages (spec/decisions.md 58, 64).
 */
export const shortDownloadMs = 600_000;

/** Addresses that allow their holder to upload or download a file without a key. */
export interface FileLinks {
  /** The address for the PUT of a file's bytes. @param until Unix milliseconds, at a full second. */
  upload(fileId: string, until: number): string;
  /** The address of a file's bytes, valid for 7 days; created at each read. */
  download(fileId: string, now: number): string;
  /** The address of a file's bytes, valid for 10 minutes; created at each read. */
  shortDownload(fileId: string, now: number): ShortLink;
  /** Checks a link, whose parts are unchecked text. */
  check(kind: LinkKind, link: LinkParts, now: number): LinkState;
}

export interface ShortLink {
  readonly url: string;
  /** Unix milliseconds, at a full second. */
  readonly expiresAt: number;
}

/** The purpose of a link. Each kind has a separate signing key. */
export type LinkKind = "uploads" | "downloads";

/** A link is `{base}/{kind}/{createFileId}/{expires}/{signature}` (spec/decisions.md 37). */
export interface LinkParts {
  readonly fileId: string;
  /** Unix seconds, in digits. */
  readonly expires: string;
  /** HMAC-SHA256 of `{createFileId}/{expires}`, in base64url. */
  readonly signature: string;
}

export type LinkState = "good" | "expired" | "forged";

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function fileLinks(cipher: Pick<Cipher, "createMac">, baseUrl: string): FileLinks {
  const kinds = {
    uploads: signedLinks(cipher.createMac("file upload link"), `${baseUrl}/uploads`),
    downloads: signedLinks(cipher.createMac("file download link"), `${baseUrl}/downloads`),
  };
  return {
    upload: (fileId, until) => kinds.uploads.link(fileId, until),
    download: (fileId, now) => kinds.downloads.link(fileId, now + downloadMs),
    shortDownload(fileId, now) {
      const expiresAt = Math.floor((now + shortDownloadMs) / 1000) * 1000;
      return { url: kinds.downloads.link(fileId, expiresAt), expiresAt };
    },
    check: (kind, link, now) => kinds[kind].check(link, now),
  };
}

/** Links of one kind: `{address}/{id}/{expires}/{signature}`. */
export interface SignedLinks {
  /** @param until Unix milliseconds; the link ends with that second. */
  link(id: string, until: number): string;
  check(link: LinkParts, now: number): LinkState;
}

/** @param mac computes HMAC-SHA256 under the key of the kind. */
export function signedLinks(mac: Mac, address: string): SignedLinks {
  return {
    link(id, until) {
      const expires = `${Math.floor(until / 1000)}`;
      return `${address}/${id}/${expires}/${Buffer.from(mac(`${id}/${expires}`)).toString("base64url")}`;
    },
    check({ fileId, expires, signature }, now) {
      if (!isMacOf(mac, `${fileId}/${expires}`, signature)) return "forged";
      return now < Number(expires) * 1000 ? "good" : "expired";
    },
  };
}
