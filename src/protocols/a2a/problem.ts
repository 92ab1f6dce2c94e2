import { Code } from "@connectrpc/connect";
import { ApiError } from "../../../packages/client/src/index.ts";
import { Failure, type Reason } from "../../core/failure.ts";
import {
  connectAnswers,
  connectCodes,
  type ErrorInfo,
  failureOfError,
  ownDomain,
} from "../../http/failure.ts";
import { refusalOf } from "../shared/refusal.ts";

/** The errors that the protocol names, with their JSON-RPC codes (A2A 1.0, 5.4). */
const protocolErrors = {
  TASK_NOT_FOUND: { rpc: -32_001, reason: "not_found" },
  TASK_NOT_CANCELABLE: { rpc: -32_002, reason: "failed_precondition" },
  UNSUPPORTED_OPERATION: { rpc: -32_004, reason: "failed_precondition" },
  CONTENT_TYPE_NOT_SUPPORTED: { rpc: -32_005, reason: "invalid_argument" },
  VERSION_NOT_SUPPORTED: { rpc: -32_009, reason: "failed_precondition" },
} as const satisfies Readonly<Record<string, { readonly rpc: number; readonly reason: Reason }>>;

type ProtocolError = keyof typeof protocolErrors;

/** An error that the protocol names. */
export class A2aFailure extends Failure {
  readonly error: ProtocolError;

  constructor(error: ProtocolError, message: string) {
    super(protocolErrors[error].reason, message);
    this.error = error;
  }
}

/** The errors of JSON-RPC itself, with their codes (JSON-RPC 2.0, 5.1). */
const rpcErrors = { PARSE_ERROR: -32_700, INVALID_REQUEST: -32_600, METHOD_NOT_FOUND: -32_601 } as const;

type RpcError = keyof typeof rpcErrors;

/**
 * A refusal with another JSON-RPC code than that of its reason: the message is not JSON, not a request, or
 * has an unknown method.
 */
export class RpcFailure extends Failure {
  readonly error: RpcError;

  constructor(error: RpcError, message: string) {
    super("invalid_argument", message);
    this.error = error;
  }
}

/** JSON-RPC codes of reasons; all others have -32000. */
const rpcCodes: Readonly<Partial<Record<Reason, number>>> = { invalid_argument: -32_602, internal: -32_603 };

/** What a failure is on the bindings. */
interface Problem {
  readonly rpc: number;
  readonly http: number;
  /** The code of gRPC, for instance `NOT_FOUND`. */
  readonly status: string;
  readonly info: ErrorInfo;
}

/** The domain of errors that the protocol names. */
const protocolDomain = "a2a-protocol.org";

/** Any thrown value as a failure. A task that is not found has the error of the protocol. */
export function failureIn(thrown: unknown): Failure {
  if (thrown instanceof ApiError && thrown.code === "not_found")
    return new A2aFailure("TASK_NOT_FOUND", "the task does not exist, or the caller cannot see it");
  return refusalOf(thrown) ?? failureOfError(thrown);
}

/** @param requestId it finds the call in the log. */
export function problemOf(failure: Failure, requestId: string): Problem {
  const { reason, path } = failure;
  const isNamed = failure instanceof A2aFailure;
  const ofRpc = failure instanceof RpcFailure ? failure.error : undefined;
  const rpc = isNamed
    ? protocolErrors[failure.error].rpc
    : ofRpc
      ? rpcErrors[ofRpc]
      : (rpcCodes[reason] ?? -32_000);
  const name = isNamed
    ? failure.error
    : (ofRpc ?? (reason === "invalid_argument" ? "INVALID_PARAMS" : reason.toUpperCase()));
  return {
    rpc,
    http: connectAnswers[reason].status,
    status: Code[connectCodes[reason]].replace(/(?!^)[A-Z]/g, "_$&").toUpperCase(),
    info: {
      reason: name,
      domain: isNamed || reason === "invalid_argument" ? protocolDomain : ownDomain,
      metadata: { request_id: requestId, ...(path !== undefined && path !== "" && { field: path }) },
    },
  };
}

const infoType = "type.googleapis.com/google.rpc.ErrorInfo";

/** The member `error` of JSON-RPC. */
export function rpcError(failure: Failure, requestId: string): object {
  const { rpc, info } = problemOf(failure, requestId);
  return { code: rpc, message: failure.message, data: [{ "@type": infoType, ...info }] };
}

/** The body of an error of HTTP+JSON: `google.rpc.Status`. */
export function restError(failure: Failure, requestId: string): object {
  const { http, status, info } = problemOf(failure, requestId);
  return {
    error: { code: http, status, message: failure.message, details: [{ "@type": infoType, ...info }] },
  };
}
