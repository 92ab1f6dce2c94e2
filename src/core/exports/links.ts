import type { Cipher } from "../cipher.ts";
import { type LinkState, signedLinks } from "../files/links.ts";
import type { Export, ExportKind } from "./export.ts";

/** How long the address of an archive lives, in milliseconds (contract/enterprise.md 6.5, 8.4). */
const archiveLinkMs: Readonly<Record<ExportKind, number>> = { data: 10 * 60_000, compliance: 15 * 60_000 };

/** An address and when it ends, Unix milliseconds, a whole second. */
export interface ExportLink {
  readonly url: string;
  readonly expiresAt: number;
}

/** Addresses at which whoever has one may fetch an archive, without a key: `{base}/exports/{exportId}/{expires}/{signature}`. */
export interface ExportLinks {
  /** A fresh one: for 10 minutes, of a compliance export for 15. */
  download(of: Pick<Export, "kind" | "id">, now: number): ExportLink;
  /** What a link comes to; the text of its parts was never checked. @param link expires in Unix seconds, in digits. */
  check(link: { readonly exportId: string; readonly expires: string; readonly signature: string }, now: number): LinkState;
}

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function exportLinks(cipher: Pick<Cipher, "marker">, baseUrl: string): ExportLinks {
  const links = signedLinks(cipher.marker("export download link"), `${baseUrl}/exports`);
  return {
    download({ kind, id }, now) {
      const expiresAt = Math.floor((now + archiveLinkMs[kind]) / 1000) * 1000;
      return { url: links.link(id, expiresAt), expiresAt };
    },
    check: ({ exportId, ...link }, now) => links.check({ fileId: exportId, ...link }, now),
  };
}
