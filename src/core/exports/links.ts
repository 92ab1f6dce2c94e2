import type { Cipher } from "../cipher.ts";
import { Failure, notFound, type Reason } from "../failure.ts";
import { type LinkState, signedLinks } from "../files/links.ts";
import type { Tx } from "../store.ts";
import { type Export, type ExportKind, type ExportOf, isPurged } from "./export.ts";

/** How long the address of an archive is valid, in milliseconds (spec/enterprise.md 6.5, 8.4). */
const archiveLinkMs: Readonly<Record<ExportKind, number>> = { data: 10 * 60_000, compliance: 15 * 60_000 };

/** An address, and when it expires: Unix milliseconds, at a full second. */
export interface ExportLink {
  readonly url: string;
  readonly expiresAt: number;
}

/**
 * Addresses that allow their holder to download an archive without a key:
 * `{base}/exports/{exportId}/{expires}/{signature}`.
 */
export interface ExportLinks {
  /** Creates an address that is valid for 10 minutes, or 15 for a compliance export. */
  download(of: Pick<Export, "kind" | "id">, now: number): ExportLink;
  /** Checks a link, whose parts are unchecked text. @param link `expires` is Unix seconds in digits. */
  check(link: { exportId: string; expires: string; signature: string }, now: number): LinkState;
}

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function exportLinks(cipher: Pick<Cipher, "createMac">, baseUrl: string): ExportLinks {
  const links = signedLinks(cipher.createMac("export download link"), `${baseUrl}/exports`);
  return {
    download({ kind, id }, now) {
      const expiresAt = Math.floor((now + archiveLinkMs[kind]) / 1000) * 1000;
      return { url: links.link(id, expiresAt), expiresAt };
    },
    check: ({ exportId, ...link }, now) => links.check({ fileId: exportId, ...link }, now),
  };
}

/** @throws Failure `not_found`, also for an export of another kind or space. */
export async function requireExport<K extends ExportKind>(
  { exports }: Pick<Tx, "exports">,
  kind: K,
  spaceId: string,
  id: string,
): Promise<ExportOf<K>> {
  const record = await exports.find(kind, spaceId, id);
  if (record === null) throw notFound("export");
  return record;
}

/** Null without an archive. */
export const linkIfAvailable = (
  of: Export,
  links: Pick<ExportLinks, "download">,
  now: number,
): ExportLink | null => (of.status === "completed" && !isPurged(of, now) ? links.download(of, now) : null);

/**
 * Creates an address of an archive.
 *
 * @param purged the reason of the failure for a purged archive.
 * @throws Failure `failed_precondition` until it is completed.
 */
export function createDownloadLink(
  of: Export,
  links: Pick<ExportLinks, "download">,
  now: number,
  purged: Extract<Reason, "not_found" | "failed_precondition">,
): ExportLink {
  if (of.status !== "completed") throw new Failure("failed_precondition", "the export is not completed");
  const link = linkIfAvailable(of, links, now);
  if (link !== null) return link;
  throw purged === "not_found"
    ? notFound("archive")
    : new Failure("failed_precondition", "the archive was purged 30 days after its completion");
}
