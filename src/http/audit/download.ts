import { Readable } from "node:stream";
import type { JsonObject, Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission, Admit } from "../../call/admit.ts";
import type { Performer } from "../../call/perform.ts";
import { Failure, failureOf, invalid } from "../../core/failure.ts";
import { type AuditEvent, AuditEventSchema } from "../../gen/proto/audit/v2/audit_pb.ts";
import { AuditService, type ListAuditEventsResponse } from "../../gen/proto/audit/v2/audit_service_pb.ts";
import { type Operation, type OperationTable, rpcName } from "../../operations.ts";
import { callHeaders, heedWarnings, rateHeaders } from "../answer-headers.ts";
import { goneSignal } from "../gone.ts";
import type { ReadRequest } from "../request.ts";
import { compileReader } from "../v2/reader.ts";
import { v2Refusal } from "../v2/route.ts";
import { compileBareWriter } from "../v2/writer.ts";
import { Warnings } from "../warnings/warnings.ts";
import { ocsfEvent } from "./ocsf.ts";

/** What the download needs of the call path. */
export interface AuditDownloadParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** Lines that are read at once, and as many wait at most for a client that is slow. */
const pageLines = 200;
const path = "/v2/audit.download";
const list = AuditService.method.listAuditEvents;

/** The forms that lines come in. */
const formats = ["ndjson", "ocsf"] as const;
type Format = (typeof formats)[number];

declare module "fastify" {
  interface FastifyRequest {
    audit?: { readonly admission: Admission; readonly gone: AbortSignal };
  }
}

/**
 * `GET /v2/audit.download`: what audit.list lists, all of it, a line each; with `format=ocsf` in the
 * words of OCSF. It is audit.list's call in every way: the same access, limit and filters. The
 * credential is looked at anew before each page; what fails then cuts the answer off, so that
 * nobody takes it for whole.
 */
export function auditDownload(app: FastifyInstance, parts: AuditDownloadParts): void {
  const operation = parts.operations.byRpc(rpcName(list));
  if (!operation) throw new Error(`${rpcName(list)} is no operation`);
  const read = compileReader(list.input);
  const refuse = v2Refusal(parts);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _body, done) => done(null));
  app.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown));
  app.route({
    method: [...app.supportedMethods],
    url: path,
    exposeHeadRoute: false,
    onRequest: (request, reply) => admitDownload(operation, parts, request, reply),
    async handler(request, reply) {
      const { format, query } = asked(request.query as JsonObject); // Fastify's own parser makes nothing else.
      const call = request.audit;
      if (!call) throw new Failure("internal", "internal error");
      const warnings = new Warnings();
      const input = read(query, "query", warnings);
      const { requestId, strict } = call.admission.request;
      heedWarnings(warnings, strict, (name, value) => reply.header(name, value));
      const pages = pagesOf(parts.performer, call, input);
      // A refusal of the first page is a plain answer.
      const first = await pages.next();
      for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
      reply.header("Content-Type", "application/x-ndjson; charset=utf-8");
      const texts = textsOf(first.value ?? [], pages, lineWriter(format));
      return reply.send(
        Readable.from(
          reported(texts, (failure) => parts.report(failure, requestId)),
          { highWaterMark: 1 },
        ),
      );
    },
  });
}

async function admitDownload(operation: Operation, parts: AuditDownloadParts, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const gone = goneSignal(reply.raw);
  const head = parts.readRequest(request.raw);
  request.v2 = { request: head };
  if (request.method !== "GET") {
    reply.header("Allow", "GET");
    throw new Failure("wrong_method", "audit.download takes GET");
  }
  const admission = await parts.admit(operation, head);
  for (const [name, value] of rateHeaders(admission.rate)) reply.header(name, value);
  request.audit = { admission, gone };
}

/** Where a page begins, and how long it is, is not a download's to say. @throws Failure `invalid` */
function asked({ format = "ndjson", ...query }: JsonObject): { readonly format: Format; readonly query: JsonObject } {
  if (!isFormat(format)) throw invalid("format", `must be one of ${formats.join(", ")}`);
  for (const name of ["limit", "cursor"]) if (name in query) throw invalid(name, "a download has no pages");
  return { format, query };
}

const isFormat = (value: unknown): value is Format => formats.some((format) => format === value);

/** Pages as long as there are any; each is read when the one before has been taken. */
async function* pagesOf(
  performer: Performer,
  { admission, gone }: NonNullable<FastifyRequest["audit"]>,
  input: Message,
): AsyncGenerator<readonly AuditEvent[], undefined> {
  let cursor: string | undefined;
  do {
    const caller = await admission.again();
    Object.assign(input, { limit: pageLines, ...(cursor === undefined ? {} : { cursor }) });
    const { answer } = await performer.perform({ ...admission, caller }, input, gone);
    const page = answer as ListAuditEventsResponse; // `perform` makes it from the method's descriptor.
    yield page.data;
    cursor = page.nextCursor;
  } while (cursor !== undefined && !gone.aborted);
}

async function* textsOf(
  first: readonly AuditEvent[],
  pages: AsyncGenerator<readonly AuditEvent[], undefined>,
  line: (event: AuditEvent) => string,
): AsyncGenerator<string> {
  if (first.length > 0) yield first.map(line).join("");
  for await (const page of pages) yield page.map(line).join("");
}

/** An answer that has begun can only break off; why is for the process log. */
async function* reported(texts: AsyncGenerator<string>, report: (failure: Failure) => void): AsyncGenerator<string> {
  try {
    yield* texts;
  } catch (thrown) {
    report(failureOf(thrown));
    throw thrown;
  }
}

function lineWriter(format: Format): (event: AuditEvent) => string {
  if (format === "ocsf") return (event) => `${JSON.stringify(ocsfEvent(event))}\n`;
  const write = compileBareWriter(AuditEventSchema);
  return (event) => `${write(event)}\n`;
}
