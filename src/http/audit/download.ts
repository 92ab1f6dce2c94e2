import { Readable } from "node:stream";
import type { JsonObject, Message } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import { type AuditFormat, auditFormats } from "../../core/audit/download-links.ts";
import { defined } from "../../core/defined.ts";
import { type Failure, failureOf, invalidArgument } from "../../core/failure.ts";
import { type AuditEvent, AuditEventSchema } from "../../gen/proto/audit/v2/audit_pb.ts";
import { AuditService, type ListAuditEventsResponse } from "../../gen/proto/audit/v2/audit_service_pb.ts";
import type { Admission } from "../../pipeline/admission.ts";
import type { Admit } from "../../pipeline/admit.ts";
import { type OperationTable, rpcName } from "../../pipeline/operations.ts";
import type { Performer } from "../../pipeline/perform.ts";
import { callHeaders, setHeaders } from "../answer-headers.ts";
import { compileReader } from "../v2/message-reader.ts";
import { type RefusalParts, v2Wire } from "../v2/refusal.ts";
import { compileBareWriter } from "../v2/writer.ts";
import { applyHeaders, type Call, inSteps } from "../wire/wire.ts";
import { ocsfEvent } from "./ocsf.ts";

export interface AuditDownloadParts extends RefusalParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
}

/** Lines per page. At most one page waits for a slow client. */
const pageLines = 200;
const path = "/v2/audit.download";
const list = AuditService.method.listAuditEvents;

/** What a download has: lines of this format, for this request of audit.list. */
export interface WantedLog {
  readonly format: AuditFormat;
  readonly input: Message;
}

/**
 * Serves `GET /v2/audit.download`: all events of audit.list, one per line; with `format=ocsf` as
 * OCSF events. Access, limit and filters are those of audit.list. The credential is checked again
 * before each page. A failure then breaks the answer off, so that it does not look complete.
 */
export function auditDownload(app: FastifyInstance, parts: AuditDownloadParts): void {
  const operation = parts.operations.byRpc(rpcName(list));
  if (!operation) throw new Error(`${rpcName(list)} is not an operation`);
  const read = compileReader(list.input);
  const v2 = v2Wire(parts);
  app.setErrorHandler((thrown, request, reply) => v2.refuse(request, reply, thrown));
  const download = inSteps({
    admit: ({ head }) => parts.admit(operation, head),
    bound: () => null,
    decode(call) {
      const { format, query } = readQuery(call.request.query as JsonObject); // Fastify's parser makes only JSON objects.
      const input = read(query, "query", call.warnings);
      applyHeaders(call);
      return { format, input };
    },
    encode: sendLog(parts),
  });
  v2.route(app, path, { GET: download, HEAD: download }, { text: () => "audit.download accepts GET" });
}

/** Sends the log. The answer begins when the first page was read: its refusal is a plain answer. */
export const sendLog =
  ({ performer, report }: Pick<AuditDownloadParts, "performer" | "report">) =>
  async (
    { request, reply, head: { requestId }, gone }: Call,
    admission: Admission,
    { format, input }: WantedLog,
  ): Promise<void> => {
    const pages = pagesOf(performer, { admission, gone }, input);
    const first = await pages.next();
    setHeaders(reply, callHeaders(requestId));
    reply.header("Content-Type", "application/x-ndjson; charset=utf-8");
    if (request.method === "HEAD") return void reply.send();
    const texts = textsOf(first.value ?? [], pages, lineWriter(format));
    const lines = withReport(texts, (failure) => report(failure, requestId));
    reply.send(Readable.from(lines, { highWaterMark: 1 }));
  };

/**
 * Reads the query. @throws Failure `invalid_argument`, also for `limit` and `cursor`: a download has no
 * pages.
 */
function readQuery({ format = "ndjson", ...query }: JsonObject): { format: AuditFormat; query: JsonObject } {
  if (!isFormat(format)) throw invalidArgument("format", `must be one of ${auditFormats.join(", ")}`);
  for (const name of ["limit", "cursor"])
    if (name in query) throw invalidArgument(name, "a download has no pages");
  return { format, query };
}

const isFormat = (value: unknown): value is AuditFormat => auditFormats.some((format) => format === value);

/** All pages; each is read when the previous one was consumed. */
async function* pagesOf(
  performer: Performer,
  { admission, gone }: { admission: Admission; gone: AbortSignal },
  input: Message,
): AsyncGenerator<readonly AuditEvent[], undefined> {
  let cursor: string | undefined;
  do {
    const caller = await admission.checkAgain();
    Object.assign(input, { limit: pageLines, ...defined({ cursor }) });
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

/** Reports an error of the stream, because an answer that has begun can only break off. */
async function* withReport(
  texts: AsyncGenerator<string>,
  report: (failure: Failure) => void,
): AsyncGenerator<string> {
  try {
    yield* texts;
  } catch (thrown) {
    report(failureOf(thrown));
    throw thrown;
  }
}

function lineWriter(format: AuditFormat): (event: AuditEvent) => string {
  if (format === "ocsf") return (event) => `${JSON.stringify(ocsfEvent(event))}\n`;
  const write = compileBareWriter(AuditEventSchema);
  return (event) => `${write(event)}\n`;
}
