import type { FastifyReply, FastifyRequest } from "fastify";
import { absent } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blobs.ts";
import { attachment } from "../../core/files/disposition.ts";
import { keptMs, type StoredFile } from "../../core/files/file.ts";
import { rangeOf } from "./range.ts";
import { isCurrent, isKnown } from "./validators.ts";

/** How long an address of the storage's own is good for. */
const addressSeconds = 300;

/** A file that has bytes. */
type Whole = StoredFile & { readonly blobId: string; readonly bytes: number; readonly sha256: string };

/**
 * Sends a file, or the part of it that is asked for, or where to get it; in such a way
 * that no browser runs what it holds. For GET and HEAD.
 *
 * @param file as it is now (`asOf`).
 * @throws Failure `absent` when its bytes are gone.
 */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: StoredFile, blobs: Blobs): Promise<FastifyReply> {
  if (!isWhole(file)) throw absent("file");
  const { filename, contentType, blobId } = file;
  const isGet = request.method === "GET";
  const address = isGet ? await blobs.address(blobId, { filename, contentType, seconds: addressSeconds }) : null;
  if (address !== null) return reply.header("Cache-Control", "no-store").redirect(address, 302);
  const headers = headersOf(file);
  reply.headers(headers);
  if (isKnown(request.headers, headers.ETag)) return reply.code(304).send();
  // HEAD has no parts (RFC 9110 14.2).
  const range =
    isGet && isCurrent(request.headers, [headers.ETag, headers["Last-Modified"]]) ? rangeOf(request.headers.range, file.bytes) : null;
  if (range === "unsatisfiable") return reply.code(416).header("Content-Range", `bytes */${file.bytes}`).send();
  reply.header("Content-Length", range === null ? file.bytes : range.end - range.start + 1);
  if (!isGet) return reply.send();
  if (range !== null) reply.code(206).header("Content-Range", `bytes ${range.start}-${range.end}/${file.bytes}`);
  return reply.send(await blobs.read(blobId, range ?? undefined));
}

const isWhole = (file: StoredFile): file is Whole =>
  file.status === "uploaded" && file.blobId !== null && file.bytes !== null && file.sha256 !== null;

const headersOf = ({ filename, contentType, sha256, expiresAt, createdAt }: Whole) => ({
  "Content-Type": contentType,
  "Content-Disposition": attachment(filename),
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  // Whoever has the link may show it, as a picture in a page for instance.
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cache-Control": "private, no-cache",
  "Accept-Ranges": "bytes",
  ETag: `"${sha256}"`,
  "Last-Modified": new Date(expiresAt === null ? createdAt : expiresAt - keptMs).toUTCString(),
});
