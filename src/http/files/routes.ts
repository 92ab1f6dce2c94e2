import cors from "@fastify/cors";
import type { FastifyInstance } from "fastify";
import type { Tx } from "../../core/store.ts";
import { v2Refusal } from "../v2/route.ts";
import { type ArchiveRouteParts, archiveRoute } from "./archive.ts";
import { type DownloadRouteParts, downloadRoute } from "./download.ts";
import { type UploadRouteParts, uploadRoute } from "./upload.ts";

/** What the bytes of files need of the rest. */
export interface FileRoutesParts extends UploadRouteParts, DownloadRouteParts, ArchiveRouteParts {
  readonly store: Pick<Tx, "files" | "exports" | "skills">;
  /** Origins whose pages may bring and fetch files; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
}

/** What pages of other origins may read of an answer, beside its body. */
const exposedHeaders = ["X-Request-Id", "Content-Disposition", "Content-Range", "Accept-Ranges", "ETag"];

/** The addresses at which bytes come in and go out; refusals are v2's. */
export function fileRoutes(app: FastifyInstance, parts: FileRoutesParts): void {
  const refuse = v2Refusal(parts);
  app.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown));

  const room = (prefix: string, methods: string[], routes: (scope: FastifyInstance) => void): void =>
    void app.register(
      async (scope) => {
        if (parts.corsOrigins.length > 0)
          void scope.register(cors, { origin: [...parts.corsOrigins], methods, exposedHeaders, strictPreflight: false });
        routes(scope);
      },
      { prefix },
    );
  room("/uploads", ["PUT"], (scope) => uploadRoute(scope, parts));
  room("/exports", ["GET", "HEAD"], (scope) => archiveRoute(scope, parts));
  room("/downloads", ["GET", "HEAD"], (scope) => downloadRoute(scope, parts));
}
