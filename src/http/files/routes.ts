import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Cipher } from "../../core/cipher.ts";
import type { Clock } from "../../core/clock.ts";
import { type Export, type ExportArchive, isPurged } from "../../core/exports/export.ts";
import type { ExportLinks } from "../../core/exports/links.ts";
import { openArchive } from "../../core/exports/seal.ts";
import { notFound } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { fileAt, type StoredFile } from "../../core/files/file.ts";
import { contentDisposition } from "../../core/files/filename.ts";
import type { FileLinks } from "../../core/files/links.ts";
import type { PdfOf } from "../../core/files/pdf.ts";
import { parseDownloadId, toSkillFile } from "../../core/skills/content.ts";
import type { Tx } from "../../core/store.ts";
import { allowOrigins } from "../cors.ts";
import { v2Wire } from "../v2/refusal.ts";
import type { Call, Handle, Wire } from "../wire/wire.ts";
import { checkLink, checkLinkState, linkPath, wrongMethod } from "./link.ts";
import { matchesEtag, rangeApplies, requestedRange, sendFile } from "./send-file.ts";
import { sendAsPdf } from "./send-pdf.ts";
import { type UploadRouteParts, uploadRoute } from "./upload.ts";

interface ArchiveRouteParts {
  readonly blobs: Blobs;
  readonly exportLinks: ExportLinks;
  readonly cipher: Pick<Cipher, "deriveAll">;
  readonly clock: Clock;
  readonly store: Pick<Tx, "exports">;
}

interface Link {
  readonly exportId: string;
  readonly expires: string;
  readonly signature: string;
}

const linkOf = ({ params }: FastifyRequest): Link => params as Link;

/**
 * Serves `GET` and `HEAD` of an archive's link. The link's signature authorizes the
 * request, so no key is needed (spec/enterprise.md 6.5). The archive is decrypted while
 * it is sent, so the storage cannot serve it itself. A forged chunk breaks the
 * connection.
 */
function archiveRoute(
  app: FastifyInstance,
  wire: Wire,
  { blobs, exportLinks, cipher, clock, store }: ArchiveRouteParts,
): void {
  const serve: Handle = async (call) => {
    checkLinkState(exportLinks.check(linkOf(call.request), clock.now()));
    const record = await store.exports.byId(linkOf(call.request).exportId);
    if (!record?.archive || isPurged(record, clock.now())) throw notFound("export");
    await send(call, record, record.archive, { blobs, cipher });
  };
  wire.route(app, "/:exportId/:expires/:signature", { GET: serve, HEAD: serve }, wrongMethod);
}

async function send(
  { request, reply }: Call,
  { id, completedAt }: Export,
  { blobId, bytes, sha256 }: ExportArchive,
  { blobs, cipher }: Pick<ArchiveRouteParts, "blobs" | "cipher">,
): Promise<void> {
  const isGet = request.method === "GET";
  const headers = { ETag: `"${sha256}"`, "Last-Modified": new Date(completedAt ?? 0).toUTCString() };
  reply.headers({
    ...headers,
    "Content-Type": "application/zip",
    "Content-Disposition": contentDisposition(`export-${id}.zip`),
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
    "Accept-Ranges": "bytes",
  });
  if (matchesEtag(request.headers, headers.ETag)) return void reply.code(304).send();
  // HEAD has no parts (RFC 9110 14.2).
  const range =
    isGet && rangeApplies(request.headers, [headers.ETag, headers["Last-Modified"]])
      ? requestedRange(request.headers.range, bytes)
      : null;
  if (range === "unsatisfiable")
    return void reply.code(416).header("Content-Range", `bytes */${bytes}`).send();
  reply.header("Content-Length", range === null ? bytes : range.end - range.start + 1);
  if (!isGet) return void reply.send();
  const opened = await openArchive(cipher, blobs, { exportId: id, blobId, bytes }, range ?? undefined);
  if (range !== null) reply.code(206).header("Content-Range", `bytes ${range.start}-${range.end}/${bytes}`);
  reply.send(opened);
}

interface DownloadRouteParts {
  readonly blobs: Blobs;
  readonly links: FileLinks;
  readonly clock: Clock;
  readonly store: Pick<Tx, "files" | "skills">;
  readonly pdfOf: PdfOf;
}

/**
 * Serves `GET` and `HEAD` of a download link. The link's signature authorizes the request, so no key is
 * needed. With `as=pdf` the answer is the PDF of the file (spec/decisions.md 70).
 */
function downloadRoute(
  app: FastifyInstance,
  wire: Wire,
  { blobs, links, clock, store, pdfOf }: DownloadRouteParts,
): void {
  const serve: Handle = async (call) => {
    const { fileId } = checkLink("downloads", call.request, { links, clock });
    const file = await linkedFile(store, fileId);
    if (!file) throw notFound("file");
    const now = fileAt(file, clock.now());
    const { as } = call.request.query as { as?: unknown };
    await (as === "pdf" ? sendAsPdf(call, now, { blobs, pdfOf }) : sendFile(call, now, blobs));
  };
  wire.route(app, linkPath, { GET: serve, HEAD: serve }, wrongMethod);
}

/** Finds a file or a skill's ZIP. */
async function linkedFile(store: DownloadRouteParts["store"], linked: string): Promise<StoredFile | null> {
  const skillId = parseDownloadId(linked);
  if (skillId === undefined) return store.files.byId(linked);
  const skill = await store.skills.byId(skillId);
  return skill && toSkillFile(skill);
}

export interface FileRoutesParts extends UploadRouteParts, DownloadRouteParts, ArchiveRouteParts {
  readonly store: Pick<Tx, "files" | "exports" | "skills" | "clients">;
  /** Origins whose pages may upload and download files, in addition to those of apps. */
  readonly corsOrigins: readonly string[];
}

/** Headers that pages of other origins may read in addition to the body. */
const exposedHeaders = [
  "X-Request-Id",
  "Content-Disposition",
  "Content-Range",
  "Accept-Ranges",
  "ETag",
  "X-Request-Warnings",
];

/** Registers uploads and downloads of bytes; refusals have the form of v2. */
export function fileRoutes(app: FastifyInstance, parts: FileRoutesParts): void {
  const links = v2Wire(parts, "files");
  app.setErrorHandler((thrown, request, reply) => links.refuse(request, reply, thrown));

  const register = (prefix: string, methods: string[], routes: (scope: FastifyInstance) => void): void =>
    void app.register(
      async (scope) => {
        allowOrigins(
          scope,
          { corsOrigins: parts.corsOrigins, clients: parts.store.clients },
          { methods, exposedHeaders, isSigned: true },
        );
        routes(scope);
      },
      { prefix },
    );
  register("/uploads", ["PUT"], (scope) => uploadRoute(scope, parts));
  register("/exports", ["GET", "HEAD"], (scope) => archiveRoute(scope, links, parts));
  register("/downloads", ["GET", "HEAD"], (scope) => downloadRoute(scope, links, parts));
}
