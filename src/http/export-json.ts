import type { IncomingMessage } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createMethodSerializationLookup, validateReadWriteMaxBytes } from "@connectrpc/connect/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admit, Request } from "../call/admit.ts";
import type { Performer } from "../call/perform.ts";
import { absent, Failure } from "../core/failure.ts";
import { EnterpriseDataExportService } from "../gen/proto/dataexport/v1/export_service_pb.ts";
import { type Operation, type OperationTable, rpcName } from "../operations.ts";
import { callHeaders, heedWarnings, rateHeaders, refusalHeaders, replayHeaders } from "./answer-headers.ts";
import { type Bound, boundOf } from "./bounds/bound.ts";
import { checkMessage } from "./bounds/connect-body.ts";
import { binaryOptions, connectJson } from "./connect-json.ts";
import { noteIdleMembers } from "./connect-warnings.ts";
import { exportAnswers, failureIn, jsonOnly, ofSender } from "./failure.ts";
import { goneSignal } from "./gone.ts";
import type { ReadRequest } from "./request.ts";
import { bodyOf } from "./request-body.ts";
import { Warnings } from "./warnings/warnings.ts";

/** What the plain JSON of dataexport.v1 needs of the call path. */
export interface ExportJsonParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly bodyLimit: number;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** A method with the reader and writer of its messages in Connect's JSON. */
interface Method {
  readonly operation: Operation;
  readonly bound: Bound;
  parse(bytes: Uint8Array): Message;
  write(answer: Message): Uint8Array;
}

const prefix = `/${EnterpriseDataExportService.typeName}/`;

/** Whoever sends one of these speaks Connect or gRPC, and reads their errors. */
const rpcTypes = /^application\/(proto|grpc|connect\+)/i;
const foreignTypes = /^(multipart\/|application\/(x-protobuf|protobuf))/i;

/** Calls with plain JSON: not of a generated client, which says so by its header or its query. */
function isPlain({ url = "", headers }: IncomingMessage): boolean {
  if (!url.startsWith(prefix) || headers["connect-protocol-version"] !== undefined) return false;
  return !rpcTypes.test(headers["content-type"] ?? "") && !/[?&]connect=v1(&|$)/.test(url);
}

/**
 * dataexport.v1 for callers of plain JSON: the answers of Connect, and refusals as `{"code": "UPPER_CASE", "message": "…"}`
 * (contract/enterprise.md 2.2, contract/decisions.md 9). To be called before Connect's own routes are there.
 */
export function exportJson(app: FastifyInstance, parts: ExportJsonParts): void {
  const methods = methodsOf(parts);

  async function answered({ raw }: FastifyRequest, reply: FastifyReply, head: Request): Promise<Uint8Array> {
    const method = methods.get(raw.url?.split("?", 1)[0] ?? "");
    if (method === undefined) throw absent("method");
    if (raw.method !== "POST") {
      reply.header("Allow", "POST");
      throw new Failure("wrong_method", "this method takes POST");
    }
    const gone = goneSignal(reply.raw);
    const admission = await parts.admit(method.operation, head);
    for (const [name, value] of rateHeaders(admission.rate)) reply.header(name, value);
    if (foreignTypes.test(raw.headers["content-type"] ?? "")) throw new Failure("unsupported_media", jsonOnly);
    if (raw.headers["content-encoding"] !== undefined) throw new Failure("unsupported_media", "the body must not be compressed");
    const body = await wholeBody(raw, method.bound);
    const message = method.parse(body);
    const warnings = new Warnings();
    noteIdleMembers(method.operation.method.input, body, warnings);
    heedWarnings(warnings, head.strict, (name, value) => reply.header(name, value));
    const { answer, replayed } = await parts.performer.perform(admission, message, gone);
    for (const [name, value] of replayHeaders(replayed)) reply.header(name, value);
    return method.write(answer);
  }

  app.addHook("onRequest", async (request, reply) => {
    if (!isPlain(request.raw)) return undefined;
    const head = parts.readRequest(request.raw);
    for (const [name, value] of callHeaders(head.requestId)) reply.header(name, value);
    reply.header("Content-Type", "application/json; charset=utf-8");
    try {
      return await reply.send(Buffer.from(await answered(request, reply, head)));
    } catch (thrown) {
      const failure = thrown instanceof ConnectError ? ofSender(thrown) : failureIn(thrown);
      parts.report(failure, head.requestId);
      for (const [name, value] of refusalHeaders(failure)) reply.header(name, value);
      const { status, code } = exportAnswers[failure.reason];
      return reply.code(status).send(JSON.stringify({ code, message: failure.message }));
    }
  });
  // Connect answers the methods that there are. Others are to come to the hook as well, and past it as Connect says.
  app.all(`${prefix}*`, async (_request, reply) => reply.callNotFound());
}

async function wholeBody(request: IncomingMessage, bound: Bound): Promise<Uint8Array> {
  const body = await bodyOf(request, bound);
  if (body === null) throw new Failure("cancelled", "the connection was closed");
  return body;
}

function methodsOf({ operations, bodyLimit }: ExportJsonParts): ReadonlyMap<string, Method> {
  const limits = validateReadWriteMaxBytes(undefined, undefined, undefined);
  const methods = new Map<string, Method>();
  for (const method of EnterpriseDataExportService.methods) {
    const operation = operations.byRpc(rpcName(method));
    if (operation === undefined) continue;
    const codec = createMethodSerializationLookup(method, binaryOptions, connectJson(method), limits);
    const [input, output] = [codec.getI(false), codec.getO(false)];
    // The call path answers a message of the method's own type.
    methods.set(`/${rpcName(method)}`, {
      operation,
      bound: boundOf(operation, bodyLimit),
      parse(bytes) {
        checkMessage(method.input, bytes, false);
        return input.parse(bytes);
      },
      write: (answer) => output.serialize(answer as never),
    });
  }
  return methods;
}
