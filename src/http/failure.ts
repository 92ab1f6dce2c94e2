import { Code } from "@connectrpc/connect";
import type { Reason } from "../core/failure.ts";

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
  unsupported_media: { status: 415, code: "invalid_argument" },
  wrong_method: { status: 405, code: "invalid_argument" },
  unavailable: { status: 503, code: "unavailable" },
  cancelled: { status: 503, code: "unavailable" },
  unimplemented: { status: 501, code: "unimplemented" },
  internal: { status: 500, code: "internal" },
};
