import { Failure, type Reason } from "../../core/failure.ts";

/** SCIM's error types (RFC 7644 3.12, table 9). */
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "uniqueness";

/** A refusal with a SCIM error type. */
export class ScimFailure extends Failure {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string) {
    super("invalid_argument", message);
    this.scimType = scimType;
  }
}

/** A value that breaks a rule; `path` is the attribute. */
export const invalidValue = (path: string, rule: string): ScimFailure =>
  new ScimFailure("invalidValue", `${path}: ${rule}`);

/** `If-Match` names a version that is not the current one (RFC 7644 3.14). */
export class VersionMismatch extends Failure {
  constructor(resource: "user" | "group") {
    super("failed_precondition", `the ${resource} has changed since that version`);
  }
}

/** A failure in SCIM: the HTTP status and the error type. */
export interface ScimAnswer {
  readonly status: number;
  readonly scimType?: ScimType;
}

/**
 * The answer for each reason. `failed_precondition` means the owner, whom SCIM cannot change
 * (spec/decisions.md 45), or a role that a group gives (spec/decisions.md 66).
 */
const answers: Readonly<Record<Reason, ScimAnswer>> = {
  invalid_argument: { status: 400, scimType: "invalidSyntax" },
  unauthenticated: { status: 401 },
  permission_denied: { status: 403 },
  insufficient_scope: { status: 403 },
  not_found: { status: 404 },
  already_exists: { status: 409, scimType: "uniqueness" },
  idempotency_conflict: { status: 409 },
  failed_precondition: { status: 400, scimType: "mutability" },
  rate_limited: { status: 429 },
  resource_exhausted: { status: 429 },
  too_large: { status: 413 },
  deadline_exceeded: { status: 408 },
  unsupported_media_type: { status: 415 },
  method_not_allowed: { status: 405 },
  unavailable: { status: 503 },
  cancelled: { status: 503 },
  unimplemented: { status: 501 },
  internal: { status: 500 },
};

export function answerOf(failure: Failure): ScimAnswer {
  if (failure instanceof ScimFailure) return { status: 400, scimType: failure.scimType };
  if (failure instanceof VersionMismatch) return { status: 412 };
  if (failure.reason === "invalid_argument" && failure.path !== undefined)
    return { status: 400, scimType: "invalidValue" };
  return answers[failure.reason];
}

/** The body of a refusal; `status` is a text (RFC 7644 3.12). */
export const refusalBody = (failure: Failure): object => {
  const { status, scimType } = answerOf(failure);
  return {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    status: String(status),
    scimType,
    detail: failure.message,
  };
};
