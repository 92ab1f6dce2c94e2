import { Code } from "@connectrpc/connect";
import { perMinute, perMinuteAndAddress } from "../../src/call/limit.ts";
import type { Reason } from "../../src/core/failure.ts";
import { connectAnswers, connectCodes, exportAnswers, v1Answers, v2Answers } from "../../src/http/failure.ts";
import { operationTable, type RateClass } from "../../src/operations.ts";
import { titleOf } from "./operation.ts";

const made = "<!-- Made by `node scripts/reference.ts --write`. -->";

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** When a call fails with each reason, and what to do. */
export const meanings: Readonly<Record<Reason, string>> = {
  invalid_argument: "The request breaks a rule. The message names the member and the rule. Change the request.",
  unauthenticated: "The credential is missing, malformed, expired or revoked.",
  permission_denied: "The credential is valid, but its kind, or the caller's role, does not allow the operation.",
  insufficient_scope: "The token lacks a scope. The message names the scopes that are enough.",
  not_found: "The object does not exist, or the caller cannot see it. Both have the same answer.",
  already_exists: "Another object has this name or address, or the `Idempotency-Key` was used for another request.",
  failed_precondition: "The object is in a state that does not allow the operation. Change the state first.",
  rate_limited: "Too many calls in this minute. Wait for `Retry-After` seconds.",
  resource_exhausted: "A quota, a budget or a maximum number is reached. Delete something, or raise the limit.",
  too_large: "The body is larger than the operation accepts.",
  deadline_exceeded: "The body did not arrive in time.",
  unsupported_media_type: "The `Content-Type` is not one that the address accepts.",
  method_not_allowed: "The address takes another HTTP method.",
  unavailable: "The server is shutting down, or its database is not reachable. Retry with the same `Idempotency-Key`.",
  cancelled: "The caller closed the connection before the answer.",
  unimplemented: "The operation is declared, but not built.",
  internal: "A fault of the server. The log has the cause under the answer's `request_id`.",
};

const reasons = Object.keys(meanings) as readonly Reason[]; // The record has every reason and no other key.

/** How each wire answers each failure. */
export function errorsPage(): string {
  const rows = reasons.map((reason) => [
    `\`${reason}\``,
    meanings[reason],
    `${v2Answers[reason].status} \`${v2Answers[reason].code}\``,
    `${connectAnswers[reason].status} \`${connectAnswers[reason].code}\``,
    `${connectCodes[reason]} ${Code[connectCodes[reason]]}`,
    `${v1Answers[reason].status}, code ${v1Answers[reason].code}`,
    `${exportAnswers[reason].status} \`${exportAnswers[reason].code}\``,
  ]);
  const head = ["Failure", "Meaning", "v2", "Connect", "gRPC", "v1", "dataexport.v1"];
  return `${[
    made,
    "# Errors",
    "Every failure has one reason, and each wire its own answer for it. Programs compare codes; texts are for people and can change.",
    "The form of an error on each wire is in [conventions](conventions.md).",
    table(head, rows),
  ].join("\n\n")}\n`;
}

const classTexts: Readonly<Record<RateClass, string>> = {
  start: "starts an agent or an export",
  write: "changes something",
  read: "reads",
  report: "reads usage reports",
  stream: "sends text of remote workers",
};

const bytes = (n: number): string => n.toLocaleString("en-US");

/** Rate classes, and the sizes of requests. */
export function limitsPage(): string {
  const { all } = operationTable();
  const classes = (Object.keys(classTexts) as readonly RateClass[]).map((each) => [
    // The record has every class.
    `\`${each}\``,
    `${perMinute[each]}`,
    classTexts[each],
    all
      .filter(({ access, rateClass }) => access !== null && rateClass === each)
      .map(titleOf)
      .join(", "),
  ]);
  const sizes = [...Map.groupBy(all, ({ maxRequestBytes }) => maxRequestBytes)]
    .toSorted(([a], [b]) => a - b)
    .map(([size, operations]) => [bytes(size), size === 262_144 ? "all others" : operations.map(titleOf).join(", ")]);
  return `${[
    made,
    "# Limits",
    "## Rate classes",
    "Calls are counted per account and operation in windows of one minute, over all keys and tokens of the account and all processes; calls by session are counted apart from them, over all sessions of the account. `RATE_LIMITS` multiplies every number or lifts the limits ([configuration](configuration.md)). Every answer has the headers `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`; a refused call has `Retry-After`, in whole seconds.",
    table(["Class", "Calls a minute", "The operation", "Operations"], classes),
    `Operations without a credential have no class. A network address may make ${perMinuteAndAddress} calls a minute to them; the addresses of an IPv6 /64 count as one. These calls are counted together: ${all
      .filter(({ access }) => access === null)
      .map(titleOf)
      .join(", ")}.`,
    "## Sizes of requests",
    "The largest request in bytes, after decompression; of a stream, the largest message. `BODY_LIMIT` lowers the large ones.",
    table(["Bytes", "Operations"], sizes),
    "A request has at most 100,000 members and list items in all.",
  ].join("\n\n")}\n`;
}
