import type { Failure, Reason } from "../core/failure.ts";
import type { OAuthError, Refused } from "../core/oauth/refusal.ts";

/** A refusal of an OAuth endpoint, thrown: its text is public. */
export class OAuthFailure extends Error {
  override readonly name = "OAuthFailure";
  readonly error: OAuthError;

  constructor({ refused, description }: Refused) {
    super(description);
    this.error = refused;
  }
}

/** Input that breaks a rule. */
export const invalidRequest = (description: string): OAuthFailure => new OAuthFailure({ refused: "invalid_request", description });

/** An unknown client and a wrong secret are one answer. */
export const invalidClient = (): OAuthFailure =>
  new OAuthFailure({ refused: "invalid_client", description: "client authentication failed" });

/** The HTTP status of each error (contract/oauth.md 5.6, 13). */
export const statuses: Readonly<Record<OAuthError, number>> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  server_error: 500,
  temporarily_unavailable: 503,
};

/** How an OAuth endpoint answers a failure. */
export interface OAuthAnswer {
  readonly status: number;
  readonly error: OAuthError;
  readonly description: string;
}

const fault = { status: 500, error: "server_error", description: "internal error" } as const;
const busy = { status: 503, error: "temporarily_unavailable", description: "the service is not available, try again" } as const;
const limited = { status: 429, error: "temporarily_unavailable", description: "rate limit exceeded" } as const;
const bad = (status: number, description: string): OAuthAnswer => ({ status, error: "invalid_request", description });

/** The answer for each reason of the rest of the platform, in words of our own (contract/oauth.md 13). */
const answers: Readonly<Record<Reason, OAuthAnswer>> = {
  invalid: bad(400, "the request is not well-formed"),
  unauthenticated: { status: 401, error: "invalid_client", description: "client authentication failed" },
  forbidden: fault,
  insufficient_scope: fault,
  absent: fault,
  exists: fault,
  precondition: fault,
  limited,
  exhausted: limited,
  too_large: bad(413, "the body is too large"),
  late: bad(408, "the body did not arrive in time"),
  unsupported_media: bad(400, "the body must be JSON or form-encoded"),
  wrong_method: bad(405, "this endpoint takes another method"),
  unavailable: busy,
  cancelled: busy,
  unimplemented: fault,
  internal: fault,
};

/** What a failure is to a client. */
export const answerOf = (failure: Failure | OAuthFailure): OAuthAnswer =>
  "error" in failure ? { status: statuses[failure.error], error: failure.error, description: failure.message } : answers[failure.reason];
