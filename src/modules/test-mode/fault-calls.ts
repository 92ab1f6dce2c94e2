import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import type { FastifyServerFactoryHandler } from "fastify";
import { systemClock } from "../../core/clock.ts";
import { Failure, failureOf, type Reason } from "../../core/failure.ts";
import type { ReadRequest, RequestHead } from "../../http/request.ts";
import type { Admit } from "../../pipeline/admit.ts";
import type { OperationTable } from "../../pipeline/operations.ts";
import type { ArmedFaults, Target } from "./armed.ts";
import { cutAnswer, loseAnswer } from "./cut-answer.ts";
import { type Fault, parseFault } from "./fault.ts";

export interface FaultyCalls {
  readonly serve: (handler: FastifyServerFactoryHandler) => FastifyServerFactoryHandler;
  readonly read: (read: ReadRequest) => ReadRequest;
  /** Refuses calls with a status, so that each wire answers in its own form. */
  readonly admit: (admit: Admit) => Admit;
}

const faultHeader = "x-atp-fault";

/** Statuses that the wires can answer themselves. */
const reasons: Readonly<Record<number, Reason>> = {
  400: "invalid_argument",
  401: "unauthenticated",
  403: "permission_denied",
  404: "not_found",
  409: "already_exists",
  412: "failed_precondition",
  429: "rate_limited",
  500: "internal",
  501: "unimplemented",
  503: "unavailable",
};

/** The wires by the beginning of their paths; all of them admit their calls. */
const wires: readonly (readonly [RegExp, string])[] = [
  [/^\/v2\//, "v2"],
  [/^\/v1\/(?:responses|models|files)\b/, "openai"],
  [/^\/v1\//, "v1"],
  [/^\/mcp\b/, "mcp"],
  [/^\/ag-ui\b/, "ag-ui"],
  [/^\/a2a\b/, "a2a"],
];

/** The wires that a fault can name. */
export const wireNames: readonly string[] = [
  ...wires.map(([, name]) => name),
  "connect",
  "grpc",
  "grpc-web",
  "other",
];

const pathOf = ({ url = "/" }: Pick<IncomingMessage, "url">): string => url.split("?", 1)[0] ?? "/";

/** The wire and the names of a request. */
export function targetOf(
  { url, headers }: Pick<IncomingMessage, "url" | "headers">,
  operations: OperationTable,
): Target {
  const path = pathOf({ url });
  const rpc = operations.byRpc(path.slice(1));
  const [, grpc] = /^application\/(grpc(?:-web)?)/.exec(headers["content-type"] ?? "") ?? [];
  const ofPath = wires.find(([begin]) => begin.test(path))?.[1];
  const wire = grpc ?? (/^\/[\w.]+\.[A-Z]\w*\/[A-Z]\w*$/.test(path) ? "connect" : (ofPath ?? "other"));
  const name = rpc ? rpc.name : ofPath === "v2" ? path.slice("/v2/".length) : null;
  return { wire, names: [path, ...(rpc ? [rpc.rpc] : []), ...(name === null ? [] : [name])] };
}

/** Operations of test mode get a fault by their own header only. */
const isOfTests = ({ names }: Target): boolean =>
  names.some((name) => name.startsWith("test.") || name.startsWith("testing.v1."));

/** @param operations the table of this server. */
export function faultyCalls(armed: ArmedFaults, operations: () => OperationTable): FaultyCalls {
  const waiting = new WeakMap<RequestHead, Fault>();
  const byRequest = new Map<string, Fault>();

  function faultOf(request: IncomingMessage, target: Target): Fault | null {
    const { method, url, headers } = request;
    const text = headers[faultHeader];
    if (text === undefined) return isOfTests(target) ? null : armed.take(target, false);
    const header = [text].flat().join("; ");
    const fault = parseFault(header, "X-ATP-Fault");
    return armed.ofHeader(fault, JSON.stringify([header, method, url, headers["idempotency-key"] ?? null]));
  }

  async function serveWith(
    fault: Fault,
    target: Target,
    request: IncomingMessage,
    response: ServerResponse,
    next: () => void,
  ) {
    if (fault.delayMs > 0) await systemClock.sleep(fault.delayMs);
    if (response.destroyed) return;
    if (fault.reset) return reset(request);
    if (fault.status !== null) {
      if (reasons[fault.status] === undefined || target.wire === "other")
        return answerStatus(response, fault.status, fault.retryAfter);
      waiting.set(request, fault);
    }
    if (fault.afterCommit) loseAnswer(response);
    if (fault.cut !== null || fault.cutEvent !== null) cutAnswer(response, fault);
    next();
  }

  return {
    serve: (handler) => (request, response) => {
      const next = () => handler(request, response);
      try {
        const target = targetOf(request, operations());
        const fault = faultOf(request, target);
        if (fault === null) return next();
        void serveWith(fault, target, request, response, next);
      } catch (thrown) {
        answerJson(response, 400, "invalid_argument", failureOf(thrown).message);
      }
    },
    read: (read) => (head) => {
      const request = read(head);
      const fault = waiting.get(head);
      if (fault === undefined) return request;
      waiting.delete(head);
      byRequest.set(request.requestId, fault);
      return request;
    },
    admit: (admit) => async (operation, request) => {
      const fault = byRequest.get(request.requestId);
      if (fault === undefined) return admit(operation, request);
      byRequest.delete(request.requestId);
      throw failureFor(fault);
    },
  };
}

function failureFor({ status, retryAfter }: Fault): Failure {
  const reason = reasons[status ?? 500] ?? "internal";
  return new Failure(
    reason,
    `a fault of the test: status ${status}`,
    retryAfter === null ? {} : { retryAfter },
  );
}

/** Ends the connection as a crashed machine does; over HTTP/2 the stream. */
function reset(request: IncomingMessage | Http2ServerRequest): void {
  if ("stream" in request) request.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else request.socket.resetAndDestroy();
}

function answerStatus(response: ServerResponse, status: number, retryAfter: number | null): void {
  if (retryAfter !== null) response.setHeader("Retry-After", String(retryAfter));
  answerJson(
    response,
    status,
    status < 500 ? "invalid_argument" : "unavailable",
    `a fault of the test: status ${status}`,
  );
}

/** Answers outside of the wires: with the members of v2 and of Connect. */
export function answerJson(response: ServerResponse, status: number, code: string, message: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.end(JSON.stringify({ ok: false, error: { code, message }, code, message }));
}
