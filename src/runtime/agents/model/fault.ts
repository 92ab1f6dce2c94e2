import { APICallError } from "ai";

/** Why a call of the model came to nothing, in classes of our own: what the endpoint said goes nowhere. */
export type FaultKind = "busy" | "down" | "broken" | "silent" | "empty" | "endless" | "refused_key" | "refused";

/** A call of the model that came to nothing. */
export class ModelFault extends Error {
  readonly kind: FaultKind;
  /** Of the endpoint's answer; null where there was none, or its fault lay behind it. */
  readonly status: number | null;
  /** What the endpoint asked to wait; null where it said nothing. */
  readonly retryAfterMs: number | null;
  /** The answer had begun: what there was of it has to be paid for. */
  answered = false;

  constructor(kind: FaultKind, status: number | null = null, retryAfterMs: number | null = null) {
    super(`the model is ${kind}`);
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same call may go well later. */
  get passes(): boolean {
    return this.kind !== "refused" && this.kind !== "refused_key" && this.kind !== "endless";
  }
}

/** Statuses beside 5xx after which a call is made again. */
const passing: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * What a thrown value of the SDK means. It goes by statuses alone, never by texts.
 *
 * @param now Unix milliseconds, for a `Retry-After` that is a date.
 */
export function faultOf(thrown: unknown, now: number): ModelFault {
  if (thrown instanceof ModelFault) return thrown;
  const status = statusOf(thrown);
  // No status, or a good one: the connection, or what came over it.
  if (status === null || status < 400) return new ModelFault("broken");
  if (status === 401 || status === 403) return new ModelFault("refused_key", status);
  if (status < 500 && !passing.has(status)) return new ModelFault("refused", status);
  const retryAfterMs = APICallError.isInstance(thrown) ? retryAfter(thrown.responseHeaders ?? {}, now) : null;
  return new ModelFault(status === 429 || status === 529 ? "busy" : "down", status, retryAfterMs);
}

/** An error within a stream carries a status of its own, where the SDK knows one. */
function statusOf(thrown: unknown): number | null {
  if (APICallError.isInstance(thrown)) return thrown.statusCode ?? null;
  const status = thrown !== null && typeof thrown === "object" && "statusCode" in thrown ? thrown.statusCode : null;
  return typeof status === "number" ? status : null;
}

/** Seconds or a date (RFC 9110 10.2.3), milliseconds as some endpoints say beside it; null where neither can be read. */
function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const { "retry-after-ms": ms = "", "retry-after": text = "" } = headers;
  if (/^\d{1,9}$/.test(ms)) return Number(ms);
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
