import type { IncomingHttpHeaders } from "node:http";
import { notFound } from "../../core/failure.ts";
import type { Blobs, ByteRange } from "../../core/files/blob.ts";
import { keptMs, type StoredFile } from "../../core/files/file.ts";
import { contentDisposition } from "../../core/files/filename.ts";
import type { Call } from "../wire/wire.ts";

/** Whether the client already has this content (RFC 9110 13.1.2). */
export function matchesEtag(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers["if-none-match"];
  if (known === undefined) return false;
  return known.trim() === "*" || known.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/**
 * Whether the parts that the client has belong to this content (RFC 9110 13.1.5). @param validators the
 * validators of this content.
 */
export function rangeApplies(headers: IncomingHttpHeaders, validators: readonly string[]): boolean {
  const condition = headers["if-range"];
  return condition === undefined || validators.includes(String(condition));
}

/**
 * The requested part (RFC 9110 14.1.2). Null means the complete content: also for a
 * malformed header, another unit, or several parts, which a server need not support.
 */
export function requestedRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "") return last === "" ? null : suffix(Number(last), size);
  const [start, end] = [Number(first), last === "" ? Number.POSITIVE_INFINITY : Number(last)];
  if (end < start) return null;
  return start < size ? { start, end: Math.min(end, size - 1) } : "unsatisfiable";
}

const suffix = (length: number, size: number): ByteRange | "unsatisfiable" =>
  length === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(0, size - length), end: size - 1 };

/** The lifetime of an address of the storage, in seconds. */
const addressSeconds = 300;

type UploadedFile = StoredFile & { readonly blobId: string; readonly bytes: number; readonly sha256: string };

/**
 * Answers GET or HEAD with a file, its requested part, or a redirect to the storage. The
 * headers keep browsers from executing the content.
 *
 * @param file the file in its current state (`fileAt`).
 * @throws Failure `not_found` when its bytes were deleted.
 */
export async function sendFile(
  { request, reply }: Pick<Call, "request" | "reply">,
  file: StoredFile,
  blobs: Blobs,
): Promise<undefined> {
  if (!isUploaded(file)) throw notFound("file");
  const { filename, contentType, blobId } = file;
  const isGet = request.method === "GET";
  const address = isGet
    ? await blobs.address(blobId, { filename, contentType, seconds: addressSeconds })
    : null;
  if (address !== null) return void reply.header("Cache-Control", "no-store").redirect(address, 302);
  const headers = headersOf(file);
  reply.headers(headers);
  if (matchesEtag(request.headers, headers.ETag)) return void reply.code(304).send();
  // HEAD has no parts (RFC 9110 14.2).
  const range =
    isGet && rangeApplies(request.headers, [headers.ETag, headers["Last-Modified"]])
      ? requestedRange(request.headers.range, file.bytes)
      : null;
  if (range === "unsatisfiable")
    return void reply.code(416).header("Content-Range", `bytes */${file.bytes}`).send();
  reply.header("Content-Length", range === null ? file.bytes : range.end - range.start + 1);
  if (!isGet) return void reply.send();
  if (range !== null)
    reply.code(206).header("Content-Range", `bytes ${range.start}-${range.end}/${file.bytes}`);
  reply.send(await blobs.read(blobId, range ?? undefined));
}

const isUploaded = (file: StoredFile): file is UploadedFile =>
  file.status === "uploaded" && file.blobId !== null && file.bytes !== null && file.sha256 !== null;

const headersOf = ({ filename, contentType, sha256, expiresAt, createdAt }: UploadedFile) => ({
  "Content-Type": contentType,
  "Content-Disposition": contentDisposition(filename),
  "Content-Security-Policy": "default-src 'none'; sandbox",
  // Any page with the link may show the file, for instance as a picture.
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cache-Control": "private, no-cache",
  "Accept-Ranges": "bytes",
  ETag: `"${sha256}"`,
  "Last-Modified": new Date(expiresAt === null ? createdAt : expiresAt - keptMs).toUTCString(),
});
