import { create, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission, Admit, Request } from "../../call/admit.ts";
import { presentedOnV1 } from "../../call/credential.ts";
import type { Performer } from "../../call/perform.ts";
import { Failure } from "../../core/failure.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Operation, type OperationTable, rpcName } from "../../operations.ts";
import { callHeaders, heedWarnings, rateHeaders, refusalHeaders, replayHeaders } from "../answer-headers.ts";
import { boundOf } from "../bounds/bound.ts";
import { failureIn, v1Answers } from "../failure.ts";
import { goneSignal } from "../gone.ts";
import { incomingBody } from "../incoming-body.ts";
import type { ReadRequest } from "../request.ts";
import { boundedBodies } from "../request-body.ts";
import { findIdleMembers } from "../warnings/shape.ts";
import { Warnings } from "../warnings/warnings.ts";
import { sentBy } from "./input.ts";
import type { Ask, Route, Verb } from "./route.ts";

/** What routes need of the call path. */
export interface RestParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  /** For routes that are open to everybody. */
  readonly admitAnybody: Admit;
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly bodyLimit: number;
  /** Where the bytes of forms go. */
  readonly uploads: Pick<Uploads, "receive">;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** How a family of routes differs from another. */
export interface Family {
  /** Headers of every answer of a route, for instance of one that is deprecated. */
  readonly headers?: (operation: Operation) => readonly (readonly [name: string, value: string])[];
  /** The body of a refusal. */
  readonly refusal: (failure: Failure) => object;
  /** JSON answers have the warnings too, not their head alone. */
  readonly warns?: true;
}

/** A call between its head and its answer. */
interface Call {
  readonly request: Request;
  admission?: Admission;
  gone?: AbortSignal;
  /** Of this request; filled when it is read. */
  readonly warnings: Warnings;
}

declare module "fastify" {
  interface FastifyRequest {
    rest?: Call;
  }
}

/**
 * Serves routes: credential, access and limit before the body is read, then the
 * operations that a route points at. No route has a policy of its own.
 */
export function serveRoutes(app: FastifyInstance, parts: RestParts, routes: readonly Route[], family: Family): void {
  const bound = ({ rest }: FastifyRequest) => rest?.admission && boundOf(rest.admission.operation, parts.bodyLimit);
  boundedBodies(app, bound, { isRead: (request) => !isForm(request) });
  if (routes.some(({ form }) => form)) void app.register(multipart);
  app.setErrorHandler((thrown, request, reply) => refuse(parts, family, request, reply, thrown));
  for (const path of new Set(routes.map((route) => route.path))) servePath(app, parts, path, routes, family);
}

/** One address with all that it takes. */
function servePath(app: FastifyInstance, parts: RestParts, path: string, routes: readonly Route[], family: Family): void {
  const byVerb = new Map(routes.filter((route) => route.path === path).map((route) => [route.verb, route]));
  app.route({
    method: [...app.supportedMethods],
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    exposeHeadRoute: false,
    async onRequest(request, reply) {
      const gone = goneSignal(reply.raw);
      const call: Call = { request: begin(request, parts), gone, warnings: new Warnings() };
      request.rest = call;
      const route = byVerb.get(request.method as Verb); // Any other is not in the map.
      if (!route) throw notAllowed(reply, [...byVerb.keys()]);
      const operation = operationOf(parts, route.method);
      for (const [name, value] of family.headers?.(operation) ?? []) reply.header(name, value);
      const admit = route.open && call.request.credentials.keys.length === 0 ? parts.admitAnybody : parts.admit;
      call.admission = await admit(operation, call.request);
      for (const [name, value] of rateHeaders(call.admission.rate)) reply.header(name, value);
      // Fastify refuses types that it cannot read, and over HTTP/2 passes over a body that has none.
      if (!route.form || !isForm(request)) request.raw.headers["content-type"] = "application/json";
    },
    async handler(request, reply) {
      const { rest } = request;
      const route = byVerb.get(request.method as Verb);
      if (!route || !rest?.admission || !rest.gone) throw new Failure("internal", "internal error");
      if (route.form && isForm(request)) incomingBody(request.raw)?.isUpload();
      const ask = asking(parts, rest.admission, rest.gone, reply);
      const answer = await (route.form && isForm(request)
        ? route.form(ask, reply, parts.uploads)
        : route.answer(readMembers(route, request, rest, reply), ask, reply));
      if (answer === reply) return reply;
      return send(reply, rest.request.requestId, answer === null ? 204 : 200, answer && warned(family, rest, answer));
    },
  });
}

/** @throws Failure `invalid` for a body that is no JSON object; under strict handling also for members without effect. */
function readMembers({ takes }: Route, request: FastifyRequest, { request: { strict }, warnings }: Call, reply: FastifyReply): JsonObject {
  const { members, given } = sentBy(request);
  for (const json of given) findIdleMembers(takes, json, warnings);
  heedWarnings(warnings, strict, (name, value) => reply.header(name, value));
  return members;
}

/** A body with the warnings of its request, where the family has them and there are any. */
const warned = ({ warns }: Family, call: Call | undefined, body: object): object =>
  warns && call && !call.warnings.isEmpty ? { ...body, warnings: call.warnings.texts } : body;

const isForm = ({ headers }: FastifyRequest): boolean => /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");

function notAllowed(reply: FastifyReply, verbs: readonly Verb[]): Failure {
  reply.header("Allow", verbs.join(", "));
  return new Failure("wrong_method", `this address takes ${verbs.join(" and ")}`);
}

function operationOf({ operations }: RestParts, method: DescMethod): Operation {
  const operation = operations.byRpc(rpcName(method));
  if (!operation) throw new Error(`${rpcName(method)} is no operation`);
  return operation;
}

function asking(parts: RestParts, admission: Admission, gone: AbortSignal, reply: FastifyReply): Ask {
  const { performer } = parts;
  const under = (method: DescMethod): Admission => ({ ...admission, operation: operationOf(parts, method) });
  const ask = async <M extends DescMethod>(method: M, message: Parameters<typeof create<M["input"]>>[1]) => {
    const { answer, replayed } = await performer.perform(under(method), create(method.input, message), gone);
    for (const [name, value] of replayHeaders(replayed)) reply.header(name, value);
    return answer as MessageShape<M["output"]>; // `perform` makes it from the method's own descriptor.
  };
  const stream = async <M extends DescMethod>(method: M, message: Parameters<typeof create<M["input"]>>[1]) => {
    const answers = await performer.stream(under(method), create(method.input, message), gone);
    return answers as AsyncIterable<MessageShape<M["output"]>> | null; // As above.
  };
  return Object.assign(ask, { stream });
}

function begin(request: FastifyRequest, { readRequest }: Pick<RestParts, "readRequest">): Request {
  const { headers } = request;
  const head = readRequest(request.raw);
  return { ...head, credentials: presentedOnV1((name) => [headers[name] ?? []].flat().join(",")) };
}

/** Answers a failure in a family's form. */
export function refuse(
  parts: Pick<RestParts, "readRequest" | "report">,
  family: Family,
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
): FastifyReply {
  const failure = failureIn(thrown);
  const { requestId } = request.rest?.request ?? begin(request, parts);
  parts.report(failure, requestId);
  for (const [name, value] of refusalHeaders(failure)) reply.header(name, value);
  // Fastify's, on a body that is left unread; HTTP/2 has no such header.
  if (request.raw.httpVersionMajor > 1) reply.removeHeader("Connection");
  return send(reply, requestId, v1Answers[failure.reason].status, warned(family, request.rest, family.refusal(failure)));
}

/** `{code, message, details}`, with gRPC's number as the code (contract/v1.md 1.3). */
export const refusalBody = ({ reason, message }: Failure) => ({ code: v1Answers[reason].code, message, details: [] });

function send(reply: FastifyReply, requestId: string, status: number, body: object | null): FastifyReply {
  for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
  if (body === null) return reply.code(status).send();
  return reply.code(status).header("Content-Type", "application/json; charset=utf-8").send(JSON.stringify(body));
}
