import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Blobs } from "../core/files/blob.ts";
import type { Tx } from "../core/store.ts";
import type { CheckpointFile } from "../core/websites/checkpoint.ts";
import { parseRequestPath, type RequestPath, urlPath } from "../core/websites/path.ts";
import { matchesEtag, rangeApplies, requestedRange } from "../http/files/send-file.ts";
import { type Answer, notFound, redirect } from "./answer.ts";

export interface PageRequest {
  readonly checkpointId: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** The Cache-Control value. */
  readonly caching: string;
}

export interface PageParts {
  readonly store: Pick<Tx, "checkpoints">;
  readonly blobs: Pick<Blobs, "read">;
}

const notFoundPage = "404.html";
const smallBytes = 64 * 1024;

/** The response with a file of a site, the index of its folder, the site's 404 page, or ours. */
export async function pageAnswer({ store, blobs }: PageParts, request: PageRequest): Promise<Answer> {
  const requested = parseRequestPath(request.target);
  const paths = requested === null ? [] : candidates(requested);
  const file = await store.checkpoints.file(request.checkpointId, [...paths, notFoundPage]);
  if (file === null) return notFound;
  if (!paths.includes(file.path)) return completeAnswer(blobs, file, 404, request);
  if (requested !== null && isIndexOf(file, requested))
    return redirect(308, `${urlPath(requested.path)}/${queryOf(request.target)}`);
  return fileAnswer(blobs, file, request);
}

/** The index of a folder has a URL with a slash at the end, because its relative links depend on it. */
const candidates = ({ path, isFolder }: RequestPath): readonly string[] => {
  const index = path === "" ? "index.html" : `${path}/index.html`;
  return isFolder ? [index] : [path, index];
};

const isIndexOf = ({ path }: CheckpointFile, requested: RequestPath): boolean =>
  !requested.isFolder && path !== requested.path;

const queryOf = (target: string): string => /\?[^#]*/.exec(target)?.[0] ?? "";

const headersOf = ({ contentType, sha256 }: CheckpointFile, caching: string) => ({
  "Content-Type": contentType,
  "Cache-Control": caching,
  "Accept-Ranges": "bytes",
  ETag: `"${sha256}"`,
});

async function completeAnswer(
  blobs: PageParts["blobs"],
  file: CheckpointFile,
  status: 200 | 404,
  { method, caching }: PageRequest,
): Promise<Answer> {
  const { "Accept-Ranges": _, ETag: __, ...plain } = headersOf(file, caching);
  const headers = { ...(status === 200 ? headersOf(file, caching) : plain), "Content-Length": file.bytes };
  return { status, headers, ...(method === "HEAD" ? {} : { body: await bodyOf(blobs, file) }) };
}

/** Small files are read into memory, because a stream costs more than their bytes. */
const bodyOf = async (
  blobs: PageParts["blobs"],
  { blobId, bytes }: CheckpointFile,
): Promise<Readable | Buffer> => {
  const stream = await blobs.read(blobId);
  return bytes > smallBytes ? stream : buffer(stream);
};

async function fileAnswer(
  blobs: PageParts["blobs"],
  file: CheckpointFile,
  request: PageRequest,
): Promise<Answer> {
  const { method, headers: requestHeaders, caching } = request;
  const headers = headersOf(file, caching);
  if (matchesEtag(requestHeaders, headers.ETag))
    return { status: 304, headers: { ETag: headers.ETag, "Cache-Control": caching } };
  // HEAD has no parts (RFC 9110 14.2).
  const range =
    method === "GET" && rangeApplies(requestHeaders, [headers.ETag])
      ? requestedRange(requestHeaders.range, file.bytes)
      : null;
  if (range === null) return completeAnswer(blobs, file, 200, request);
  if (range === "unsatisfiable")
    return { status: 416, headers: { "Content-Range": `bytes */${file.bytes}`, "Content-Length": 0 } };
  const { start, end } = range;
  return {
    status: 206,
    headers: {
      ...headers,
      "Content-Range": `bytes ${start}-${end}/${file.bytes}`,
      "Content-Length": end - start + 1,
    },
    body: await blobs.read(file.blobId, range),
  };
}
