import type { IncomingMessage } from "node:http";
import type { DescMessage } from "@bufbuild/protobuf";
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure, notFound } from "../../core/failure.ts";
import { runInSpan } from "../../core/trace.ts";
import type { Request } from "../../pipeline/admission.ts";
import { largeBodyBytes, type RateState } from "../../pipeline/limit.ts";
import { outcomeOf, type WireName } from "../../pipeline/observation.ts";
import { applyWarnings, rateHeaders, setHeaders } from "../answer-headers.ts";
import type { Bound } from "../bounds/bound.ts";
import { prepareBody } from "../bounds/check.ts";
import { goneSignal } from "../connection.ts";
import { incomingBody } from "../incoming-body.ts";
import { readPreference } from "../request.ts";
import { readBody } from "../request-body.ts";
import { Warnings } from "../warnings/warnings.ts";
import { nameIn, oneOf } from "./names.ts";

/** One request between its head and its answer. */
export interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly head: Request;
  /** Aborted when the client disconnects or has its answer. */
  readonly gone: AbortSignal;
  /** Warnings about the request's members; filled while they are decoded. */
  readonly warnings: Warnings;
}

/** Answers a call. Errors become refusals of the wire. */
export type Handle = (call: Call) => Promise<void>;

/** The steps of every call that differ by wire form. The steps of each address are in `inSteps`. */
export interface WireForm<F> {
  /** Its name in metrics and log lines. */
  readonly name: WireName;
  /** Reads the head: id, address and credentials. The body is read after the call is admitted. */
  readonly readHead: (raw: IncomingMessage) => Request;
  /** Converts an error to a failure of this wire. */
  readonly failureIn: (thrown: unknown) => F;
  /** Receives every failure with its private cause. */
  readonly report: (failure: F, requestId: string) => void;
  /** Sends the refusal, with its headers. */
  readonly refuse: (call: Call, failure: F) => Promise<void>;
}

/** Serves addresses in one wire form. */
export interface Wire {
  /**
   * Answers a request with the handle that `handleOf` returns, in a hook after which Fastify does not
   * continue: it parses no body.
   */
  answer(request: FastifyRequest, reply: FastifyReply, handleOf: (call: Call) => Handle): void;
  /**
   * Serves an address with one handle per HTTP method.
   *
   * @param wrongMethod the refusal of other methods.
   */
  route(
    app: FastifyInstance,
    url: string,
    handles: Readonly<Record<string, Handle>>,
    wrongMethod: WrongMethod,
    config?: FastifyContextConfig,
  ): void;
  /** Serves one address for each name, all below a prefix that ends with a slash. */
  routeNames(app: FastifyInstance, prefix: string, addresses: ReadonlyMap<string, Address>): void;
  /** Refuses a request to an unknown address, or one whose answer fails while it is sent. */
  refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply;
}

/** One handle per HTTP method, and the refusal of other methods. */
export interface Address {
  readonly handles: Readonly<Record<string, Handle>>;
  readonly wrongMethod: WrongMethod;
}

/** The refusal of other methods. `allow` lists the allowed methods; default: those with a handle. */
interface WrongMethod {
  readonly text: (allowed: readonly string[]) => string;
  readonly allow?: readonly string[];
}

export function wire<F>({ name, readHead, failureIn, report, refuse }: WireForm<F>): Wire {
  const callOf = (request: FastifyRequest, reply: FastifyReply, head = readHead(request.raw)): Call => {
    head.observed?.begin(name, reply.raw, request.routeOptions.url);
    return { request, reply, head, gone: goneSignal(reply.raw), warnings: new Warnings() };
  };

  async function refuseCall(call: Call, thrown: unknown): Promise<void> {
    const failure = failureIn(thrown);
    report(failure, call.head.requestId);
    if (call.head.observed) call.head.observed.reason = outcomeOf(failure);
    // Fastify sets it when a body is left unread; HTTP/2 has no such header.
    if (call.request.raw.httpVersionMajor > 1) call.reply.removeHeader("Connection");
    await refuse(call, failure);
  }

  async function run(call: Call, handleOf: (call: Call) => Handle): Promise<void> {
    try {
      await runInSpan(call.head.observed?.span, () => handleOf(call)(call));
    } catch (thrown) {
      await refuseCall(call, thrown);
    }
  }

  /** Closes the connection when the refusal could not be sent. */
  const cut = (call: Call) => (thrown: unknown) => {
    report(failureIn(thrown), call.head.requestId);
    call.reply.raw.destroy();
  };

  function answer(request: FastifyRequest, reply: FastifyReply, handleOf: (call: Call) => Handle): void {
    const call = callOf(request, reply);
    run(call, handleOf).catch(cut(call));
  }

  /** Serves every HTTP method of a URL. */
  const serve = (
    app: FastifyInstance,
    url: string,
    handleOf: (call: Call) => Handle,
    config: FastifyContextConfig = {},
  ): void =>
    void app.route({
      method: [...app.supportedMethods],
      url,
      exposeHeadRoute: false,
      config,
      onRequest: (request, reply, _next) => answer(request, reply, handleOf),
      // Never reached.
      handler: async (_request, reply) => reply,
    });

  return {
    answer,
    route: (app, url, handles, wrongMethod, config) =>
      serve(app, url, byMethod({ handles, wrongMethod }), config),
    routeNames(app, prefix, addresses) {
      const handlesOf = new Map([...addresses].map(([name, address]) => [name, byMethod(address)]));
      serve(app, `${prefix}${oneOf(addresses.keys())}`, (call) => {
        const handleOf = handlesOf.get(nameIn(call.request));
        // Never thrown: the route has these names only.
        if (!handleOf) throw notFound("address");
        return handleOf(call);
      });
    },
    refuse(request, reply, thrown) {
      const head = readHead(request.raw);
      const sent = reply.getHeader("X-Request-Id");
      const call = callOf(request, reply, typeof sent === "string" ? { ...head, requestId: sent } : head);
      refuseCall(call, thrown).catch(cut(call));
      return reply;
    },
  };
}

/** Selects the handle of a request's method. @throws Failure `method_not_allowed` */
function byMethod({
  handles,
  wrongMethod: { text, allow = Object.keys(handles) },
}: Address): (call: Call) => Handle {
  const handleOf = new Map(Object.entries(handles));
  return ({ request, reply }) => {
    const handle = handleOf.get(request.method);
    if (handle) return handle;
    reply.header("Allow", allow.join(", "));
    throw new Failure("method_not_allowed", text(allow));
  };
}

/**
 * Lists the members without effect in the answer's head. @throws Failure `invalid_argument` for them under
 * strict handling
 */
export const applyHeaders = ({ warnings, head, reply }: Call): void =>
  applyWarnings(warnings, head.isStrict, (name, value) => reply.header(name, value));

/** The caller's preference of this name (RFC 7240). */
export const preferenceOf = ({ request }: Call, name: string): string | undefined =>
  readPreference([request.headers["prefer"] ?? []].flat().join(", "), name);

/** Names a preference that the answer follows in its head. */
export function applyPreference({ reply }: Call, preference: string): void {
  const applied = [reply.getHeader("Preference-Applied") ?? []].flat();
  reply.header("Preference-Applied", [...applied, preference].join(", "));
}

export const sendJson = (reply: FastifyReply, status: number, text: string): void =>
  void reply.code(status).header("Content-Type", "application/json; charset=utf-8").send(text);

/** The result of admitting a call: an admission, or its replacement at an address without credentials. */
export interface Admitted {
  /** The state of the caller's limit; null without a limit. */
  readonly rate: RateState | null;
}

/** The steps of a call at one address, in this order. Each step may throw a refusal. */
export interface Steps<A extends Admitted, I> {
  /** Credential, access and limit, before any of the body is read. */
  readonly admit: (call: Call) => Promise<A>;
  /** Checks the body's type and returns its bound; null: the body is not read here. */
  readonly bound: (call: Call) => Bound | null;
  /** The type of the body's binary message; absent: the body is JSON. */
  readonly binary?: DescMessage | null;
  readonly decode: (call: Call, body: Uint8Array) => I;
  /** Performs the call and sends its answer. */
  readonly encode: (call: Call, admitted: A, input: I) => Promise<void>;
}

const nothing = new Uint8Array();

/** Answers calls in these steps: admission, body, decode, encode. */
export const inSteps =
  <A extends Admitted, I>({ admit, bound, binary = null, decode, encode }: Steps<A, I>): Handle =>
  async (call) => {
    const admitted = await admit(call);
    setHeaders(call.reply, rateHeaders(admitted.rate));
    const limit = bound(call);
    const read = limit === null ? nothing : await readBody(call.request.raw, limit);
    const body =
      read.length > largeBodyBytes ? await prepareBody(read, binary, incomingBody(call.request.raw)) : read;
    await encode(call, admitted, decode(call, body));
  };

/** Whether the body of a request with this method is read. */
export const hasBody = ({ request }: Call): boolean => request.method !== "GET" && request.method !== "HEAD";

/** The first steps of an address that needs no credential and reads no body. */
export const anonymousSteps = {
  admit: async () => ({ rate: null }),
  bound: () => null,
  decode: () => null,
} as const;
