import { Code, ConnectError } from "@connectrpc/connect";
import { Failure, failureOf, type Reason } from "../core/failure.ts";
import { refusalHeaders } from "./answer-headers.ts";

/** The code of Connect and gRPC for each reason, the same on every service (spec/decisions.md 9). */
export const connectCodes: Readonly<Record<Reason, Code>> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  insufficient_scope: Code.PermissionDenied,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  idempotency_conflict: Code.AlreadyExists,
  failed_precondition: Code.FailedPrecondition,
  rate_limited: Code.ResourceExhausted,
  resource_exhausted: Code.ResourceExhausted,
  too_large: Code.ResourceExhausted,
  deadline_exceeded: Code.DeadlineExceeded,
  unsupported_media_type: Code.InvalidArgument,
  method_not_allowed: Code.InvalidArgument,
  unavailable: Code.Unavailable,
  cancelled: Code.Canceled,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};

/** A failure of Connect over HTTP: the status and the name of its code. */
export interface ConnectAnswer {
  readonly status: number;
  readonly code: string;
}

/**
 * The unary answer of Connect for each reason, by its code
 * (https://connectrpc.com/docs/protocol#error-codes).
 */
export const connectAnswers: Readonly<Record<Reason, ConnectAnswer>> = {
  invalid_argument: { status: 400, code: "invalid_argument" },
  unauthenticated: { status: 401, code: "unauthenticated" },
  permission_denied: { status: 403, code: "permission_denied" },
  insufficient_scope: { status: 403, code: "permission_denied" },
  not_found: { status: 404, code: "not_found" },
  already_exists: { status: 409, code: "already_exists" },
  idempotency_conflict: { status: 409, code: "already_exists" },
  failed_precondition: { status: 400, code: "failed_precondition" },
  rate_limited: { status: 429, code: "resource_exhausted" },
  resource_exhausted: { status: 429, code: "resource_exhausted" },
  too_large: { status: 429, code: "resource_exhausted" },
  deadline_exceeded: { status: 504, code: "deadline_exceeded" },
  unsupported_media_type: { status: 400, code: "invalid_argument" },
  method_not_allowed: { status: 400, code: "invalid_argument" },
  unavailable: { status: 503, code: "unavailable" },
  cancelled: { status: 499, code: "canceled" },
  unimplemented: { status: 501, code: "unimplemented" },
  internal: { status: 500, code: "internal" },
};

/** The values of `error.code` in v2 (spec/api.md 3.1 and 14.1). */
export type V2Code =
  | "invalid_argument"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "rate_limited"
  | "resource_exhausted"
  | "unavailable"
  | "unimplemented"
  | "internal";

/** A failure in v2: the HTTP status and `error.code`. */
export interface V2Answer {
  readonly status: number;
  readonly code: V2Code;
}

/**
 * The v2 answer for each reason. A bad credential is 401 `permission_denied`, not
 * `unauthenticated` (spec/decisions.md 9). The caller of a cancelled call no longer
 * waits for its answer: with 503 a proxy in between may safely repeat the call.
 */
export const v2Answers: Readonly<Record<Reason, V2Answer>> = {
  invalid_argument: { status: 400, code: "invalid_argument" },
  unauthenticated: { status: 401, code: "permission_denied" },
  permission_denied: { status: 403, code: "permission_denied" },
  insufficient_scope: { status: 403, code: "permission_denied" },
  not_found: { status: 404, code: "not_found" },
  already_exists: { status: 409, code: "already_exists" },
  idempotency_conflict: { status: 409, code: "already_exists" },
  failed_precondition: { status: 412, code: "failed_precondition" },
  rate_limited: { status: 429, code: "rate_limited" },
  resource_exhausted: { status: 429, code: "resource_exhausted" },
  too_large: { status: 413, code: "invalid_argument" },
  deadline_exceeded: { status: 408, code: "invalid_argument" },
  unsupported_media_type: { status: 415, code: "invalid_argument" },
  method_not_allowed: { status: 405, code: "invalid_argument" },
  unavailable: { status: 503, code: "unavailable" },
  cancelled: { status: 503, code: "unavailable" },
  unimplemented: { status: 501, code: "unimplemented" },
  internal: { status: 500, code: "internal" },
};

/** A failure in v1: the HTTP status and gRPC's number (spec/v1.md 1.3). */
export interface V1Answer {
  readonly status: number;
  readonly code: Code;
}

/** The v1 answer for each reason; spec/decisions.md 9 lists the statuses. */
export const v1Answers: Readonly<Record<Reason, V1Answer>> = {
  invalid_argument: { status: 400, code: Code.InvalidArgument },
  unauthenticated: { status: 401, code: Code.Unauthenticated },
  permission_denied: { status: 403, code: Code.PermissionDenied },
  insufficient_scope: { status: 403, code: Code.PermissionDenied },
  not_found: { status: 404, code: Code.NotFound },
  already_exists: { status: 409, code: Code.AlreadyExists },
  idempotency_conflict: { status: 409, code: Code.AlreadyExists },
  failed_precondition: { status: 400, code: Code.FailedPrecondition },
  rate_limited: { status: 429, code: Code.ResourceExhausted },
  resource_exhausted: { status: 429, code: Code.ResourceExhausted },
  too_large: { status: 413, code: Code.InvalidArgument },
  deadline_exceeded: { status: 408, code: Code.DeadlineExceeded },
  unsupported_media_type: { status: 415, code: Code.InvalidArgument },
  method_not_allowed: { status: 405, code: Code.Unimplemented },
  unavailable: { status: 503, code: Code.Unavailable },
  cancelled: { status: 503, code: Code.Unavailable },
  unimplemented: { status: 501, code: Code.Unimplemented },
  internal: { status: 500, code: Code.Internal },
};

/** A failure of dataexport.v1 in plain JSON: the HTTP status and `code` (spec/enterprise.md 2.2). */
export interface ExportAnswer {
  readonly status: number;
  readonly code: string;
}

/**
 * The plain JSON answer of dataexport.v1 for each reason; a bad credential is 401 `PERMISSION_DENIED`
 * (spec/decisions.md 9).
 */
export const exportAnswers: Readonly<Record<Reason, ExportAnswer>> = {
  invalid_argument: { status: 400, code: "INVALID_ARGUMENT" },
  unauthenticated: { status: 401, code: "PERMISSION_DENIED" },
  permission_denied: { status: 403, code: "PERMISSION_DENIED" },
  insufficient_scope: { status: 403, code: "PERMISSION_DENIED" },
  not_found: { status: 404, code: "NOT_FOUND" },
  already_exists: { status: 409, code: "ALREADY_EXISTS" },
  idempotency_conflict: { status: 409, code: "ALREADY_EXISTS" },
  failed_precondition: { status: 400, code: "FAILED_PRECONDITION" },
  rate_limited: { status: 429, code: "RESOURCE_EXHAUSTED" },
  resource_exhausted: { status: 429, code: "RESOURCE_EXHAUSTED" },
  too_large: { status: 413, code: "INVALID_ARGUMENT" },
  deadline_exceeded: { status: 408, code: "INVALID_ARGUMENT" },
  unsupported_media_type: { status: 415, code: "INVALID_ARGUMENT" },
  method_not_allowed: { status: 405, code: "INVALID_ARGUMENT" },
  unavailable: { status: 503, code: "UNAVAILABLE" },
  cancelled: { status: 503, code: "UNAVAILABLE" },
  unimplemented: { status: 501, code: "UNIMPLEMENTED" },
  internal: { status: 500, code: "INTERNAL" },
};

/** The members of `google.rpc.ErrorInfo`. */
export interface ErrorInfo {
  /** In upper case, for instance `NOT_FOUND`. */
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The domain of reasons of `core/failure.ts`. */
export const ownDomain = "agent-task-platform";

/** The refusal of a body that is not JSON names the type to send. */
export const jsonOnly = "Content-Type: must be application/json";

/** Refusals of Fastify, and a body that breaks off, as failures of the platform. */
const fastifyFailures: Readonly<Record<string, readonly [reason: Reason, text: string]>> = {
  FST_ERR_BAD_URL: ["invalid_argument", "the URL is not well-formed"],
  // A path segment that is longer than any id.
  FST_ERR_MAX_PARAM_LENGTH: ["not_found", "unknown address"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media_type", jsonOnly],
  // Only QUERY requires a content type.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ["unsupported_media_type", jsonOnly],
  FST_ERR_CTP_BODY_TOO_LARGE: ["too_large", "the body is too large"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid_argument", "the body is shorter or longer than announced"],
  ECONNRESET: ["cancelled", "the connection was closed"],
};

/** An error that was thrown inside Fastify, as a failure. */
export function failureOfError(thrown: unknown): Failure {
  const known =
    thrown instanceof Error && "code" in thrown ? fastifyFailures[String(thrown.code)] : undefined;
  return known ? new Failure(...known, { cause: thrown }) : failureOf(thrown);
}

export const connectErrorOf = (failure: Failure): ConnectError =>
  new ConnectError(
    failure.message,
    connectCodes[failure.reason],
    Object.fromEntries(refusalHeaders(failure)),
    undefined,
    failure,
  );

/**
 * An error of Connect about a request that it cannot read (too long, cut or malformed), as a failure of the
 * sender.
 */
export const senderFailure = ({ code, rawMessage, cause }: ConnectError): Failure =>
  cause instanceof Failure ? cause : new Failure(senderReasons.get(code) ?? "invalid_argument", rawMessage);

const senderReasons: ReadonlyMap<Code, Reason> = new Map([
  [Code.ResourceExhausted, "too_large"],
  [Code.Canceled, "cancelled"],
  [Code.DeadlineExceeded, "cancelled"],
]);
