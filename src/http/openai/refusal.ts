import type { Failure, Reason } from "../../core/failure.ts";
import { v2Answers } from "../failure.ts";
import { refusalBody } from "../v1/serve.ts";

/** OpenAI's names for the kinds of failure; its SDKs distinguish them by the HTTP status. */
const types: Readonly<Record<Reason, string>> = {
  invalid_argument: "invalid_request_error",
  unauthenticated: "authentication_error",
  permission_denied: "permission_error",
  insufficient_scope: "permission_error",
  not_found: "not_found_error",
  already_exists: "conflict_error",
  idempotency_conflict: "conflict_error",
  failed_precondition: "invalid_request_error",
  rate_limited: "rate_limit_error",
  resource_exhausted: "rate_limit_error",
  too_large: "invalid_request_error",
  deadline_exceeded: "invalid_request_error",
  unsupported_media_type: "invalid_request_error",
  method_not_allowed: "invalid_request_error",
  unavailable: "server_error",
  cancelled: "server_error",
  unimplemented: "server_error",
  internal: "server_error",
};

/** The member that SDKs read: `code` is v2's code, `param` the path of the invalid member. */
export const errorMember = ({ reason, message, path }: Failure) => ({
  message,
  type: types[reason],
  param: path ?? null,
  code: v2Answers[reason].code,
});

/** v1's body with the member `error`, which SDKs read (spec/v1.md 9). */
export const openaiRefusal = (failure: Failure) => ({ ...refusalBody(failure), error: errorMember(failure) });
