import type { Failure, Reason } from "../../core/failure.ts";
import { v2Answers } from "../failure.ts";
import { refusalBody } from "../v1/serve.ts";

/** What OpenAI calls the kinds of failure; its SDKs tell them apart by the HTTP status. */
const types: Readonly<Record<Reason, string>> = {
  invalid: "invalid_request_error",
  unauthenticated: "authentication_error",
  forbidden: "permission_error",
  insufficient_scope: "permission_error",
  absent: "not_found_error",
  exists: "conflict_error",
  precondition: "invalid_request_error",
  limited: "rate_limit_error",
  exhausted: "rate_limit_error",
  too_large: "invalid_request_error",
  late: "invalid_request_error",
  unsupported_media: "invalid_request_error",
  wrong_method: "invalid_request_error",
  unavailable: "server_error",
  cancelled: "server_error",
  unimplemented: "server_error",
  internal: "server_error",
};

/** What SDKs look into: `code` is v2's word, `param` the path of the member at fault. */
export const errorMember = ({ reason, message, path }: Failure) => ({
  message,
  type: types[reason],
  param: path ?? null,
  code: v2Answers[reason].code,
});

/** v1's body, with the member that SDKs look for (contract/v1.md 9). */
export const openaiRefusal = (failure: Failure) => ({ ...refusalBody(failure), error: errorMember(failure) });
