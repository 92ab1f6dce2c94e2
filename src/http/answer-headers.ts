import type { FastifyReply } from "fastify";
import type { Failure, Reason } from "../core/failure.ts";
import { challengeOf } from "../pipeline/challenge.ts";
import { OverLimit, type RateState } from "../pipeline/limit.ts";
import type { Warnings } from "./warnings/warnings.ts";

type Headers = readonly (readonly [name: string, value: string])[];

export function setHeaders(reply: FastifyReply, headers: Headers): void {
  for (const [name, value] of headers) reply.header(name, value);
}

/** Headers of every answer to a call, including refusals. */
export const callHeaders = (requestId: string): Headers => [
  ["X-Request-Id", requestId],
  ["Cache-Control", "no-store"],
];

/** The state of the caller's limit; `RateLimit-Reset` is in seconds. */
export const rateHeaders = (rate: RateState | null): Headers =>
  rate === null
    ? []
    : [
        ["RateLimit-Limit", String(rate.limit)],
        ["RateLimit-Remaining", String(rate.remaining)],
        ["RateLimit-Reset", String(rate.reset)],
      ];

/** The headers of a refusal, on every wire: when to retry, and which credentials the operation accepts. */
export const refusalHeaders = (failure: Failure): Headers => [
  ...retryHeaders(failure),
  ...challengeHeaders(failure),
];

/** `Retry-After` in whole seconds, where a retry can succeed, and the rate limit, where it was exceeded. */
export const retryHeaders = (failure: Failure): Headers => [
  ...rateHeaders(failure instanceof OverLimit ? failure.rate : null),
  ...(failure.retryAfter === undefined ? [] : [["Retry-After", String(failure.retryAfter)] as const]),
];

/** Marks an answer that was made by an earlier call with the same `Idempotency-Key`. */
export const idempotencyHeaders = (replayed: boolean): Headers =>
  replayed ? [["Idempotent-Replayed", "true"]] : [];

/**
 * Headers about the request's members, once they are read: the members without effect, or that strict
 * handling was applied.
 */
export function warningHeaders(warnings: Warnings, strict: boolean): Headers {
  if (strict) return [["Preference-Applied", "handling=strict"]];
  return warnings.isEmpty ? [] : [["X-Request-Warnings", warnings.header]];
}

/**
 * Sets the headers about warnings once the request is read.
 *
 * @param set sets a header of the answer.
 * @throws Failure `invalid_argument` that names the members without effect, under strict handling: the call
 * must write nothing.
 */
export function applyWarnings(
  warnings: Warnings,
  strict: boolean,
  set: (name: string, value: string) => void,
): void {
  for (const [name, value] of warningHeaders(warnings, strict)) set(name, value);
  if (strict) warnings.refuse();
}

/**
 * The credentials that the operation accepts: as challenges (RFC 9110 11.6.1) and as the names of request
 * headers. A token that lacks a scope gets `insufficient_scope` (RFC 6750 3).
 */
function challengeHeaders(failure: Failure): Headers {
  const challenge = challengeOf(failure);
  if (challenge === undefined)
    return failure.reason === "insufficient_scope" ? bearerHeaders(failure.reason, true) : [];
  const { headers, hasBearer } = challenge;
  const bearer = headers.includes("authorization")
    ? [bearerChallenge(hasBearer ? "invalid_token" : undefined)]
    : [];
  const keys = headers
    .filter((name) => name.endsWith("api-key"))
    .map((name) => `ApiKey realm="api", header="${name}"`);
  const session = headers.includes("cookie") ? ['Cookie realm="api"'] : [];
  return [
    ["WWW-Authenticate", [...bearer, ...keys, ...session].join(", ")],
    ["X-Accepted-Credentials", headers.join(", ")],
  ];
}

const bearerChallenge = (error: string | undefined): string =>
  `Bearer realm="api"${error === undefined ? "" : `, error="${error}"`}`;

/** Names Bearer as an accepted credential, or the error of the token that was sent (RFC 6750 3). */
export function bearerHeaders(reason: Reason, wasSent: boolean): Headers {
  const errors: Partial<Record<Reason, string>> = {
    unauthenticated: "invalid_token",
    insufficient_scope: "insufficient_scope",
  };
  const error = errors[reason];
  if (error === undefined) return [];
  return [["WWW-Authenticate", bearerChallenge(wasSent ? error : undefined)]];
}
