import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Blobs } from "../core/files/blobs.ts";
import type { Tx } from "../core/store.ts";
import type { CheckpointFile } from "../core/websites/checkpoint.ts";
import { type AskedPath, askedPath, urlPath } from "../core/websites/path.ts";
import { rangeOf } from "../http/files/range.ts";
import { isCurrent, isKnown } from "../http/files/validators.ts";
import { type Answer, notFound, redirect } from "./answer.ts";

/** What is asked of a live checkpoint. */
export interface PageRequest {
  readonly checkpointId: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Who may keep the answer. */
  readonly caching: string;
}

/** Where pages come from. */
export interface PageParts {
  readonly store: Pick<Tx, "checkpoints">;
  readonly blobs: Pick<Blobs, "read">;
}

const notFoundPage = "404.html";
const smallBytes = 64 * 1024;

/** A file of a site, the index of its folder, the site's own page for what it has not, or ours. */
export async function pageAnswer({ store, blobs }: PageParts, request: PageRequest): Promise<Answer> {
  const asked = askedPath(request.target);
  const wanted = asked === null ? [] : candidates(asked);
  const file = await store.checkpoints.file(request.checkpointId, [...wanted, notFoundPage]);
  if (file === null) return notFound;
  if (!wanted.includes(file.path)) return whole(blobs, file, 404, request);
  if (asked !== null && isIndexOf(file, asked)) return redirect(308, `${urlPath(asked.path)}/${queryOf(request.target)}`);
  return fileAnswer(blobs, file, request);
}

/** The index of a folder is asked for with a slash at the end: links in it go by that. */
const candidates = ({ path, isFolder }: AskedPath): readonly string[] => {
  const index = path === "" ? "index.html" : `${path}/index.html`;
  return isFolder ? [index] : [path, index];
};

const isIndexOf = ({ path }: CheckpointFile, asked: AskedPath): boolean => !asked.isFolder && path !== asked.path;

const queryOf = (target: string): string => /\?[^#]*/.exec(target)?.[0] ?? "";

const headersOf = ({ contentType, sha256 }: CheckpointFile, caching: string) => ({
  "Content-Type": contentType,
  "Cache-Control": caching,
  "Accept-Ranges": "bytes",
  ETag: `"${sha256}"`,
});

async function whole(
  blobs: PageParts["blobs"],
  file: CheckpointFile,
  status: 200 | 404,
  { method, caching }: PageRequest,
): Promise<Answer> {
  const { "Accept-Ranges": _, ETag: __, ...plain } = headersOf(file, caching);
  const headers = { ...(status === 200 ? headersOf(file, caching) : plain), "Content-Length": file.bytes };
  return { status, headers, ...(method === "HEAD" ? {} : { body: await bodyOf(blobs, file) }) };
}

/** Small files are read before they are sent: a stream costs more than what is in it. */
const bodyOf = async (blobs: PageParts["blobs"], { blobId, bytes }: CheckpointFile): Promise<Readable | Buffer> => {
  const stream = await blobs.read(blobId);
  return bytes > smallBytes ? stream : buffer(stream);
};

async function fileAnswer(blobs: PageParts["blobs"], file: CheckpointFile, request: PageRequest): Promise<Answer> {
  const { method, headers: given, caching } = request;
  const headers = headersOf(file, caching);
  if (isKnown(given, headers.ETag)) return { status: 304, headers: { ETag: headers.ETag, "Cache-Control": caching } };
  // HEAD has no parts (RFC 9110 14.2).
  const range = method === "GET" && isCurrent(given, [headers.ETag]) ? rangeOf(given.range, file.bytes) : null;
  if (range === null) return whole(blobs, file, 200, request);
  if (range === "unsatisfiable") return { status: 416, headers: { "Content-Range": `bytes */${file.bytes}`, "Content-Length": 0 } };
  const { start, end } = range;
  return {
    status: 206,
    headers: { ...headers, "Content-Range": `bytes ${start}-${end}/${file.bytes}`, "Content-Length": end - start + 1 },
    body: await blobs.read(file.blobId, range),
  };
}
