import { buffer } from "node:stream/consumers";
import type { Blobs } from "../../core/files/blob.ts";
import type { StoredFile } from "../../core/files/file.ts";
import { contentDisposition } from "../../core/files/filename.ts";
import { type PdfOf, pdfKindOf, pdfName } from "../../core/files/pdf.ts";
import type { Call } from "../wire/wire.ts";
import { matchesEtag, sendFile } from "./send-file.ts";

interface PdfParts {
  readonly blobs: Blobs;
  readonly pdfOf: PdfOf;
}

/**
 * Answers GET with the PDF of a file. A file that cannot be converted is sent as it is, with the reason in
 * `X-Request-Warnings`. HEAD converts nothing: its answer is that of the file.
 *
 * @param file the file in its current state (`fileAt`).
 */
export async function sendAsPdf(
  call: Call,
  file: StoredFile,
  { blobs, pdfOf }: PdfParts,
): Promise<undefined> {
  const { request, reply, gone } = call;
  const { blobId, bytes, sha256, filename } = file;
  const kind = pdfKindOf(file);
  const isPresent = file.status === "uploaded" && blobId !== null && bytes !== null;
  if (!isPresent || request.method !== "GET") return sendFile(call, file, blobs);
  const etag = `"${sha256}-pdf"`;
  if (kind !== undefined && matchesEtag(request.headers, etag))
    return void reply.header("ETag", etag).code(304).send();
  const source = { bytes, read: async () => buffer(await blobs.read(blobId)) };
  const result =
    kind === undefined
      ? { reason: "it is neither HTML nor Markdown" }
      : await pdfOf({ ...source, ...kind }, gone);
  if ("reason" in result) {
    reply.header("X-Request-Warnings", `the file was not converted to PDF: ${result.reason}`);
    return sendFile(call, file, blobs);
  }
  reply.headers({
    "Content-Type": "application/pdf",
    "Content-Length": result.pdf.length,
    "Content-Disposition": contentDisposition(pdfName(filename)),
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "private, no-cache",
    ETag: etag,
  });
  reply.send(result.pdf);
}
