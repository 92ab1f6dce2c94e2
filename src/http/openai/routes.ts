import type { FastifyInstance } from "fastify";
import { Failure } from "../../core/failure.ts";
import { type Family, type RestParts, refuse, serveRoutes } from "../v1/serve.ts";
import { type ContentParts, sdkFileRoutes } from "./file.ts";
import { openaiRefusal } from "./refusal.ts";
import { responseRoutes } from "./responses.ts";
import type { StreamParts } from "./send-stream.ts";

/** What the facade needs of the rest. */
export type OpenaiParts = RestParts & StreamParts & ContentParts;

const family: Family = { refusal: openaiRefusal };

/** The OpenAI-style facade, with and without `/v1`: SDKs are given the bare host (contract/v1.md 7.1). */
export function openaiRoutes(app: FastifyInstance, parts: OpenaiParts): void {
  serveRoutes(app, parts, [...responseRoutes("", parts), ...responseRoutes("/v1", parts), ...sdkFileRoutes(parts)], family);
  // What a file is sent with lets it be kept; an answer to a key is nobody else's (contract/decisions.md 12).
  app.addHook("onSend", async (_request, reply) => void reply.header("Cache-Control", "no-store"));
  for (const path of ["/responses/*", "/v1/responses/*", "/files/*"]) {
    app.all(path, (request, reply) => refuse(parts, family, request, reply, new Failure("absent", "unknown address")));
  }
}
