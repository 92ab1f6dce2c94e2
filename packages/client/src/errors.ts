import type { JsonObject, JsonValue } from "./json.ts";

/**
 * The codes of refusals, from the server. New ones can appear. v2 answers 401 with `permission_denied`;
 * `unauthenticated` is that of `client.rpc`.
 */
export type ErrorCode =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "rate_limited"
  | "resource_exhausted"
  | "unavailable"
  | "unimplemented"
  | "internal"
  | (string & {});

/** One mistake in a request. */
export interface Mistake {
  /** Path of the member; absent for a rule of the whole request. */
  readonly param?: string;
  /** The rule, without the path. */
  readonly message: string;
}

/** What a refusal says. */
export interface Refusal {
  /** HTTP status; 0 for a refusal that ended an open stream. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** The operation that was called, for example `task.create`. */
  readonly operation: string;
  /** Id of the call; the server's log has it too. */
  readonly requestId?: string | undefined;
  /** Path of the member that breaks a rule, for example `message.content[2].file_url`. */
  readonly param?: string | undefined;
  /** Warnings about members of the request that had no effect. */
  readonly warnings?: readonly string[];
  /** Seconds after which the call can be repeated. */
  readonly retryAfter?: number | undefined;
  /** Name of the failure, finer than `code`, for example `insufficient_scope`. Absent over Connect. */
  readonly type?: string | undefined;
  /** Address of a page of the server about this failure. */
  readonly docUrl?: string | undefined;
  /** All mistakes of the request, at most 20. */
  readonly details?: readonly Mistake[];
}

/** An error of this package. */
export class PlatformError extends Error {
  override readonly name: string = "PlatformError";
}

/** The server refused a call. Compare `code` and `status`; the message is for people and can change. */
export class ApiError extends PlatformError {
  override readonly name: string = "ApiError";
  readonly status: number;
  readonly code: ErrorCode;
  readonly operation: string;
  readonly requestId: string | undefined;
  readonly param: string | undefined;
  readonly warnings: readonly string[];
  readonly retryAfter: number | undefined;
  readonly type: string | undefined;
  readonly docUrl: string | undefined;
  readonly details: readonly Mistake[];

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.operation = refusal.operation;
    this.requestId = refusal.requestId;
    this.param = refusal.param;
    this.warnings = refusal.warnings ?? [];
    this.retryAfter = refusal.retryAfter;
    this.type = refusal.type;
    this.docUrl = refusal.docUrl;
    this.details = refusal.details ?? [];
  }
}

/** A member of the request breaks a rule; `param` names it. */
export class InvalidArgumentError extends ApiError {
  override readonly name = "InvalidArgumentError";
}
/** The credential is missing, expired or revoked (401). */
export class AuthenticationError extends ApiError {
  override readonly name = "AuthenticationError";
}
/** The kind, role or scope of the credential does not allow the operation (403). */
export class PermissionDeniedError extends ApiError {
  override readonly name = "PermissionDeniedError";
}
/** The object does not exist, or belongs to another account. */
export class NotFoundError extends ApiError {
  override readonly name = "NotFoundError";
}
/** The name is taken, or the idempotency key was used for another request. */
export class AlreadyExistsError extends ApiError {
  override readonly name = "AlreadyExistsError";
}
/** The object is in a state that does not allow the operation. */
export class FailedPreconditionError extends ApiError {
  override readonly name = "FailedPreconditionError";
}
/** Too many calls in this minute; `retryAfter` has the seconds. */
export class RateLimitedError extends ApiError {
  override readonly name = "RateLimitedError";
}
/** A quota, a budget or a maximum number is reached. */
export class ResourceExhaustedError extends ApiError {
  override readonly name = "ResourceExhaustedError";
}
/** The server is shutting down, or its database is not reachable. */
export class UnavailableError extends ApiError {
  override readonly name = "UnavailableError";
}

/** No complete answer arrived. */
export class ConnectionError extends PlatformError {
  override readonly name: string = "ConnectionError";
}
/** The call, or a wait, took longer than its time limit. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
}

/**
 * The task is not in the state that the method needs, for example `result` of a task that waits for its user.
 */
export class TaskStateError extends PlatformError {
  override readonly name = "TaskStateError";
  readonly taskId: string;
  readonly status: string;

  constructor(taskId: string, status: string, message: string) {
    super(message);
    this.taskId = taskId;
    this.status = status;
  }
}

const classes: Readonly<Record<string, new (refusal: Refusal) => ApiError>> = {
  invalid_argument: InvalidArgumentError,
  unauthenticated: AuthenticationError,
  permission_denied: PermissionDeniedError,
  not_found: NotFoundError,
  already_exists: AlreadyExistsError,
  failed_precondition: FailedPreconditionError,
  rate_limited: RateLimitedError,
  resource_exhausted: ResourceExhaustedError,
  unavailable: UnavailableError,
};

/** The error of a refusal. v2 answers 401 with the code `permission_denied`: the status decides. */
export function apiError(refusal: Refusal): ApiError {
  const code = refusal.status === 401 ? "unauthenticated" : refusal.code;
  return new (classes[code] ?? ApiError)(refusal);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textIn = (value: JsonValue | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The mistakes in v2's form; the details of Connect have another one. */
const mistakesIn = (details: JsonValue | undefined): readonly Mistake[] =>
  (Array.isArray(details) ? details : []).flatMap((detail: JsonValue) => {
    const { param, message } = isObject(detail) ? detail : {};
    return typeof message === "string" ? [{ message, ...(typeof param === "string" ? { param } : {}) }] : [];
  });

/** Reads a refusal from the envelope of v2 (`error.code`) or the error of Connect (`code`). */
export function refusalIn(
  body: unknown,
  head: Pick<Refusal, "status" | "operation" | "requestId" | "retryAfter">,
): ApiError {
  const envelope = isObject(body) ? body : {};
  const error = isObject(envelope["error"]) ? envelope["error"] : envelope;
  const message = textIn(error["message"]) ?? `HTTP ${head.status}`;
  const warnings = envelope["warnings"];
  return apiError({
    ...head,
    requestId: head.requestId ?? textIn(envelope["request_id"]),
    code: textIn(error["code"]) ?? codeOf(head.status),
    message,
    param: textIn(error["param"]) ?? /^([A-Za-z_][\w.[\]]*): /.exec(message)?.[1],
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    type: textIn(error["type"]),
    docUrl: textIn(error["doc_url"]),
    details: mistakesIn(error["details"]),
  });
}

/** The code of an answer that has none: it comes from a proxy. */
const codeOf = (status: number): ErrorCode => {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "permission_denied";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  return status === 502 || status === 503 || status === 504
    ? "unavailable"
    : status < 500
      ? "invalid_argument"
      : "internal";
};
