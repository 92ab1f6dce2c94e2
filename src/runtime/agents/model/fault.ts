import { APICallError } from "ai";
import { MissingPackage } from "../../../async/optional-packages.ts";

/** Why a call of the model failed, as our own classes: texts of the endpoint are never passed on. */
export type FaultKind =
  | "busy"
  | "down"
  | "broken"
  | "silent"
  | "empty"
  | "endless"
  | "refused_key"
  | "refused"
  | "package";

/** A failed call of the model. */
export class ModelFault extends Error {
  readonly kind: FaultKind;
  /** The status of the endpoint's answer; null without an answer, or when the body failed. */
  readonly status: number | null;
  /** The wait that the endpoint requested, in milliseconds; null without one. */
  readonly retryAfterMs: number | null;
  /** True when the answer had begun: the received part is charged. */
  hasAnswer = false;

  constructor(
    kind: FaultKind,
    status: number | null = null,
    retryAfterMs: number | null = null,
    text = `the model is ${kind}`,
  ) {
    super(text);
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** True when the same call may succeed later. */
  get isRetryable(): boolean {
    return !["refused", "refused_key", "endless", "package"].includes(this.kind);
  }
}

/** Statuses other than 5xx after which a call is retried. */
const retryable: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * Classifies a thrown value of the SDK, by statuses alone, never by texts.
 *
 * @param now Unix milliseconds, for a `Retry-After` that is a date.
 */
export function toModelFault(thrown: unknown, now: number): ModelFault {
  if (thrown instanceof ModelFault) return thrown;
  if (thrown instanceof MissingPackage) return new ModelFault("package", null, null, thrown.message);
  const status = statusOf(thrown);
  // Without a status, or with a success status, the connection or the body failed.
  if (status === null || status < 400) return new ModelFault("broken");
  if (status === 401 || status === 403) return new ModelFault("refused_key", status);
  if (status < 500 && !retryable.has(status)) return new ModelFault("refused", status);
  const retryAfterMs = APICallError.isInstance(thrown) ? retryAfter(thrown.responseHeaders ?? {}, now) : null;
  return new ModelFault(status === 429 || status === 529 ? "busy" : "down", status, retryAfterMs);
}

/** The status of an error. An error within a stream has its own status when the SDK knows it. */
function statusOf(thrown: unknown): number | null {
  if (APICallError.isInstance(thrown)) return thrown.statusCode ?? null;
  const status =
    thrown !== null && typeof thrown === "object" && "statusCode" in thrown ? thrown.statusCode : null;
  return typeof status === "number" ? status : null;
}

/**
 * Reads seconds or a date (RFC 9110 10.2.3), or milliseconds, which some endpoints send in addition; null if
 * none is valid.
 */
function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const { "retry-after-ms": ms = "", "retry-after": text = "" } = headers;
  if (/^\d{1,9}$/.test(ms)) return Number(ms);
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

export const attemptsMax = 6;
const firstMs = 1_000;
const longestMs = 30_000;
/** A call fails when the endpoint requests a longer wait than this. */
const patienceMs = 300_000;

/**
 * The wait after a failed attempt, in milliseconds; null to stop. A wait that the endpoint requests is
 * followed, up to five minutes. Otherwise the wait doubles from 1 s to 30 s, minus a random part of up to
 * half, so that many runs do not retry at the same time.
 *
 * @param attempt the number of the attempt, from 1.
 * @param chance a random number from 0 to 1.
 */
export function retryDelay(
  attempt: number,
  { isRetryable, retryAfterMs }: Pick<ModelFault, "isRetryable" | "retryAfterMs">,
  chance: number,
): number | null {
  if (!isRetryable || attempt >= attemptsMax) return null;
  if (retryAfterMs !== null) return retryAfterMs <= patienceMs ? retryAfterMs : null;
  const full = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
  return Math.round(full * (1 - chance / 2));
}

/** The turn fails, for a reason that is shown to its user. */
export class TurnError extends Error {
  readonly errorType: string;
  readonly content: string;

  constructor(errorType: string, content: string) {
    super(content);
    this.errorType = errorType;
    this.content = content;
  }
}

/** The run has used up its time. */
export const timeoutError = (): TurnError => new TurnError("timeout", "The run exceeded its time limit.");

/** A message does not fit, or what must stay with it. */
export const contextError = (): TurnError =>
  new TurnError(
    "context_limit",
    "A message is longer than the model accepts. Begin a new task with a shorter one, and send long texts as files.",
  );

/** The text for the user about a model that does not answer: our own text, and the status. */
export function toTurnError({ kind, status, message }: ModelFault): TurnError {
  const answered = status === null ? "" : ` (it answered with HTTP ${status})`;
  switch (kind) {
    case "busy":
      return new TurnError("model_unavailable", `The model is overloaded${answered}. Try again later.`);
    case "down":
      return new TurnError(
        "model_unavailable",
        `The model's service is not available${answered}. Try again later.`,
      );
    case "broken":
      return new TurnError(
        "model_unavailable",
        "The model's service could not be reached, or its answer was interrupted, several times. Try again later.",
      );
    case "silent":
      return new TurnError(
        "model_unavailable",
        "The model's service did not answer in time. Try again later.",
      );
    case "empty":
      return new TurnError("model_failed", "The model returned no answer.");
    case "endless":
      return new TurnError("model_failed", "The model's answer was too long.");
    case "refused_key":
      return new TurnError(
        "model_refused",
        `The model's service refused the platform's key${answered}. The operator has to check it.`,
      );
    case "refused":
      return new TurnError("model_refused", `The model's service refused the request${answered}.`);
    case "package":
      return new TurnError("model_unavailable", `The model cannot be called: ${message}.`);
  }
}
