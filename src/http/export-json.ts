import type { IncomingMessage } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import { Failure, notFound } from "../core/failure.ts";
import { EnterpriseDataExportService } from "../gen/proto/dataexport/v1/export_service_pb.ts";
import type { Admit } from "../pipeline/admit.ts";
import { type OperationTable, rpcName } from "../pipeline/operations.ts";
import type { Performer } from "../pipeline/perform.ts";
import { callHeaders, idempotencyHeaders, refusalHeaders, setHeaders } from "./answer-headers.ts";
import { boundOf } from "./bounds/bound.ts";
import { connectCodec } from "./connect-codec.ts";
import { exportAnswers, failureOfError, jsonOnly } from "./failure.ts";
import type { ReadRequest } from "./request.ts";
import { sendAnswer } from "./send-answer.ts";
import { type Call, type Handle, inSteps, sendJson, wire } from "./wire/wire.ts";

/** The parts of the call path that the plain JSON of dataexport.v1 needs. */
export interface ExportJsonParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly bodyLimit: number;
  readonly report: (failure: Failure, requestId: string) => void;
}

const prefix = `/${EnterpriseDataExportService.typeName}/`;

/** Content types of Connect and gRPC clients, which read the errors of those protocols. */
const rpcTypes = /^application\/(proto|grpc|connect\+)/i;
const unsupportedTypes = /^(multipart\/|application\/(x-protobuf|protobuf))/i;

/** A call with plain JSON. Generated clients identify themselves by a header or a query parameter. */
function isPlain({ url = "", headers }: IncomingMessage): boolean {
  if (!url.startsWith(prefix) || headers["connect-protocol-version"] !== undefined) return false;
  return !rpcTypes.test(headers["content-type"] ?? "") && !/[?&]connect=v1(&|$)/.test(url);
}

/**
 * Serves dataexport.v1 to callers of plain JSON: the answers of Connect, and refusals as `{"code":
 * "UPPER_CASE", "message": "…"}` (spec/enterprise.md 2.2, spec/decisions.md 9). Call it before Connect's
 * routes are registered.
 */
export function exportJson(app: FastifyInstance, parts: ExportJsonParts): void {
  const handles = new Map(
    EnterpriseDataExportService.methods.map((method) => [`/${rpcName(method)}`, handleOf(method, parts)]),
  );
  const plain = wire({
    name: "export-json",
    readHead: parts.readRequest,
    failureIn: failureOfError,
    report: parts.report,
    refuse,
  });
  function handleAt({ request: { raw }, reply }: Call): Handle {
    const handle = handles.get(raw.url?.split("?", 1)[0] ?? "");
    if (!handle) throw notFound("method");
    if (raw.method === "POST") return handle;
    reply.header("Allow", "POST");
    throw new Failure("method_not_allowed", "this method accepts POST");
  }
  app.addHook("onRequest", (request, reply, pass) => {
    if (isPlain(request.raw)) plain.answer(request, reply, handleAt);
    else pass();
  });
  // Connect has routes for existing methods only. This route makes the hook run for the others too; after it
  // the answer is Connect's 404.
  app.all(`${prefix}*`, async (_request, reply) => reply.callNotFound());
}

function handleOf(method: DescMethod, { operations, admit, performer, bodyLimit }: ExportJsonParts): Handle {
  const operation = operations.byRpc(rpcName(method));
  if (!operation) throw new Error(`${rpcName(method)} is not an operation`);
  const bound = boundOf(operation, bodyLimit);
  const { decode, encode } = connectCodec(method, false);
  return inSteps({
    admit: ({ head }) => admit(operation, head),
    bound({ request: { headers } }) {
      if (unsupportedTypes.test(headers["content-type"] ?? ""))
        throw new Failure("unsupported_media_type", jsonOnly);
      if (headers["content-encoding"] !== undefined)
        throw new Failure("unsupported_media_type", "the body must not be compressed");
      return bound;
    },
    decode,
    async encode(call, admission, message) {
      const { answer, isReplayed } = await performer.perform(admission, message, call.gone);
      setHeaders(call.reply, [...idempotencyHeaders(isReplayed), ...callHeaders(call.head.requestId)]);
      await sendAnswer(call, admission, { text: Buffer.from(encode(answer)).toString() });
    },
  });
}

async function refuse({ reply, head }: Call, failure: Failure): Promise<void> {
  setHeaders(reply, [...callHeaders(head.requestId), ...refusalHeaders(failure)]);
  const { status, code } = exportAnswers[failure.reason];
  sendJson(reply, status, JSON.stringify({ code, message: failure.message }));
}
