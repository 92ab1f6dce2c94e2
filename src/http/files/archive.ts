import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Cipher } from "../../core/cipher.ts";
import type { Clock } from "../../core/clock.ts";
import type { Export, ExportArchive } from "../../core/exports/export.ts";
import { isPurged } from "../../core/exports/lifecycle.ts";
import type { ExportLinks } from "../../core/exports/links.ts";
import { openArchive } from "../../core/exports/seal.ts";
import { absent } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blobs.ts";
import { attachment } from "../../core/files/disposition.ts";
import type { Tx } from "../../core/store.ts";
import { checkLinkState, checkMethod } from "./link.ts";
import { rangeOf } from "./range.ts";
import { isCurrent, isKnown } from "./validators.ts";

/** What giving archives out needs. */
export interface ArchiveRouteParts {
  readonly blobs: Blobs;
  readonly exportLinks: ExportLinks;
  readonly cipher: Pick<Cipher, "derive">;
  readonly clock: Clock;
  readonly store: Pick<Tx, "exports">;
}

/** The path has these parts. */
interface Link {
  readonly exportId: string;
  readonly expires: string;
  readonly signature: string;
}

const linkOf = ({ params }: FastifyRequest): Link => params as Link;

/**
 * `GET` and `HEAD` of an archive's link: it says who may, so that no key is asked for
 * (contract/enterprise.md 6.5). The bytes are opened as they go, so the storage never
 * gives them out itself; a forged chunk cuts the connection.
 */
export function archiveRoute(app: FastifyInstance, { blobs, exportLinks, cipher, clock, store }: ArchiveRouteParts): void {
  app.route({
    method: [...app.supportedMethods],
    url: "/:exportId/:expires/:signature",
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      checkMethod(["GET", "HEAD"], request, reply);
      checkLinkState(exportLinks.check(linkOf(request), clock.now()));
    },
    async handler(request, reply) {
      const found = await store.exports.byId(linkOf(request).exportId);
      if (!found?.archive || isPurged(found, clock.now())) throw absent("export");
      return send(request, reply, found, found.archive, { blobs, cipher });
    },
  });
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { id, completedAt }: Export,
  { blobId, bytes, sha256 }: ExportArchive,
  { blobs, cipher }: Pick<ArchiveRouteParts, "blobs" | "cipher">,
): Promise<FastifyReply> {
  const isGet = request.method === "GET";
  const headers = { ETag: `"${sha256}"`, "Last-Modified": new Date(completedAt ?? 0).toUTCString() };
  reply.headers({
    ...headers,
    "Content-Type": "application/zip",
    "Content-Disposition": attachment(`export-${id}.zip`),
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
    "Accept-Ranges": "bytes",
  });
  if (isKnown(request.headers, headers.ETag)) return reply.code(304).send();
  // HEAD has no parts (RFC 9110 14.2).
  const range =
    isGet && isCurrent(request.headers, [headers.ETag, headers["Last-Modified"]]) ? rangeOf(request.headers.range, bytes) : null;
  if (range === "unsatisfiable") return reply.code(416).header("Content-Range", `bytes */${bytes}`).send();
  reply.header("Content-Length", range === null ? bytes : range.end - range.start + 1);
  if (!isGet) return reply.send();
  const opened = await openArchive(cipher, blobs, { exportId: id, blobId, bytes }, range ?? undefined);
  if (range !== null) reply.code(206).header("Content-Range", `bytes ${range.start}-${range.end}/${bytes}`);
  return reply.send(opened);
}
