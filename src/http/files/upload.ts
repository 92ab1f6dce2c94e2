import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import type { Failure } from "../../core/failure.ts";
import type { FileLinks } from "../../core/files/links.ts";
import type { Incoming, Uploads } from "../../core/files/uploads.ts";
import { callHeaders } from "../answer-headers.ts";
import { askWhenRead } from "../continue.ts";
import { goneSignal } from "../gone.ts";
import { incomingBody } from "../incoming-body.ts";
import { linger } from "../linger.ts";
import type { ReadRequest } from "../request.ts";
import { v2Refusal } from "../v2/route.ts";
import { digestsOf } from "./digest.ts";
import { checkLink, linkOf, linkPath } from "./link.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route itself lets clients that wait for a 100 go on. */
    asksForBody?: boolean;
  }
}

/** What taking uploads needs. */
export interface UploadRouteParts {
  readonly uploads: Uploads;
  readonly links: FileLinks;
  readonly clock: Clock;
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
}

/**
 * `PUT {upload_url}`: the raw bytes, of any Content-Type or none, without a key
 * (contract/v2.md 8.12, contract/decisions.md 37). It is answered before Fastify looks
 * for a parser, so that no body is ever held.
 */
export function uploadRoute(app: FastifyInstance, parts: UploadRouteParts): void {
  const refuse = v2Refusal(parts);

  async function take(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    checkLink("uploads", ["PUT"], request, reply, parts);
    const { fileId, expires } = linkOf(request);
    const { requestId } = parts.readRequest(request.raw);
    incomingBody(request.raw)?.isUpload();
    const { id, status, bytes } = await parts.uploads.receive(fileId, Number(expires) * 1000, incoming(request, reply));
    for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
    void reply.send({ ok: true, request_id: requestId, file: { id, status, bytes } });
  }

  app.route({
    method: [...app.supportedMethods],
    url: linkPath,
    exposeHeadRoute: false,
    config: { asksForBody: true },
    // It never goes on to the handler.
    onRequest(request, reply, _next) {
      const refrain = askWhenRead(request.raw, reply.raw);
      take(request, reply).catch((thrown: unknown) => {
        refrain();
        linger(request.raw, reply.raw);
        refuse(request, reply, thrown);
      });
    },
    handler: async (_request, reply) => reply,
  });
}

function incoming({ raw, headers }: FastifyRequest, reply: FastifyReply): Incoming {
  const { "content-length": length } = headers;
  return {
    bytes: raw,
    length: length === undefined || !/^\d{1,15}$/.test(length) ? null : Number(length),
    digests: digestsOf(headers),
    // HTTP/2 ends what was cut as if it were whole.
    isWhole: () => !raw.aborted,
    signal: goneSignal(reply.raw),
  };
}
