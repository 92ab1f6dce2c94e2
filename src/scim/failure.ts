import { Failure, type Reason } from "../core/failure.ts";

/** What was wrong, in SCIM's words (RFC 7644 3.12, table 9). */
export type ScimType = "invalidFilter" | "invalidPath" | "invalidSyntax" | "invalidValue" | "mutability" | "noTarget" | "uniqueness";

/** A refusal that SCIM has a word for. */
export class ScimFailure extends Failure {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string) {
    super("invalid", message);
    this.scimType = scimType;
  }
}

/** A value that breaks a rule: `path` is the attribute's. */
export const invalidValue = (path: string, rule: string): ScimFailure => new ScimFailure("invalidValue", `${path}: ${rule}`);

/** `If-Match` names a version that is not the resource's any more (RFC 7644 3.14). */
export class VersionMismatch extends Failure {
  constructor() {
    super("precondition", "the user has changed since that version");
  }
}

/** How SCIM answers a failure. */
export interface ScimAnswer {
  readonly status: number;
  readonly scimType?: ScimType;
}

/**
 * The answer for each reason of the rest of the platform. `precondition` is the
 * owner, who is nobody's to change here (contract/decisions.md 45).
 */
const answers: Readonly<Record<Reason, ScimAnswer>> = {
  invalid: { status: 400, scimType: "invalidSyntax" },
  unauthenticated: { status: 401 },
  forbidden: { status: 403 },
  insufficient_scope: { status: 403 },
  absent: { status: 404 },
  exists: { status: 409, scimType: "uniqueness" },
  precondition: { status: 400, scimType: "mutability" },
  limited: { status: 429 },
  exhausted: { status: 429 },
  too_large: { status: 413 },
  late: { status: 408 },
  unsupported_media: { status: 415 },
  wrong_method: { status: 405 },
  unavailable: { status: 503 },
  cancelled: { status: 503 },
  unimplemented: { status: 501 },
  internal: { status: 500 },
};

/** What a failure is to a SCIM client. */
export function answerOf(failure: Failure): ScimAnswer {
  if (failure instanceof ScimFailure) return { status: 400, scimType: failure.scimType };
  if (failure instanceof VersionMismatch) return { status: 412 };
  if (failure.reason === "invalid" && failure.path !== undefined) return { status: 400, scimType: "invalidValue" };
  return answers[failure.reason];
}

/** The body of a refusal; its status is a text (RFC 7644 3.12). */
export const refusalBody = (failure: Failure): object => {
  const { status, scimType } = answerOf(failure);
  return { schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"], status: String(status), scimType, detail: failure.message };
};
