import type { JsonObject } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission, Admit, Request } from "../../call/admit.ts";
import type { Perform } from "../../call/perform.ts";
import { Failure, failureOf, type Reason } from "../../core/failure.ts";
import type { Operation, OperationTable } from "../../operations.ts";
import { callHeaders, rateHeaders, refusalHeaders, replayHeaders } from "../answer-headers.ts";
import { v2Answers } from "../failure.ts";
import type { ReadRequest } from "../request.ts";
import { parseBody } from "./parse.ts";
import { compileReader } from "./reader.ts";
import { compileWriter } from "./writer.ts";

/** What the v2 wire form needs of the call path. */
export interface V2Parts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly perform: Perform;
  readonly readRequest: ReadRequest;
  readonly bodyLimit: number;
  readonly report: (failure: Failure, requestId: string) => void;
}

interface Codec {
  readonly operation: Operation;
  readonly read: ReturnType<typeof compileReader>;
  readonly write: ReturnType<typeof compileWriter>;
}

/** A v2 call between its head and its answer. */
interface Call {
  readonly request: Request;
  readonly admission?: Admission;
}

declare module "fastify" {
  interface FastifyRequest {
    v2?: Call;
  }
}

/** Bodies of these types are no JSON, whatever they hold (contract/decisions.md 12). */
const foreignTypes = /^(multipart\/|application\/(grpc|proto|x-protobuf|protobuf|connect\+proto))/i;

/**
 * The dotted JSON API: `POST /v2/task.create`, and GET with a query for operations
 * without side effects (contract/v2.md 1). Every answer has the envelope.
 */
export function v2Routes(app: FastifyInstance, parts: V2Parts): void {
  const codecs = new Map(
    parts.operations.all.flatMap((operation) =>
      operation.name === null
        ? []
        : [[operation.name, { operation, read: compileReader(operation.method.input), write: compileWriter(operation.method.output) }]],
    ),
  );

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: parts.bodyLimit }, (_request, body, done) => done(null, body));
  const refuse = v2Refusal(parts);
  app.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown));
  app.setNotFoundHandler((request, reply) => refuse(request, reply, new Failure("absent", "unknown operation")));

  async function admitCall(request: FastifyRequest, codec: Codec, reply: FastifyReply): Promise<void> {
    const head = begin(request, parts);
    const { operation } = codec;
    if (request.method === "GET" ? operation.change : request.method !== "POST") {
      reply.header("Allow", operation.change ? "POST" : "GET, POST");
      throw new Failure("wrong_method", `${operation.name} takes ${operation.change ? "POST" : "POST or GET"}`);
    }
    const admission = await parts.admit(operation, head);
    for (const [name, value] of rateHeaders(admission.rate)) reply.header(name, value);
    const { headers } = request.raw;
    if (foreignTypes.test(headers["content-type"] ?? "")) throw new Failure("unsupported_media", "the body must be JSON");
    // Fastify refuses types that it cannot read, and over HTTP/2 passes over a body that has none.
    headers["content-type"] = "application/json";
    request.v2 = { request: head, admission };
  }

  async function answer(request: FastifyRequest, codec: Codec, reply: FastifyReply): Promise<FastifyReply> {
    const { admission } = request.v2 ?? {};
    if (!admission) throw new Failure("internal", "internal error");
    const input =
      request.method === "GET" ? codec.read(request.query as JsonObject, "query") : codec.read(parseBody(bodyOf(request)), "body");
    const outcome = await parts.perform(admission, input);
    for (const [name, value] of replayHeaders(outcome.replayed)) reply.header(name, value);
    const { requestId } = admission.request;
    return send(reply, requestId, 200, codec.write(outcome.answer, requestId));
  }

  for (const [name, codec] of codecs) {
    app.route({
      method: [...app.supportedMethods],
      url: `/v2/${name}`,
      exposeHeadRoute: false,
      onRequest: (request, reply) => admitCall(request, codec, reply),
      handler: (request, reply) => answer(request, codec, reply),
    });
  }
}

function begin(request: FastifyRequest, { readRequest }: Pick<V2Parts, "readRequest">): Request {
  const head = readRequest({ headers: request.headers, remoteAddress: request.raw.socket.remoteAddress });
  request.v2 = { request: head };
  return head;
}

/** Answers a failure in the envelope; also for requests that no route is found for. */
export function v2Refusal(parts: Pick<V2Parts, "readRequest" | "report">) {
  return (request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply => {
    const failure = fromFastify(thrown) ?? failureOf(thrown);
    const requestId = (request.v2?.request ?? begin(request, parts)).requestId;
    parts.report(failure, requestId);
    const { status, code } = v2Answers[failure.reason];
    for (const [name, value] of refusalHeaders(failure)) reply.header(name, value);
    // Fastify's, on a body that is left unread; HTTP/2 has no such header.
    if (request.raw.httpVersionMajor > 1) reply.removeHeader("Connection");
    return send(reply, requestId, status, JSON.stringify({ ok: false, request_id: requestId, error: { code, message: failure.message } }));
  };
}

function send(reply: FastifyReply, requestId: string, status: number, body: string): FastifyReply {
  for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
  return reply.code(status).header("Content-Type", "application/json; charset=utf-8").send(body);
}

const bodyOf = ({ body }: FastifyRequest): Uint8Array => (body instanceof Uint8Array ? body : new Uint8Array());

/** Fastify's own refusals, and a body that breaks off, in our words. */
const strangeFailures: Readonly<Record<string, readonly [reason: Reason, text: string]>> = {
  FST_ERR_BAD_URL: ["invalid", "the URL is not well-formed"],
  FST_ERR_CTP_BODY_TOO_LARGE: ["too_large", "the body is too large"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid", "the body is shorter or longer than announced"],
  ECONNRESET: ["cancelled", "the connection was closed"],
};

function fromFastify(thrown: unknown): Failure | undefined {
  const known = thrown instanceof Error && "code" in thrown ? strangeFailures[String(thrown.code)] : undefined;
  return known && new Failure(...known, { cause: thrown });
}
