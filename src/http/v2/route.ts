import type { JsonObject, Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission, Admit, Request } from "../../call/admit.ts";
import type { Performer } from "../../call/perform.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure, failureOf } from "../../core/failure.ts";
import type { Operation, OperationTable } from "../../operations.ts";
import { callHeaders, heedWarnings, rateHeaders, refusalHeaders, replayHeaders, warningHeaders } from "../answer-headers.ts";
import { boundOf } from "../bounds/bound.ts";
import { failureIn, jsonOnly, v2Answers } from "../failure.ts";
import { goneSignal } from "../gone.ts";
import type { ReadRequest } from "../request.ts";
import { boundedBodies } from "../request-body.ts";
import { Warnings } from "../warnings/warnings.ts";
import { compileFrameWriter, endFrame, eventStream, lastEventId } from "./event-stream.ts";
import { parseBody } from "./parse.ts";
import { compileReader } from "./reader.ts";
import { unknownOperation } from "./unknown-operation.ts";
import { compileWriter } from "./writer.ts";

/** What the v2 wire form needs of the call path. */
export interface V2Parts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  /** Streams that are silent for long say so by it. */
  readonly clock: Clock;
  readonly bodyLimit: number;
  readonly report: (failure: Failure, requestId: string) => void;
}

interface Codec {
  readonly operation: Operation;
  readonly read: ReturnType<typeof compileReader>;
  readonly answer: Answer;
}

/** Answers a call that was let in and read. */
type Answer = (call: Admitted, input: Message, reply: FastifyReply) => Promise<FastifyReply>;

/** A v2 call between its head and its answer. */
interface Call {
  readonly request: Request;
  /** Of this request; filled when it is read. */
  readonly warnings?: Warnings;
}

interface Admitted extends Call {
  readonly admission: Admission;
  /** Aborted when the client has gone away, or has its answer. */
  readonly gone: AbortSignal;
  readonly warnings: Warnings;
}

declare module "fastify" {
  interface FastifyRequest {
    v2?: Call | Admitted;
  }
}

/** Bodies of these types are no JSON, whatever they hold (contract/decisions.md 12). */
const foreignTypes = /^(multipart\/|application\/(grpc|proto|x-protobuf|protobuf|connect\+proto))/i;

/**
 * The dotted JSON API: `POST /v2/task.create`, and GET with a query for operations
 * without side effects (contract/v2.md 1). Every answer has the envelope.
 */
export function v2Routes(app: FastifyInstance, parts: V2Parts): void {
  boundedBodies(app, ({ v2 }) => (v2 && "admission" in v2 ? boundOf(v2.admission.operation, parts.bodyLimit) : undefined));
  const refuse = v2Refusal(parts);
  const unknown = unknownOperation(parts.operations);
  app.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown));
  app.setNotFoundHandler((request, reply) => refuse(request, reply, unknown(request.raw.url ?? "")));

  async function admitCall(request: FastifyRequest, { operation }: Codec, reply: FastifyReply): Promise<void> {
    const gone = goneSignal(reply.raw);
    const head = begin(request, parts);
    if (request.method === "GET" ? operation.change : request.method !== "POST") {
      reply.header("Allow", operation.change ? "POST" : "GET, POST");
      throw new Failure("wrong_method", `${operation.name} takes ${operation.change ? "POST" : "POST or GET"}`);
    }
    const admission = await parts.admit(operation, head);
    for (const [name, value] of rateHeaders(admission.rate)) reply.header(name, value);
    const { headers } = request.raw;
    if (foreignTypes.test(headers["content-type"] ?? "")) throw new Failure("unsupported_media", jsonOnly);
    // Fastify refuses types that it cannot read, and over HTTP/2 passes over a body that has none.
    headers["content-type"] = "application/json";
    request.v2 = { request: head, admission, gone, warnings: new Warnings() };
  }

  async function answer(request: FastifyRequest, { read, answer }: Codec, reply: FastifyReply): Promise<FastifyReply> {
    const call = request.v2;
    if (!call || !("admission" in call)) throw new Failure("internal", "internal error");
    const { warnings } = call;
    const input =
      request.method === "GET" ? read(request.query as JsonObject, "query", warnings) : read(parseBody(bodyOf(request)), "body", warnings);
    heedWarnings(warnings, call.request.strict, (name, value) => reply.header(name, value));
    return answer(call, input, reply);
  }

  for (const operation of parts.operations.all) {
    if (operation.name === null) continue;
    const answerOf = operation.method.methodKind === "server_streaming" ? streaming : answering;
    const codec: Codec = { operation, read: compileReader(operation.method.input), answer: answerOf(operation, parts) };
    app.route({
      method: [...app.supportedMethods],
      url: `/v2/${operation.name}`,
      exposeHeadRoute: false,
      onRequest: (request, reply) => admitCall(request, codec, reply),
      handler: (request, reply) => answer(request, codec, reply),
    });
  }
}

/** One answer, in the envelope. */
function answering({ method }: Operation, { performer }: V2Parts): Answer {
  const write = compileWriter(method.output);
  return async ({ admission, gone, warnings }, input, reply) => {
    const { answer, replayed } = await performer.perform(admission, input, gone);
    for (const [name, value] of replayHeaders(replayed)) reply.header(name, value);
    const { requestId } = admission.request;
    return send(reply, requestId, 200, write(answer, requestId, warnings.texts));
  };
}

/** A stream, as server-sent events; 204 stops EventSource where nothing is to come (contract/decisions.md 17a). */
function streaming({ method }: Operation, { performer, clock, report }: V2Parts): Answer {
  const write = compileFrameWriter(method.output);

  async function* frames(answers: AsyncIterable<Message>, requestId: string): AsyncGenerator<string> {
    try {
      for await (const answer of answers) {
        const written = write(answer);
        if (written !== undefined) yield written;
      }
      yield endFrame(JSON.stringify({ ok: true, request_id: requestId }));
    } catch (thrown) {
      const failure = failureOf(thrown);
      report(failure, requestId);
      yield endFrame(refusalText(failure, requestId));
    }
  }

  return async ({ admission, gone }, input, reply) => {
    const { requestId } = admission.request;
    const seen = lastEventId(reply.request.headers["last-event-id"]);
    // What can be resumed has this field.
    if (seen !== undefined) Object.assign(input, { afterSeq: seen });
    const answers = await performer.stream(admission, input, gone);
    for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
    if (answers === null) return reply.code(204).send();
    reply.header("Content-Type", "text/event-stream; charset=utf-8").header("X-Accel-Buffering", "no");
    return reply.send(eventStream(frames(answers, requestId), clock));
  };
}

function begin(request: FastifyRequest, { readRequest }: Pick<V2Parts, "readRequest">): Request {
  const head = readRequest(request.raw);
  request.v2 = { request: head };
  return head;
}

/** Answers a failure in the envelope; also for requests that no route is found for. */
export function v2Refusal(parts: Pick<V2Parts, "readRequest" | "report">) {
  return (request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply => {
    const failure = failureIn(thrown);
    const requestId = (request.v2?.request ?? begin(request, parts)).requestId;
    parts.report(failure, requestId);
    const { status } = v2Answers[failure.reason];
    for (const [name, value] of refusalHeaders(failure)) reply.header(name, value);
    const { warnings, request: head } = request.v2 ?? {};
    if (warnings !== undefined) for (const [name, value] of warningHeaders(warnings, head?.strict ?? false)) reply.header(name, value);
    // Fastify's, on a body that is left unread; HTTP/2 has no such header.
    if (request.raw.httpVersionMajor > 1) reply.removeHeader("Connection");
    return send(reply, requestId, status, refusalText(failure, requestId, warnings));
  };
}

function refusalText({ reason, message }: Failure, requestId: string, warnings?: Warnings): string {
  const error = { code: v2Answers[reason].code, message };
  const told = warnings === undefined || warnings.isEmpty ? {} : { warnings: warnings.texts };
  return JSON.stringify({ ok: false, request_id: requestId, ...told, error });
}

function send(reply: FastifyReply, requestId: string, status: number, body: string): FastifyReply {
  for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
  return reply.code(status).header("Content-Type", "application/json; charset=utf-8").send(body);
}

const bodyOf = ({ body }: FastifyRequest): Uint8Array => (body instanceof Uint8Array ? body : new Uint8Array());
