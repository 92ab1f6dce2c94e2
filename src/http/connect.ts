import type { DescMethod, Message } from "@bufbuild/protobuf";
import { ConnectError, type ConnectRouter, createContextKey, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import type { Admission, Admit, Request } from "../call/admit.ts";
import type { Perform } from "../call/perform.ts";
import { Failure, failureOf } from "../core/failure.ts";
import { type OperationTable, rpcName } from "../operations.ts";
import { callHeaders, rateHeaders, replayHeaders, retryHeaders } from "./answer-headers.ts";
import { connectCodes } from "./failure.ts";
import type { ReadRequest } from "./request.ts";

const requestKey = createContextKey<Request | undefined>(undefined);
const admissionKey = createContextKey<Admission | undefined>(undefined);

/** What the Connect, gRPC and gRPC-Web wire forms need of the call path. */
export interface ConnectParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly perform: Perform;
  readonly readRequest: ReadRequest;
  /** Hears of every failure, with its private cause. */
  readonly report: (failure: Failure, requestId: string) => void;
}

/** Connect, gRPC and gRPC-Web over the call path: options and routes of one router. */
export function connectRoutes({ operations, admit, perform, readRequest, report }: ConnectParts) {
  const refuse = (thrown: unknown, requestId: string): ConnectError => {
    const failure = failureOf(thrown);
    report(failure, requestId);
    return toConnectError(failure, requestId);
  };

  async function requestGate(context: HandlerContext): Promise<void> {
    const request = context.values.get(requestKey);
    const operation = operations.byRpc(rpcName(context.method));
    if (!request || !operation) return;
    for (const [name, value] of callHeaders(request.requestId)) context.responseHeader.set(name, value);
    try {
      const admission = await admit(operation, request);
      for (const [name, value] of rateHeaders(admission.rate)) context.responseHeader.set(name, value);
      context.values.set(admissionKey, admission);
    } catch (thrown) {
      throw refuse(thrown, request.requestId);
    }
  }

  async function unary(message: Message, context: HandlerContext): Promise<Message> {
    const admission = context.values.get(admissionKey);
    if (!admission) throw refuse(new Failure("internal", "internal error"), "");
    try {
      const { answer, replayed } = await perform(admission, message);
      for (const [name, value] of replayHeaders(replayed)) context.responseHeader.set(name, value);
      return answer;
    } catch (thrown) {
      throw refuse(thrown, admission.request.requestId);
    }
  }

  return {
    requestGate,
    contextValues: ({ raw }: FastifyRequest) =>
      createContextValues().set(requestKey, readRequest({ headers: raw.headers, remoteAddress: raw.socket.remoteAddress })),
    routes(router: ConnectRouter) {
      for (const { method } of operations.all) {
        if (isUnary(method)) router.rpc(method, unary);
      }
    },
  };
}

const isUnary = (method: DescMethod): method is DescMethod & { methodKind: "unary" } => method.methodKind === "unary";

/** A failure on the Connect family of wires; headers travel as the error's metadata. */
function toConnectError(failure: Failure, requestId: string): ConnectError {
  const metadata = new Headers([...callHeaders(requestId), ...retryHeaders(failure)].map(([name, value]): [string, string] => [name, value]));
  return new ConnectError(failure.message, connectCodes[failure.reason], metadata);
}
