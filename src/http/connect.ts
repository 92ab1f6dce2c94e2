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
import { mapIterable } from "../async/map-iterable.ts";
import { Failure, failureOf, invalidArgument } from "../core/failure.ts";
import type { Admission, Request } from "../pipeline/admission.ts";
import type { Admit } from "../pipeline/admit.ts";
import type { Limits } from "../pipeline/limit.ts";
import { type OperationTable, rpcName } from "../pipeline/operations.ts";
import type { Performer } from "../pipeline/perform.ts";
import {
  applyWarnings,
  callHeaders,
  idempotencyHeaders,
  rateHeaders,
  refusalHeaders,
} from "./answer-headers.ts";
import { anonymousBound, type Bound, boundOf, compressionOf } from "./bounds/bound.ts";
import { readMessage } from "./bounds/connect-body.ts";
import { connectJsonOptions } from "./connect-json.ts";
import { registerWithWarnings, setWarnings, warningsOf } from "./connect-warnings.ts";
import { errorDetails } from "./error-details.ts";
import { connectCodes, senderFailure } from "./failure.ts";
import type { ProtocolService } from "./protocol-service.ts";
import type { ReadRequest, ReadSessionCookie } from "./request.ts";

const requestKey = createContextKey<Request | undefined>(undefined);
const admissionKey = createContextKey<Admission | undefined>(undefined);
/** The message was read and the handler has begun. */
const begunKey = createContextKey(false);
/** The head of a stream was sent. */
const headSentKey = createContextKey(false);

/** The parts of the call path that the Connect, gRPC and gRPC-Web wires need. */
export interface ConnectParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  /** Counts calls to services that are not operations: health and reflection. */
  readonly anonymous: Limits["anonymous"];
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly readSession: ReadSessionCookie;
  readonly bodyLimit: number;
  /** Receives every failure with its private cause. */
  readonly report: (failure: Failure, requestId: string) => void;
  /** Services of other protocols. */
  readonly protocolServices?: readonly ProtocolService[];
}

/** Serves Connect, gRPC and gRPC-Web through the call path: options and routes of one router. */
export function connectRoutes(parts: ConnectParts) {
  const { operations, admit, anonymous, performer, report, bodyLimit, protocolServices = [] } = parts;
  const connectRequest = connectRequestReader(parts);
  /**
   * Reports a failure and adds its headers to the error, unless the head already has them; each protocol
   * sends them in its own place.
   */
  function refuse(
    thrown: unknown,
    context: HandlerContext,
    requestId: string,
    infoOf?: ProtocolService["infoOf"],
  ): ConnectError {
    const failure = failureOf(thrown);
    const details = errorDetails(failure, requestId, infoOf?.(failure, requestId));
    report(failure, requestId);
    noteRefusal(context, failure.reason);
    if (context.values.get(headSentKey) || isConnectStream(context))
      return errorOf(failure, context, details, refusalHeaders(failure));
    const rate = context.values.get(admissionKey)?.rate ?? null;
    const facts = [...callHeaders(requestId), ...rateHeaders(rate), ...refusalHeaders(failure)];
    // Otherwise Connect would send them twice.
    for (const [name] of facts) context.responseHeader.delete(name);
    return errorOf(failure, context, details, facts);
  }

  async function admitCall(admitted: Promise<Admission>, context: HandlerContext): Promise<void> {
    const admission = await admitted;
    for (const [name, value] of rateHeaders(admission.rate)) context.responseHeader.set(name, value);
    context.values.set(admissionKey, admission);
  }

  async function requestGate(context: HandlerContext): Promise<void> {
    const request = context.values.get(requestKey);
    if (!request) throw refuse(new Failure("internal", "internal error"), context, "");
    for (const [name, value] of callHeaders(request.requestId)) context.responseHeader.set(name, value);
    try {
      const operation = operations.byRpc(rpcName(context.method));
      const protocol = protocolServices.find(({ service }) => service === context.service);
      if (operation) await admitCall(admit(operation, request), context);
      else if (protocol) await admitCall(protocol.admit(request), context);
      else await anonymous(request.address);
      await checkQuery(context, operation ? boundOf(operation, bodyLimit) : anonymousBound(context.method));
      markClientError(context);
    } catch (thrown) {
      throw refuse(thrown, context, request.requestId);
    }
  }

  /** `requestGate` sets it before Connect calls a method. */
  function admissionOf(context: HandlerContext): Admission {
    const admission = context.values.get(admissionKey);
    if (!admission) throw refuse(new Failure("internal", "internal error"), context, "");
    return admission;
  }

  async function unary(message: Message, context: HandlerContext): Promise<Message> {
    const admission = admissionOf(context);
    context.values.set(begunKey, true);
    try {
      setWarningHeaders(admission, context);
      const { answer, isReplayed } = await performer.perform(admission, message, context.signal);
      for (const [name, value] of idempotencyHeaders(isReplayed)) context.responseHeader.set(name, value);
      return answer;
    } catch (thrown) {
      throw refuse(thrown, context, admission.request.requestId);
    }
  }

  async function* streamAnswers(
    admission: Admission,
    message: Message,
    context: HandlerContext,
  ): AsyncGenerator<Message> {
    setWarningHeaders(admission, context);
    yield* (await performer.stream(admission, message, context.signal)) ?? [];
  }

  const stream = (message: Message, context: HandlerContext) =>
    refusing(context, (admission) => streamAnswers(admission, message, context));

  const converse = (messages: AsyncIterable<Message>, context: HandlerContext) =>
    refusing(context, (admission) =>
      performer.converse(
        admission,
        checkedMessages(messages, () => setWarningHeaders(admission, context)),
        context.signal,
      ),
    );

  /**
   * Turns errors of the handler into refusals. When a client disconnects, Connect calls `throw`, which closes
   * the answers.
   */
  function refusing(
    context: HandlerContext,
    work: (admission: Admission) => AsyncIterable<Message>,
  ): AsyncIterable<Message> {
    const admission = admissionOf(context);
    const { requestId } = admission.request;
    context.values.set(begunKey, true);
    const answers = work(admission)[Symbol.asyncIterator]();
    async function next(): Promise<IteratorResult<Message>> {
      try {
        const result = await answers.next();
        context.values.set(headSentKey, true);
        return result;
      } catch (thrown) {
        throw refuse(thrown, context, requestId);
      }
    }
    const close = async (): Promise<IteratorResult<Message>> =>
      (await answers.return?.()) ?? { done: true, value: undefined };
    return { [Symbol.asyncIterator]: () => ({ next, return: close, throw: close }) };
  }

  /** Calls a protocol. Its errors have more facts than those of operations. */
  function protocolHandlers(protocol: ProtocolService, method: DescMethod) {
    const callOf = (admission: Admission, { requestHeader, signal }: HandlerContext) => ({
      admission,
      header: (name: string) => requestHeader.get(name),
      signal,
    });
    const refuseCall = (thrown: unknown, context: HandlerContext, { request }: Admission): ConnectError =>
      refuse(protocol.failureIn(thrown), context, request.requestId, protocol.infoOf);
    return {
      async unary(message: Message, context: HandlerContext): Promise<Message> {
        const admission = admissionOf(context);
        context.values.set(begunKey, true);
        try {
          return await protocol.unary(method, message, callOf(admission, context));
        } catch (thrown) {
          throw refuseCall(thrown, context, admission);
        }
      },
      async *stream(message: Message, context: HandlerContext): AsyncGenerator<Message> {
        const admission = admissionOf(context);
        context.values.set(begunKey, true);
        try {
          yield* protocol.stream(method, message, callOf(admission, context));
        } catch (thrown) {
          throw refuseCall(thrown, context, admission);
        }
      },
    };
  }

  return {
    requestGate,
    contextValues: ({ raw }: FastifyRequest) =>
      setWarnings(createContextValues().set(requestKey, connectRequest(raw))),
    interceptors: [releaseBodies],
    /**
     * @param conversationsOnly serve only streams both ways, which must reach the process that runs tasks.
     */
    routes(router: ConnectRouter, { conversationsOnly = false } = {}) {
      for (const protocol of conversationsOnly ? [] : protocolServices)
        for (const method of protocol.service.methods) {
          const handlers = protocolHandlers(protocol, method);
          const options = { readMaxBytes: protocol.maxBytes };
          if (isUnary(method)) router.rpc(method, handlers.unary, options);
          if (isServerStream(method)) router.rpc(method, handlers.stream, options);
        }
      for (const operation of operations.all) {
        const { method } = operation;
        if (conversationsOnly && !isConversation(method)) continue;
        const { maxBytes: readMaxBytes } = boundOf(operation, bodyLimit);
        registerWithWarnings(router, method, connectJsonOptions(method), ({ jsonOptions }) => {
          const options = { jsonOptions, readMaxBytes };
          if (isUnary(method)) router.rpc(method, unary, options);
          if (isServerStream(method)) router.rpc(method, stream, options);
          if (isConversation(method)) router.rpc(method, converse, options);
        });
      }
    },
  };
}

/** Reads the head of a request on the only wire that accepts sessions. */
export const connectRequestReader =
  ({
    operations,
    readRequest,
    readSession,
  }: Pick<ConnectParts, "operations" | "readRequest" | "readSession">) =>
  (raw: FastifyRequest["raw"]): Request => {
    const request = readRequest(raw);
    const kind = operations.byRpc(raw.url?.slice(1) ?? "")?.method.methodKind;
    return {
      ...request,
      credentials: { ...request.credentials, session: readSession(kind, raw.method, raw.headers) },
    };
  };

/**
 * Releases the body of a stream at each message that is read. A call with one answer releases it at its end.
 */
const releaseBodies: Interceptor = (next) => (request) => {
  const body = request.contextValues.get(requestKey)?.body;
  if (body === undefined || !request.stream) return next(request);
  const message = mapIterable(request.message, (read) => {
    body.release();
    return read;
  });
  return next({ ...request, message });
};

const isUnary = (method: DescMethod): method is DescMethod & { methodKind: "unary" } =>
  method.methodKind === "unary";
const isServerStream = (method: DescMethod): method is DescMethod & { methodKind: "server_streaming" } =>
  method.methodKind === "server_streaming";
const isConversation = (method: DescMethod): method is DescMethod & { methodKind: "bidi_streaming" } =>
  method.methodKind === "bidi_streaming";

/**
 * Sets the headers about warnings. A stream both ways sends its head before its messages arrive: only strict
 * handling has an effect there.
 */
const setWarningHeaders = ({ request }: Admission, { values, responseHeader }: HandlerContext): void =>
  applyWarnings(warningsOf(values), request.isStrict, (name, value) => responseHeader.set(name, value));

/**
 * Messages that arrive while the call runs. A message that Connect cannot read is the sender's fault.
 *
 * @param check is called for each message; it throws Failure to refuse the message.
 */
async function* checkedMessages(
  messages: AsyncIterable<Message>,
  check: () => void,
): AsyncGenerator<Message> {
  try {
    for await (const message of messages) {
      check();
      yield message;
    }
  } catch (thrown) {
    throw thrown instanceof ConnectError ? senderFailure(thrown) : thrown;
  }
}

/** A Connect stream always sends its head. */
const isConnectStream = ({ protocolName, method }: HandlerContext): boolean =>
  protocolName === "connect" && !isUnary(method);

/**
 * A failure as an error of Connect. Connect knows why a call was aborted: the caller's deadline has its own
 * code.
 */
function errorOf(
  { reason, message }: Failure,
  { signal }: HandlerContext,
  details: ConnectError["details"],
  facts: readonly (readonly [string, string])[],
): ConnectError {
  const isLate =
    reason === "cancelled" &&
    signal.reason instanceof ConnectError &&
    signal.reason.code === Code.DeadlineExceeded;
  const metadata = Object.fromEntries(facts);
  const error = isLate
    ? new ConnectError(signal.reason.rawMessage, Code.DeadlineExceeded, metadata)
    : new ConnectError(message, connectCodes[reason], metadata);
  error.details = details;
  return error;
}

/**
 * Checks the message in a query, which has no body with a bound. Connect would report invalid base64 as an
 * internal error. A message that is not compressed is as short as a URL.
 */
async function checkQuery({ requestMethod, url, method }: HandlerContext, bound: Bound): Promise<void> {
  if (requestMethod !== "GET") return;
  const { searchParams } = new URL(url);
  const text = searchParams.get("message") ?? "";
  const bytes = searchParams.get("base64") === "1" ? decodeBase64(text) : Buffer.from(text);
  const compression = compressionOf(searchParams.get("compression"));
  if (compression)
    await readMessage(
      bytes,
      { ...bound, method },
      { binary: searchParams.get("encoding") === "proto", compression },
    );
}

function decodeBase64(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch {
    throw invalidArgument("message", "must be base64");
  }
}

/**
 * Reports a malformed binary message as `invalid_argument`. Connect answers it with
 * `internal` and has no hook in between, but it aborts the call with the error before
 * it writes the error. Until the handler begins, such an error is the sender's fault.
 */
function markClientError({ signal, values }: HandlerContext): void {
  signal.addEventListener("abort", () => {
    const { reason } = signal;
    if (!(reason instanceof ConnectError)) return;
    if (!values.get(begunKey) && reason.code === Code.Internal)
      Object.assign(reason, { code: Code.InvalidArgument });
    if (reason.details.length === 0)
      reason.details = errorDetails(senderFailure(reason), values.get(requestKey)?.requestId ?? "");
    noteRefusal({ values }, codeNames[reason.code] ?? nameOf(Code[reason.code]));
  });
}

/** Notes why a call ends without its answer, for metrics and the log. The first reason counts. */
function noteRefusal({ values }: Pick<HandlerContext, "values">, reason: string): void {
  const observed = values.get(requestKey)?.observed;
  if (observed) observed.reason ??= reason;
}

/** Codes of Connect's own refusals that have the name of a reason here. */
const codeNames: Readonly<Partial<Record<Code, string>>> = {
  [Code.Canceled]: "cancelled",
  [Code.Aborted]: "cancelled",
};

/** `InvalidArgument` as `invalid_argument`. */
const nameOf = (code: string): string => code.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();
