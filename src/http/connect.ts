import type { DescMethod, Message } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import type { Admission, Admit, Request } from "../call/admit.ts";
import type { Limits } from "../call/limit.ts";
import type { Performer } from "../call/perform.ts";
import { Failure, failureOf, invalid } from "../core/failure.ts";
import { mapped } from "../core/mapped.ts";
import { type Operation, type OperationTable, rpcName } from "../operations.ts";
import { callHeaders, heedWarnings, rateHeaders, refusalHeaders, replayHeaders } from "./answer-headers.ts";
import { anonymousBound, type Bound, boundOf } from "./bounds/bound.ts";
import { readMessage } from "./bounds/connect-body.ts";
import { compressionOf } from "./bounds/decompression.ts";
import { connectJson } from "./connect-json.ts";
import { registerNoting, setWarnings, warningsOf } from "./connect-warnings.ts";
import { connectCodes, ofSender } from "./failure.ts";
import type { ReadRequest } from "./request.ts";
import type { ReadSessionCookie } from "./session-cookie.ts";

const requestKey = createContextKey<Request | undefined>(undefined);
const admissionKey = createContextKey<Admission | undefined>(undefined);
/** The message was read, and the call's own work has begun. */
const begunKey = createContextKey(false);
/** A stream's head has gone out. */
const headedKey = createContextKey(false);

/** What the Connect, gRPC and gRPC-Web wire forms need of the call path. */
export interface ConnectParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  /** Counts calls to the services that are no operations: health and reflection. */
  readonly anonymous: Limits["anonymous"];
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly readSession: ReadSessionCookie;
  readonly bodyLimit: number;
  /** Hears of every failure, with its private cause. */
  readonly report: (failure: Failure, requestId: string) => void;
}

/** Connect, gRPC and gRPC-Web over the call path: options and routes of one router. */
export function connectRoutes(parts: ConnectParts) {
  const { operations, admit, anonymous, performer, report, bodyLimit } = parts;
  const connectRequest = connectRequestReader(parts);
  /** What callers know of a failure goes with the error, which each protocol puts where its clients look for it, unless the head says it. */
  function refuse(thrown: unknown, context: HandlerContext, requestId: string): ConnectError {
    const failure = failureOf(thrown);
    report(failure, requestId);
    if (context.values.get(headedKey) || isConnectStream(context)) return errorOf(failure, context, refusalHeaders(failure));
    const rate = context.values.get(admissionKey)?.rate ?? null;
    const facts = [...callHeaders(requestId), ...rateHeaders(rate), ...refusalHeaders(failure)];
    // Otherwise Connect would answer them twice.
    for (const [name] of facts) context.responseHeader.delete(name);
    return errorOf(failure, context, facts);
  }

  async function admitCall(operation: Operation, request: Request, context: HandlerContext): Promise<void> {
    const admission = await admit(operation, request);
    for (const [name, value] of rateHeaders(admission.rate)) context.responseHeader.set(name, value);
    context.values.set(admissionKey, admission);
  }

  async function requestGate(context: HandlerContext): Promise<void> {
    const request = context.values.get(requestKey);
    if (!request) throw refuse(new Failure("internal", "internal error"), context, "");
    for (const [name, value] of callHeaders(request.requestId)) context.responseHeader.set(name, value);
    try {
      const operation = operations.byRpc(rpcName(context.method));
      if (operation) await admitCall(operation, request, context);
      else await anonymous(request.address);
      await checkQuery(context, operation ? boundOf(operation, bodyLimit) : anonymousBound(context.method));
      blameSender(context);
    } catch (thrown) {
      throw refuse(thrown, context, request.requestId);
    }
  }

  async function unary(message: Message, context: HandlerContext): Promise<Message> {
    const admission = context.values.get(admissionKey);
    if (!admission) throw refuse(new Failure("internal", "internal error"), context, "");
    context.values.set(begunKey, true);
    try {
      heed(admission, context);
      const { answer, replayed } = await performer.perform(admission, message, context.signal);
      for (const [name, value] of replayHeaders(replayed)) context.responseHeader.set(name, value);
      return answer;
    } catch (thrown) {
      throw refuse(thrown, context, admission.request.requestId);
    }
  }

  async function* answersTo(admission: Admission, message: Message, context: HandlerContext): AsyncGenerator<Message> {
    heed(admission, context);
    yield* (await performer.stream(admission, message, context.signal)) ?? [];
  }

  const stream = (message: Message, context: HandlerContext) => answering(context, (admission) => answersTo(admission, message, context));

  const conversation = (messages: AsyncIterable<Message>, context: HandlerContext) =>
    answering(context, (admission) =>
      performer.converse(
        admission,
        received(messages, () => heed(admission, context)),
        context.signal,
      ),
    );

  /** Only what the call's own work throws is refused: what is thrown when a client goes away comes in at the other end. */
  function answering(context: HandlerContext, work: (admission: Admission) => AsyncIterable<Message>): AsyncIterable<Message> {
    const admission = context.values.get(admissionKey);
    if (!admission) throw refuse(new Failure("internal", "internal error"), context, "");
    const { requestId } = admission.request;
    context.values.set(begunKey, true);
    const answers = work(admission)[Symbol.asyncIterator]();
    async function next(): Promise<IteratorResult<Message>> {
      try {
        const result = await answers.next();
        context.values.set(headedKey, true);
        return result;
      } catch (thrown) {
        throw refuse(thrown, context, requestId);
      }
    }
    const close = async (): Promise<IteratorResult<Message>> => (await answers.return?.()) ?? { done: true, value: undefined };
    return { [Symbol.asyncIterator]: () => ({ next, return: close, throw: close }) };
  }

  return {
    requestGate,
    contextValues: ({ raw }: FastifyRequest) => setWarnings(createContextValues().set(requestKey, connectRequest(raw))),
    interceptors: [releaseBodies],
    /** @param conversationsOnly streams both ways alone: what has to come to the process that runs tasks. */
    routes(router: ConnectRouter, { conversationsOnly = false } = {}) {
      for (const operation of operations.all) {
        const { method } = operation;
        if (conversationsOnly && !isConversation(method)) continue;
        const { maxBytes: readMaxBytes } = boundOf(operation, bodyLimit);
        registerNoting(router, method, connectJson(method), ({ jsonOptions }) => {
          const options = { jsonOptions, readMaxBytes };
          if (isUnary(method)) router.rpc(method, unary, options);
          if (isServerStream(method)) router.rpc(method, stream, options);
          if (isConversation(method)) router.rpc(method, conversation, options);
        });
      }
    },
  };
}

/** Reads the head of a request on the one wire where a session counts. */
export const connectRequestReader =
  ({ readRequest, readSession }: Pick<ConnectParts, "readRequest" | "readSession">) =>
  (raw: FastifyRequest["raw"]): Request => {
    const request = readRequest(raw);
    return { ...request, credentials: { ...request.credentials, session: readSession(raw.method, raw.headers) } };
  };

/** In a stream, each message counts until it is taken. A call with one answer is over when it is answered. */
const releaseBodies: Interceptor = (next) => (request) => {
  const body = request.contextValues.get(requestKey)?.body;
  if (body === undefined || !request.stream) return next(request);
  const message = mapped(request.message, (taken) => {
    body.release();
    return taken;
  });
  return next({ ...request, message });
};

const isUnary = (method: DescMethod): method is DescMethod & { methodKind: "unary" } => method.methodKind === "unary";
const isServerStream = (method: DescMethod): method is DescMethod & { methodKind: "server_streaming" } =>
  method.methodKind === "server_streaming";
const isConversation = (method: DescMethod): method is DescMethod & { methodKind: "bidi_streaming" } =>
  method.methodKind === "bidi_streaming";

/** Of a stream both ways, whose head goes out before its messages come, only strict handling is of use. */
const heed = ({ request }: Admission, { values, responseHeader }: HandlerContext): void =>
  heedWarnings(warningsOf(values), request.strict, (name, value) => responseHeader.set(name, value));

/**
 * Messages that come while the call works: one that Connect cannot read is its sender's fault.
 *
 * @param check called for each message that was read; throws Failure to refuse it.
 */
async function* received(messages: AsyncIterable<Message>, check: () => void): AsyncGenerator<Message> {
  try {
    for await (const message of messages) {
      check();
      yield message;
    }
  } catch (thrown) {
    throw thrown instanceof ConnectError ? ofSender(thrown) : thrown;
  }
}

/** Its head goes out in any case. */
const isConnectStream = ({ protocolName, method }: HandlerContext): boolean => protocolName === "connect" && !isUnary(method);

/** Connect knows why nobody waits any more: a deadline of the caller's has a code of its own. */
function errorOf({ reason, message }: Failure, { signal }: HandlerContext, facts: readonly (readonly [string, string])[]): ConnectError {
  const late = reason === "cancelled" && signal.reason instanceof ConnectError && signal.reason.code === Code.DeadlineExceeded;
  const metadata = Object.fromEntries(facts);
  return late
    ? new ConnectError(signal.reason.rawMessage, Code.DeadlineExceeded, metadata)
    : new ConnectError(message, connectCodes[reason], metadata);
}

/**
 * Looks at the message in a query, which has no body to be bounded. Connect takes one that is no base64 for a fault of
 * the server's. One that is not compressed is as short as a URL.
 */
async function checkQuery({ requestMethod, url, method }: HandlerContext, bound: Bound): Promise<void> {
  if (requestMethod !== "GET") return;
  const { searchParams } = new URL(url);
  const text = searchParams.get("message") ?? "";
  const bytes = searchParams.get("base64") === "1" ? fromBase64(text) : Buffer.from(text);
  const compression = compressionOf(searchParams.get("compression"));
  if (compression) await readMessage(bytes, { ...bound, method }, { binary: searchParams.get("encoding") === "proto", compression });
}

function fromBase64(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch {
    throw invalid("message", "must be base64");
  }
}

/**
 * Connect answers a binary message that it cannot read with `internal`, and lets
 * nobody in between; but it aborts the call with the error before it writes it. Up
 * to the call's own work, such a failure is the sender's.
 */
function blameSender({ signal, values }: HandlerContext): void {
  signal.addEventListener("abort", () => {
    const { reason } = signal;
    if (values.get(begunKey) || !(reason instanceof ConnectError) || reason.code !== Code.Internal) return;
    Object.assign(reason, { code: Code.InvalidArgument });
  });
}
