import { Code, ConnectError } from "@connectrpc/connect";
import { Failure, failureOf, type Reason } from "../core/failure.ts";
import { refusalHeaders } from "./answer-headers.ts";

/** Connect's and gRPC's code for each reason, on every service alike (contract/decisions.md 9). */
export const connectCodes: Readonly<Record<Reason, Code>> = {
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  insufficient_scope: Code.PermissionDenied,
  absent: Code.NotFound,
  exists: Code.AlreadyExists,
  precondition: Code.FailedPrecondition,
  limited: Code.ResourceExhausted,
  exhausted: Code.ResourceExhausted,
  too_large: Code.ResourceExhausted,
  late: Code.DeadlineExceeded,
  unsupported_media: Code.InvalidArgument,
  wrong_method: Code.InvalidArgument,
  unavailable: Code.Unavailable,
  cancelled: Code.Canceled,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};

/** The words that v2 knows as `error.code` (contract/v2.md 3.1 and 14.1). */
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

/** How v2 answers a failure: the HTTP status and `error.code`. */
export interface V2Answer {
  readonly status: number;
  readonly code: V2Code;
}

/**
 * The v2 answer for each reason. A bad credential is 401 `permission_denied`, not
 * `unauthenticated` (contract/decisions.md 9). Nobody waits for the answer to a
 * cancelled call any more: 503 is what a proxy in between may safely repeat.
 */
export const v2Answers: Readonly<Record<Reason, V2Answer>> = {
  invalid: { status: 400, code: "invalid_argument" },
  unauthenticated: { status: 401, code: "permission_denied" },
  forbidden: { status: 403, code: "permission_denied" },
  insufficient_scope: { status: 403, code: "permission_denied" },
  absent: { status: 404, code: "not_found" },
  exists: { status: 409, code: "already_exists" },
  precondition: { status: 412, code: "failed_precondition" },
  limited: { status: 429, code: "rate_limited" },
  exhausted: { status: 429, code: "resource_exhausted" },
  too_large: { status: 413, code: "invalid_argument" },
  late: { status: 408, code: "invalid_argument" },
  unsupported_media: { status: 415, code: "invalid_argument" },
  wrong_method: { status: 405, code: "invalid_argument" },
  unavailable: { status: 503, code: "unavailable" },
  cancelled: { status: 503, code: "unavailable" },
  unimplemented: { status: 501, code: "unimplemented" },
  internal: { status: 500, code: "internal" },
};

/** How v1 answers a failure: the HTTP status and gRPC's number (contract/v1.md 1.3). */
export interface V1Answer {
  readonly status: number;
  readonly code: Code;
}

/** The v1 answer for each reason; statuses as contract/decisions.md 9 has them. */
export const v1Answers: Readonly<Record<Reason, V1Answer>> = {
  invalid: { status: 400, code: Code.InvalidArgument },
  unauthenticated: { status: 401, code: Code.Unauthenticated },
  forbidden: { status: 403, code: Code.PermissionDenied },
  insufficient_scope: { status: 403, code: Code.PermissionDenied },
  absent: { status: 404, code: Code.NotFound },
  exists: { status: 409, code: Code.AlreadyExists },
  precondition: { status: 400, code: Code.FailedPrecondition },
  limited: { status: 429, code: Code.ResourceExhausted },
  exhausted: { status: 429, code: Code.ResourceExhausted },
  too_large: { status: 413, code: Code.InvalidArgument },
  late: { status: 408, code: Code.DeadlineExceeded },
  unsupported_media: { status: 415, code: Code.InvalidArgument },
  wrong_method: { status: 405, code: Code.Unimplemented },
  unavailable: { status: 503, code: Code.Unavailable },
  cancelled: { status: 503, code: Code.Unavailable },
  unimplemented: { status: 501, code: Code.Unimplemented },
  internal: { status: 500, code: Code.Internal },
};

/** How dataexport.v1 answers a failure in plain JSON: the HTTP status and `code` (contract/enterprise.md 2.2). */
export interface ExportAnswer {
  readonly status: number;
  readonly code: string;
}

/** The plain answer of dataexport.v1 for each reason; a bad credential is 401 `PERMISSION_DENIED` (contract/decisions.md 9). */
export const exportAnswers: Readonly<Record<Reason, ExportAnswer>> = {
  invalid: { status: 400, code: "INVALID_ARGUMENT" },
  unauthenticated: { status: 401, code: "PERMISSION_DENIED" },
  forbidden: { status: 403, code: "PERMISSION_DENIED" },
  insufficient_scope: { status: 403, code: "PERMISSION_DENIED" },
  absent: { status: 404, code: "NOT_FOUND" },
  exists: { status: 409, code: "ALREADY_EXISTS" },
  precondition: { status: 400, code: "FAILED_PRECONDITION" },
  limited: { status: 429, code: "RESOURCE_EXHAUSTED" },
  exhausted: { status: 429, code: "RESOURCE_EXHAUSTED" },
  too_large: { status: 413, code: "INVALID_ARGUMENT" },
  late: { status: 408, code: "INVALID_ARGUMENT" },
  unsupported_media: { status: 415, code: "INVALID_ARGUMENT" },
  wrong_method: { status: 405, code: "INVALID_ARGUMENT" },
  unavailable: { status: 503, code: "UNAVAILABLE" },
  cancelled: { status: 503, code: "UNAVAILABLE" },
  unimplemented: { status: 501, code: "UNIMPLEMENTED" },
  internal: { status: 500, code: "INTERNAL" },
};

/** The refusal of a body that is not JSON names the type to send. */
export const jsonOnly = "Content-Type: must be application/json";

/** Fastify's own refusals, and a body that breaks off, in our words. */
const strangeFailures: Readonly<Record<string, readonly [reason: Reason, text: string]>> = {
  FST_ERR_BAD_URL: ["invalid", "the URL is not well-formed"],
  // A part of the path that is longer than any id.
  FST_ERR_MAX_PARAM_LENGTH: ["absent", "unknown address"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media", jsonOnly],
  // QUERY alone may not leave its type out.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ["unsupported_media", jsonOnly],
  FST_ERR_CTP_BODY_TOO_LARGE: ["too_large", "the body is too large"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid", "the body is shorter or longer than announced"],
  ECONNRESET: ["cancelled", "the connection was closed"],
};

/** What was thrown on the way through Fastify, as a failure. */
export function failureIn(thrown: unknown): Failure {
  const known = thrown instanceof Error && "code" in thrown ? strangeFailures[String(thrown.code)] : undefined;
  return known ? new Failure(...known, { cause: thrown }) : failureOf(thrown);
}

/** A failure as an error of Connect, with the headers that go with it. */
export const connectErrorOf = (failure: Failure): ConnectError =>
  new ConnectError(failure.message, connectCodes[failure.reason], Object.fromEntries(refusalHeaders(failure)), undefined, failure);

/** Connect's own words for what it cannot read of a request: a message that is too long, cut or malformed. */
export const ofSender = ({ code, rawMessage, cause }: ConnectError): Failure =>
  cause instanceof Failure ? cause : new Failure(sendersFaults.get(code) ?? "invalid", rawMessage);

const sendersFaults: ReadonlyMap<Code, Reason> = new Map([
  [Code.ResourceExhausted, "too_large"],
  [Code.Canceled, "cancelled"],
  [Code.DeadlineExceeded, "cancelled"],
]);
