import type { Failure, Reason } from "../core/failure.ts";
import type { OAuthError, OAuthRefusal } from "../core/oauth/refusal.ts";

/** A refusal of an OAuth endpoint as an exception; its text is public. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";
  readonly error: OAuthError;

  constructor({ refused, description }: OAuthRefusal) {
    super(description);
    this.error = refused;
  }
}

/** Input that breaks a rule. */
export const invalidRequest = (description: string): OAuthFailure =>
  new OAuthFailure({ refused: "invalid_request", description });

/** Unknown clients and wrong secrets get the same answer. */
export const invalidClient = (): OAuthFailure =>
  new OAuthFailure({ refused: "invalid_client", description: "client authentication failed" });

/** The HTTP status of each error (spec/oauth.md 5.6, 13). */
export const statuses: Readonly<Record<OAuthError, number>> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  unauthorized_client: 400,
  invalid_scope: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  access_denied: 400,
  server_error: 500,
  temporarily_unavailable: 503,
};

export interface OAuthAnswer {
  readonly status: number;
  readonly error: OAuthError;
  readonly description: string;
}

const fault = { status: 500, error: "server_error", description: "internal error" } as const;
const busy = {
  status: 503,
  error: "temporarily_unavailable",
  description: "the service is not available, try again",
} as const;
const limited = {
  status: 429,
  error: "temporarily_unavailable",
  description: "rate limit exceeded",
} as const;
const badRequest = (status: number, description: string): OAuthAnswer => ({
  status,
  error: "invalid_request",
  description,
});

/** The answer for each failure reason; the failure's own text is not shown (spec/oauth.md 13). */
const answers: Readonly<Record<Reason, OAuthAnswer>> = {
  invalid_argument: badRequest(400, "the request is not well-formed"),
  unauthenticated: { status: 401, error: "invalid_client", description: "client authentication failed" },
  permission_denied: fault,
  insufficient_scope: fault,
  not_found: badRequest(404, "there is nothing at this address"),
  already_exists: fault,
  idempotency_conflict: fault,
  failed_precondition: fault,
  rate_limited: limited,
  resource_exhausted: limited,
  too_large: badRequest(413, "the body is too large"),
  deadline_exceeded: badRequest(408, "the body did not arrive in time"),
  unsupported_media_type: badRequest(400, "the body must be JSON or form-encoded"),
  method_not_allowed: badRequest(405, "this endpoint requires another method"),
  unavailable: busy,
  cancelled: busy,
  unimplemented: fault,
  internal: fault,
};

/** Returns the answer that a client gets for a failure. */
export const toOAuthAnswer = (failure: Failure | OAuthFailure): OAuthAnswer =>
  "error" in failure
    ? { status: statuses[failure.error], error: failure.error, description: failure.message }
    : answers[failure.reason];
