import type { Reason } from "../core/failure.ts";

/**
 * What people read about a failure, in docs/reference/errors.md and on its page. Names of the wire are in
 * backticks.
 */
export interface FailureText {
  /** When a call fails in this way, in one or two sentences. */
  readonly meaning: string;
  /** Typical causes. */
  readonly causes: readonly string[];
  /** What the caller does. */
  readonly remedy: string;
}

export const failureTexts: Readonly<Record<Reason, FailureText>> = {
  invalid_argument: {
    meaning: "The request breaks a rule. The message names the member and the rule. Change the request.",
    causes: [
      "A required member is missing, or a value has another type, is too long or out of range.",
      "Two members exclude each other.",
      "The body is not valid JSON.",
      "With `Prefer: handling=strict`: a member is unknown or has no effect.",
      "A `cursor` is used with other filters than those of its page.",
    ],
    remedy:
      "Correct the members of `details`: it lists up to 20 mistakes of the request, and `param` is the first of them. The same request fails again.",
  },
  unauthenticated: {
    meaning: "The credential is missing, malformed, expired or revoked.",
    causes: [
      "The request has no header with a credential, or the key is not complete.",
      "The access token has expired, or its grant was revoked.",
      "The key was revoked, or its member left the team.",
    ],
    remedy:
      "Send a valid key in `x-service-api-key`, or refresh the access token and repeat the call. The header `X-Accepted-Credentials` lists the headers that the operation accepts.",
  },
  permission_denied: {
    meaning: "The credential is valid, but its kind, or the caller's role, does not allow the operation.",
    causes: [
      "The operation needs a role that the member does not have, for example admin.",
      "The operation accepts only sessions, or only keys.",
      "A visibility is above the one that the team allows.",
    ],
    remedy:
      "Use a credential that the message names, or ask an admin of the team for the role. A retry does not help.",
  },
  insufficient_scope: {
    meaning: "The token lacks a scope. The message names the scopes that are enough.",
    causes: [
      "The user granted fewer scopes than the app needs.",
      "The task needs a connector that the user did not grant.",
    ],
    remedy:
      "Send the user to the consent page with the missing scope. A refreshed token has the same scopes.",
  },
  not_found: {
    meaning: "The object does not exist, or the caller cannot see it. Both have the same answer.",
    causes: [
      "The id is not complete, or belongs to another space or app.",
      "The object was deleted.",
      "The name of the operation is not spelled correctly; the message suggests another one.",
    ],
    remedy: "Check the id, and which space and app the credential belongs to.",
  },
  already_exists: {
    meaning: "Another object has this name or address.",
    causes: ["The name, address or domain is taken."],
    remedy: "Choose another name, or use the object that exists.",
  },
  idempotency_conflict: {
    meaning:
      "The `Idempotency-Key` was used for another request. The code is `already_exists`, as of other conflicts: look at the type.",
    causes: [
      "Two different requests have the same `Idempotency-Key`.",
      "A repeated request created an object whose secret is shown only once.",
    ],
    remedy: "Send a new `Idempotency-Key` with each new change.",
  },
  failed_precondition: {
    meaning: "The object is in a state that does not allow the operation. Change the state first.",
    causes: [
      "The task is not waiting for a confirmation, or it was stopped.",
      "The file is not uploaded yet.",
      "The object is in use.",
    ],
    remedy: "Read the object, bring it into the state that the message names, and repeat the call.",
  },
  rate_limited: {
    meaning: "Too many calls in this minute. Wait for `Retry-After` seconds.",
    causes: [
      "A program polls an operation.",
      "Several programs use keys of the same account: they share the limit.",
    ],
    remedy:
      "Wait for `Retry-After` seconds, then repeat the call. `RateLimit-Remaining` of each answer shows what is left. Watch a task instead of polling it. The operator sets the limits by `RATE_LIMITS`.",
  },
  resource_exhausted: {
    meaning: "A quota, a budget or a maximum number is reached. Delete something, or raise the limit.",
    causes: [
      "The credits of the account, the team or a budget are used up.",
      "The space has the maximum number of objects of this kind.",
      "The account has the maximum number of held calls and streams open.",
    ],
    remedy:
      "Delete what is no longer needed, or ask an admin to raise the limit. With `Retry-After`, a later call can succeed.",
  },
  too_large: {
    meaning: "The body is larger than the operation accepts.",
    causes: ["A file is sent inside of JSON.", "The body has more than 100,000 members and items."],
    remedy: "Upload files with `file.upload` and send their ids. The message names the limit.",
  },
  deadline_exceeded: {
    meaning: "The body did not arrive in time.",
    causes: ["The connection is slow or was interrupted.", "The client waits before it sends the body."],
    remedy: "Repeat the call with the same `Idempotency-Key`.",
  },
  unsupported_media_type: {
    meaning: "The `Content-Type` is not one that the address accepts.",
    causes: [
      "A form or multipart body is sent to an operation that takes JSON.",
      "A protobuf body is sent to an address of v2.",
    ],
    remedy: "Send the type that the message names.",
  },
  method_not_allowed: {
    meaning: "The address takes another HTTP method.",
    causes: ["A change is called with GET.", "A client or proxy turned a POST into a GET after a redirect."],
    remedy: "Use a method of the header `Allow`.",
  },
  unavailable: {
    meaning:
      "The server is busy or shutting down, or its database is not reachable. Retry with the same `Idempotency-Key`.",
    causes: [
      "The server restarts.",
      "The server is busy: too many tasks wait for a run, or too many bodies are in memory.",
      "The database does not answer.",
    ],
    remedy:
      "Repeat the call after `Retry-After` seconds, or with growing pauses, with the same `Idempotency-Key`.",
  },
  cancelled: {
    meaning: "The caller closed the connection before the answer.",
    causes: ["The client has a short time limit.", "A proxy closed the connection."],
    remedy: "Repeat the call with the same `Idempotency-Key`: the change may have been made.",
  },
  unimplemented: {
    meaning: "The operation is declared, but not built.",
    causes: ["The server is older than the client."],
    remedy: "Upgrade the server, or do not call the operation.",
  },
  internal: {
    meaning: "A fault of the server. The log has the cause under the answer's `request_id`.",
    causes: ["A defect of the server."],
    remedy:
      "Repeat the call once with the same `Idempotency-Key`. If it fails again, report it with its `request_id`.",
  },
};

/** All failures. The record has every reason and no other key. */
export const reasons = Object.keys(failureTexts) as readonly Reason[];
