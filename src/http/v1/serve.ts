import type { IncomingMessage } from "node:http";
import { create, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../../core/failure.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Admission } from "../../pipeline/admission.ts";
import type { Admit } from "../../pipeline/admit.ts";
import { readV1Credentials } from "../../pipeline/credential.ts";
import type { WireName } from "../../pipeline/observation.ts";
import { type Operation, type OperationTable, rpcName } from "../../pipeline/operations.ts";
import type { Performer } from "../../pipeline/perform.ts";
import { callHeaders, idempotencyHeaders, refusalHeaders, setHeaders } from "../answer-headers.ts";
import { boundOf } from "../bounds/bound.ts";
import { failureOfError, jsonOnly, v1Answers } from "../failure.ts";
import type { ReadRequest } from "../request.ts";
import { boundedBodies } from "../request-body.ts";
import { sendAnswer } from "../send-answer.ts";
import { findIgnoredMembers } from "../warnings/shape.ts";
import {
  applyHeaders,
  type Call,
  type Handle,
  hasBody,
  inSteps,
  sendJson,
  type Wire,
  wire,
} from "../wire/wire.ts";
import { readRequestInput } from "./input.ts";
import type { Invoke, Route } from "./route.ts";

/** The parts of the call path that routes need. */
export interface RestParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  /** Admits calls without a key to open routes. */
  readonly admitAnonymous: Admit;
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly bodyLimit: number;
  /** Receives the bytes of forms. */
  readonly uploads: Pick<Uploads, "receive">;
  readonly report: (failure: Failure, requestId: string) => void;
  /** The URL below which each failure has its page (`sign-in-pages/error-pages.ts`). */
  readonly errorPages: string;
}

/** The differences between families of routes. */
export interface Family {
  /** Its name in metrics and log lines. */
  readonly name: WireName;
  /** Headers of every answer of a route, for instance of one that is deprecated. */
  readonly headers?: (operation: Operation) => readonly (readonly [name: string, value: string])[];
  readonly refusal: (failure: Failure) => object;
  /** JSON answers include the warnings, in addition to their head. */
  readonly hasWarnings?: true;
}

/** Reads a header; repeated ones are joined by commas. */
export const headerOf =
  ({ headers }: IncomingMessage) =>
  (name: string): string =>
    [headers[name] ?? []].flat().join(",");

export const familyWire = (
  { readRequest, report, errorPages }: Pick<RestParts, "readRequest" | "report" | "errorPages">,
  family: Family,
): Wire =>
  wire({
    name: family.name,
    readHead: (raw) => ({
      ...readRequest(raw),
      credentials: readV1Credentials(headerOf(raw)),
    }),
    failureIn: failureOfError,
    report,
    async refuse(call, failure) {
      setHeaders(call.reply, [...refusalHeaders(failure), ...callHeaders(call.head.requestId)]);
      const facts = { request_id: call.head.requestId, doc_url: `${errorPages}/${failure.reason}` };
      const body = withWarnings(family, call, { ...family.refusal(failure), ...facts });
      sendJson(call.reply, v1Answers[failure.reason].status, JSON.stringify(body));
    },
  });

/**
 * Serves routes: checks credential, access and limit before the body is read, then
 * performs the operations of the route. No route has its own access rules.
 */
export function serveRoutes(
  app: FastifyInstance,
  parts: RestParts,
  routes: readonly Route[],
  family: Family,
): Wire {
  // For addresses without a route.
  boundedBodies(app, { isRead: (request) => !isForm(request) });
  if (routes.some(({ form }) => form)) void app.register(multipart);
  const rest = familyWire(parts, family);
  app.setErrorHandler((thrown, request, reply) => rest.refuse(request, reply, thrown));
  for (const [path, all] of Map.groupBy(routes, (route) => route.path)) {
    const handles = all.map((route) => [route.verb, handleOf(route, parts, family)] as const);
    const heads = handles.flatMap(([verb, handle]) => (verb === "GET" ? [["HEAD", handle] as const] : []));
    const text = () => `this address accepts ${handles.map(([verb]) => verb).join(" and ")}`;
    rest.route(app, path.replaceAll(/\{(\w+)\}/g, ":$1"), Object.fromEntries([...handles, ...heads]), {
      text,
    });
  }
  return rest;
}

function handleOf(route: Route, parts: RestParts, family: Family): Handle {
  const operation = operationOf(parts, route.method);
  const bound = boundOf(operation, parts.bodyLimit);
  const { form } = route;
  const hasForm = ({ request }: Call): boolean => form !== undefined && isForm(request);
  return inSteps({
    async admit({ head, reply }) {
      setHeaders(reply, family.headers?.(operation) ?? []);
      const admit = route.isPublic && head.credentials.keys.length === 0 ? parts.admitAnonymous : parts.admit;
      return admit(operation, head);
    },
    bound(call) {
      if (hasForm(call) && !call.request.mediaType?.startsWith("multipart/"))
        throw new Failure("unsupported_media_type", jsonOnly);
      return hasForm(call) || !hasBody(call) ? null : bound;
    },
    decode(call, body) {
      if (form && hasForm(call)) return (ask: Invoke) => form(ask, call, parts.uploads);
      const members = readMembers(route, call, body);
      return (ask: Invoke) => route.answer(members, ask, call);
    },
    async encode(call, admission, answerBy) {
      const answer = await answerBy(invokeFor(parts, admission, call));
      if (answer === undefined) return;
      setHeaders(call.reply, callHeaders(call.head.requestId));
      if (answer === null) call.reply.code(204).send();
      else await sendAnswer(call, admission, { text: JSON.stringify(withWarnings(family, call, answer)) });
    },
  });
}

/**
 * Reads the members.
 *
 * @throws Failure `invalid_argument` for a body that is not a JSON object; under strict handling also for
 * members without effect.
 */
function readMembers({ accepts }: Route, call: Call, body: Uint8Array): JsonObject {
  const { members, sources } = readRequestInput(call.request, body);
  for (const json of sources) findIgnoredMembers(accepts, json, call.warnings);
  applyHeaders(call);
  return members;
}

/** Adds the warnings of the request to a body, when the family includes them and there are any. */
const withWarnings = ({ hasWarnings }: Family, { warnings }: Call, body: object): object =>
  hasWarnings && !warnings.isEmpty ? { ...body, warnings: warnings.texts } : body;

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");

function operationOf({ operations }: RestParts, method: DescMethod): Operation {
  const operation = operations.byRpc(rpcName(method));
  if (!operation) throw new Error(`${rpcName(method)} is not an operation`);
  return operation;
}

function invokeFor(parts: RestParts, admission: Admission, { gone, reply }: Call): Invoke {
  const { performer } = parts;
  const under = (method: DescMethod): Admission => ({ ...admission, operation: operationOf(parts, method) });
  // A route still has its input while an operation holds the call: the bytes of the body count until the call
  // ends.
  const { body: _, ...request } = admission.request;
  const ask = async <M extends DescMethod>(method: M, message: Parameters<typeof create<M["input"]>>[1]) => {
    const { answer, isReplayed } = await performer.perform(
      { ...under(method), request },
      create(method.input, message),
      gone,
    );
    setHeaders(reply, idempotencyHeaders(isReplayed));
    return answer as MessageShape<M["output"]>; // `perform` makes it from the method's descriptor.
  };
  const stream = async <M extends DescMethod>(
    method: M,
    message: Parameters<typeof create<M["input"]>>[1],
    until?: AbortSignal,
  ) => {
    const end = until ? AbortSignal.any([gone, until]) : gone;
    const answers = await performer.stream(under(method), create(method.input, message), end);
    return answers as AsyncIterable<MessageShape<M["output"]>> | null; // As above.
  };
  return Object.assign(ask, {
    stream,
    reserve: (method: DescMethod) => performer.reserve(under(method), gone),
  });
}

/** `{code, message, details}`, with gRPC's number as the code (spec/v1.md 1.3). */
export const refusalBody = ({ reason, message }: Failure) => ({
  code: v1Answers[reason].code,
  message,
  details: [],
});
