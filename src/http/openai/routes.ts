import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Clock } from "../../core/clock.ts";
import { Failure, notFound } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { fileAt } from "../../core/files/file.ts";
import type { Tx } from "../../core/store.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { sendFile } from "../files/send-file.ts";
import { fileRoutes } from "../v1/file.ts";
import { compound, type Route } from "../v1/route.ts";
import { type RestParts, serveRoutes } from "../v1/serve.ts";
import { modelRoutes } from "./models.ts";
import { openaiRefusal } from "./refusal.ts";
import { type ResponseParts, responseRoutes } from "./responses.ts";

interface ContentParts {
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files">;
  readonly clock: Clock;
}

/**
 * The file routes of SDKs: those of v1, with times as numbers without `/v1`, and the contents of files
 * (spec/v1.md 7.4).
 */
const sdkFileRoutes = (parts: ContentParts): readonly Route[] => [
  ...fileRoutes("", Number),
  contentRoute("", parts),
  contentRoute("/v1", parts),
];

const contentRoute = (prefix: "" | "/v1", { blobs, store, clock }: ContentParts): Route =>
  compound(
    `GET ${prefix}/files/{file_id}/content`,
    FileService.method.getFile,
    z.object({ file_id: z.string() }),
    async ({ file_id: fileId }, ask, call) => {
      // Checks that the caller may read this file.
      await ask(FileService.method.getFile, { fileId });
      const file = await store.files.byId(fileId);
      if (!file) throw notFound("file");
      return sendFile(call, fileAt(file, clock.now()), blobs);
    },
  );

/** Answers an upgrade to a WebSocket with 426 (RFC 9110 15.5.22). */
async function refuseWebSocket(
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (headers.upgrade?.toLowerCase() !== "websocket") return undefined;
  const failure = new Failure(
    "invalid_argument",
    "this API has no WebSocket: send POST /responses, with stream: true for server-sent events",
  );
  return reply.code(426).headers({ Upgrade: "HTTP/1.1", Connection: "Upgrade" }).send(openaiRefusal(failure));
}

/** The dependencies of the facade. */
export type OpenaiParts = RestParts & ResponseParts & ContentParts;

/** Registers the OpenAI-style facade, with and without `/v1`: SDKs use the bare host (spec/v1.md 7.1). */
export function openaiRoutes(app: FastifyInstance, parts: OpenaiParts): void {
  const routes = [
    ...responseRoutes("", parts),
    ...responseRoutes("/v1", parts),
    ...modelRoutes("", parts.profiles),
    ...modelRoutes("/v1", parts.profiles),
    ...sdkFileRoutes(parts),
  ];
  const sdk = serveRoutes(app, parts, routes, { name: "responses", refusal: openaiRefusal });
  // The headers of a file allow caching; answers to a key must not be stored (spec/decisions.md 12).
  app.addHook("onSend", async (_request, reply) => void reply.header("Cache-Control", "no-store"));
  app.addHook("onRequest", refuseWebSocket);
  for (const path of [
    "/responses/compact",
    "/v1/responses/compact",
    "/responses/*",
    "/v1/responses/*",
    "/models/*",
    "/v1/models/*",
    "/files/*",
  ]) {
    app.all(path, (request, reply) =>
      sdk.refuse(request, reply, new Failure("not_found", "unknown address")),
    );
  }
}
