import type { JsonObject, Message } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { lazy } from "../../async/lazy.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure, failureOf } from "../../core/failure.ts";
import { findNearest } from "../../core/nearest.ts";
import type { Admission } from "../../pipeline/admission.ts";
import type { Admit } from "../../pipeline/admit.ts";
import type { Operation, OperationTable } from "../../pipeline/operations.ts";
import type { Performer } from "../../pipeline/perform.ts";
import { callHeaders, idempotencyHeaders, setHeaders, warningHeaders } from "../answer-headers.ts";
import { boundOf } from "../bounds/bound.ts";
import { jsonOnly } from "../failure.ts";
import { boundedBodies } from "../request-body.ts";
import { sendAnswer } from "../send-answer.ts";
import type { Refuse, Unrouted } from "../unrouted.ts";
import { type Address, applyHeaders, type Call, type Handle, hasBody, inSteps } from "../wire/wire.ts";
import { compileFrameWriter, endFrame, eventStream, isResumable, lastEventId } from "./event-stream.ts";
import { compileReader } from "./message-reader.ts";
import { parseBody } from "./parse.ts";
import { type RefusalParts, refusalText, v2Wire } from "./refusal.ts";
import { compileWriter } from "./writer.ts";

/** Synonyms of the words in operation names. When several match, the first in this order applies. */
const synonyms: readonly (readonly [word: string, others: readonly string[]])[] = [
  ["detail", ["get", "show", "read", "retrieve", "fetch", "view", "describe", "info"]],
  ["me", ["get", "show", "info", "whoami", "self", "current"]],
  ["status", ["get", "show", "state"]],
  ["list", ["get", "find", "search", "all", "index", "query", "show"]],
  ["create", ["new", "add", "make", "start", "submit", "run", "post", "register"]],
  ["upload", ["create", "new", "add", "put", "post"]],
  ["delete", ["remove", "destroy", "erase"]],
  ["remove", ["delete", "destroy", "erase"]],
  ["update", ["edit", "patch", "set", "change", "put", "modify"]],
  ["stop", ["cancel", "abort", "end", "kill", "terminate"]],
  ["watch", ["stream", "subscribe", "follow", "event", "listen"]],
  ["send", ["reply", "answer", "continue", "post", "add", "create"]],
  ["confirm", ["approve", "accept", "allow"]],
  ["ping", ["test"]],
];

/** Longer names get no suggestion, and are cut in the answer. */
const nameMax = 64;

/**
 * Creates the refusal of an unknown address. Below `/v2/` it suggests an operation: one with synonymous words
 * (`task.get`, `/v2/tasks`, `/v2/task/create`, `createTask`), or one with a similar spelling.
 *
 * @returns a function of the URL's path and query.
 */
export function unknownOperation({ all }: OperationTable): (url: string) => Failure {
  const names = all.flatMap(({ name }) => name ?? []).toSorted();
  const words = new Map(names.map((name) => [name, wordsIn(name)]));
  function suggest(requested: readonly string[]): string | undefined {
    let best: { name: string; rank: number } | undefined;
    for (const [name, operation] of words) {
      const rank = rankOf(requested, operation);
      if (rank < (best?.rank ?? Number.POSITIVE_INFINITY)) best = { name, rank };
    }
    return best?.name;
  }
  return (url) => {
    const [, requested = ""] = /^\/v2\/([^?#]*)/.exec(url) ?? [];
    const excerpt = requested.slice(0, nameMax).replaceAll(/[^\x21-\x7e]/g, "?");
    if (excerpt === "") return new Failure("not_found", "unknown operation");
    const suggestion =
      requested.length > nameMax
        ? undefined
        : (suggest(wordsIn(requested)) ?? findNearest(requested.replaceAll("/", "."), names));
    return new Failure(
      "not_found",
      `unknown operation ${excerpt}${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`,
    );
  };
}

/**
 * The words of a name. `task.listMessages`, `/tasks/list_messages` and `listTaskMessages` have the same words
 * in some order. Plurals count as singular.
 */
const wordsIn = (name: string): string[] =>
  name
    .replaceAll(/([a-z])([A-Z])/g, "$1.$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "")
    .map((word) => word.replace(/([^su])s$/, "$1"));

/**
 * The distance of an operation from the requested words: 0 for the same words, infinite when they do not
 * match.
 */
function rankOf(requested: readonly string[], operation: readonly string[]): number {
  const left = [...operation];
  const take = (word: string): boolean =>
    left.includes(word) && left.splice(left.indexOf(word), 1).length > 0;
  let rank = 0;
  for (const word of requested.filter((one) => !take(one))) {
    const index = synonyms.findIndex(([synonym, others]) => others.includes(word) && take(synonym));
    if (index === -1) return Number.POSITIVE_INFINITY;
    rank += index + 1;
  }
  return left.length === 0 ? rank : rank + rankWithoutWord(requested, left);
}

/**
 * The rank when one word is missing: `tasks` and `task.messages` are lists, `task.send` is
 * `task.sendMessage`.
 */
function rankWithoutWord(requested: readonly string[], left: readonly string[]): number {
  if (requested.length === 0 || left.length > 1) return Number.POSITIVE_INFINITY;
  if (left[0] === "list") return 100;
  return requested.length > 1 ? 200 : Number.POSITIVE_INFINITY;
}

/** The parts of the call path that the v2 wire needs. */
export interface V2Parts extends RefusalParts {
  /**
   * Answers a browser that asks for an address without a page; null at a host that is not the platform's.
   * Programs, addresses of operations and other hosts get JSON. Absent: every caller does.
   */
  readonly notFoundPage?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply | null) | undefined;
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  /** The clock of keep-alive comments. */
  readonly clock: Clock;
  readonly bodyLimit: number;
}

/** Performs a call that was admitted and read, and sends its answer. */
type Answer = (call: Call, admission: Admission, input: Message) => Promise<void>;

/** Bodies of these types are never read as JSON (spec/decisions.md 12). */
const unsupportedTypes = /^(multipart\/|application\/(grpc|proto|x-protobuf|protobuf|connect\+proto))/i;

/**
 * Registers the dotted JSON API: `POST /v2/task.create`, and GET with a query for
 * operations without side effects (spec/api.md 1). Every answer has the envelope.
 *
 * @param elsewhere refuses requests to addresses of other protocols that reach no route.
 */
export function v2Routes(app: FastifyInstance, parts: V2Parts, elsewhere: Pick<Unrouted, "refuse">): void {
  // For addresses without an operation.
  boundedBodies(app);
  const v2 = v2Wire(parts);
  const unknown = unknownOperation(parts.operations);
  app.setErrorHandler((thrown, request, reply) => v2.refuse(request, reply, thrown));
  const { notFoundPage } = parts;
  const refuse: Refuse = (request, reply, thrown) =>
    (asksForPage(request) ? notFoundPage?.(request, reply) : null) ?? v2.refuse(request, reply, thrown);
  app.setNotFoundHandler((request, reply) =>
    elsewhere.refuse(request, reply, refuse, unknown(request.raw.url ?? "")),
  );
  const named = parts.operations.all.flatMap((operation) =>
    operation.name === null ? [] : [[operation.name, operation] as const],
  );
  v2.routeNames(
    app,
    "/v2/",
    new Map(named.map(([name, operation]) => [name, addressOf(name, operation, parts)])),
  );
}

/** Whether a browser asks for a page, by `Accept`. */
const asksForPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === "GET" || method === "HEAD") &&
  !url.startsWith("/v2/") &&
  /\btext\/html\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(headers.accept ?? "");

function addressOf(name: string, operation: Operation, parts: V2Parts): Address {
  // A process calls few of its operations.
  const compiled = lazy(() => handleOf(operation, parts));
  const handle: Handle = (call) => compiled()(call);
  return operation.isChange
    ? { handles: { POST: handle }, wrongMethod: { text: () => `${name} accepts POST` } }
    : {
        handles: { GET: handle, HEAD: handle, POST: handle },
        wrongMethod: { text: () => `${name} accepts POST or GET` },
      };
}

function handleOf(operation: Operation, parts: V2Parts): Handle {
  const read = compileReader(operation.method.input);
  const bound = boundOf(operation, parts.bodyLimit);
  const answer =
    operation.method.methodKind === "server_streaming"
      ? streamAnswer(operation, parts)
      : unaryAnswer(operation, parts);
  return inSteps({
    admit: ({ head }) => parts.admit(operation, head),
    bound(call) {
      const { request, reply, head, warnings } = call;
      if (unsupportedTypes.test(request.headers["content-type"] ?? ""))
        throw new Failure("unsupported_media_type", jsonOnly);
      // From here on, a refusal has this header too.
      if (head.isStrict) setHeaders(reply, warningHeaders(warnings, true));
      return hasBody(call) ? bound : null;
    },
    decode(call, body) {
      const { request, warnings } = call;
      // Fastify's query parser makes only JSON objects.
      const input = hasBody(call)
        ? read(parseBody(body), "body", warnings)
        : read(request.query as JsonObject, "query", warnings);
      applyHeaders(call);
      return input;
    },
    encode: answer,
  });
}

function unaryAnswer({ method }: Operation, { performer }: V2Parts): Answer {
  const write = compileWriter(method.output);
  return async (call, admission, input) => {
    const { reply, head, gone, warnings } = call;
    const { answer, isReplayed } = await performer.perform(admission, input, gone);
    setHeaders(reply, idempotencyHeaders(isReplayed));
    setHeaders(reply, callHeaders(head.requestId));
    const text = write(answer, head.requestId, warnings.texts);
    await sendAnswer(call, admission, { text, varyingLength: beginOf(head.requestId).length });
  };
}

/** How every answer begins. */
const beginOf = (requestId: string): string =>
  JSON.stringify({ ok: true, request_id: requestId }).slice(0, -1);

/** Sends a stream as server-sent events; without events, 204 stops EventSource (spec/decisions.md 17a). */
export function streamAnswer(
  { method }: Operation,
  { performer, clock, report, errorPages }: V2Parts,
): Answer {
  const write = compileFrameWriter(method.output);
  // Resumable streams have the field `after_seq`.
  const resumes = isResumable(method.output);

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
      yield endFrame(refusalText(failure, { requestId, errorPages }));
    }
  }

  return async ({ request, reply, head: { requestId }, gone }, admission, input) => {
    const seen = resumes ? lastEventId(request.headers["last-event-id"]) : undefined;
    if (seen !== undefined) Object.assign(input, { afterSeq: seen });
    const answers = await performer.stream(admission, input, gone);
    setHeaders(reply, callHeaders(requestId));
    if (answers === null) return void reply.code(204).send();
    reply.header("Content-Type", "text/event-stream; charset=utf-8").header("X-Accel-Buffering", "no");
    // Nothing is read from the stream, and the end of the answer closes it.
    if (request.method === "HEAD") return void reply.send();
    reply.send(eventStream(frames(answers, requestId), clock));
  };
}
