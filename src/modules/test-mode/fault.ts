import { invalidArgument } from "../../core/failure.ts";
import { findNearest } from "../../core/nearest.ts";

/** A fault of calls or deliveries, as a test describes it. */
export interface Fault {
  /** HTTP status of the answer, 400 to 599; null: another effect. */
  readonly status: number | null;
  /** Seconds of `Retry-After`. */
  readonly retryAfter: number | null;
  readonly delayMs: number;
  /** Bytes of the body, after which the connection ends. */
  readonly cut: number | null;
  /** Events of a stream, after which the connection ends. */
  readonly cutEvent: number | null;
  /** The connection is reset before an answer. */
  readonly reset: boolean;
  /** The change is made and its answer is lost. */
  readonly afterCommit: boolean;
  /** Calls in a row; null: not stated. */
  readonly times: number | null;
  /** Calls that pass before the first fault. */
  readonly skip: number;
  /**
   * Of deliveries: sent twice; after the next one; this many milliseconds late; with signatures that do not
   * verify.
   */
  readonly duplicate: boolean;
  readonly reorder: boolean;
  readonly lateMs: number | null;
  readonly badSignature: boolean;
}

/** A range of numbers; with `seconds` also with decimals. */
interface NumberRule {
  readonly least: number;
  readonly most: number;
  readonly seconds?: true;
}

/** The words of calls, of deliveries and of both; null: a word without a value. */
const words: Readonly<Record<string, NumberRule | null>> = {
  status: { least: 400, most: 599 },
  "retry-after": { least: 0, most: 86_400 },
  delay: { least: 0, most: 60, seconds: true },
  cut: { least: 0, most: 1_000_000_000 },
  "cut-event": { least: 0, most: 1_000_000 },
  times: { least: 1, most: 1_000_000 },
  skip: { least: 0, most: 1_000_000 },
  late: { least: 1, most: 34_560_000 },
  reset: null,
  "after-commit": null,
  duplicate: null,
  reorder: null,
  "bad-signature": null,
};
const ofCalls = ["status", "delay", "cut", "cut-event", "reset", "after-commit"];
const ofDeliveries = ["status", "delay", "reset", "duplicate", "reorder", "late", "bad-signature"];
/** Each replaces the answer, so there is one of them at most. */
const endings = ["status", "cut", "cut-event", "reset", "after-commit"];

/**
 * Reads words like `status=503; retry-after=2; times=2`.
 *
 * @param path the member or header, for errors.
 * @throws Failure `invalid_argument` that names the word and the rule.
 */
export function parseFault(text: string, path: string, { isDelivery = false } = {}): Fault {
  const found = new Map<string, number>();
  for (const part of text.split(";").map((each) => each.trim())) {
    if (part === "") continue;
    const [name = "", value] = part.split("=", 2).map((each) => each.trim());
    if (found.has(name)) throw invalidArgument(path, `${name}: must stand once`);
    found.set(name, readValue(name, value, path));
  }
  const effects = isDelivery ? ofDeliveries : ofCalls;
  const other = [...found.keys()].find(
    (name) => !effects.includes(name) && !["times", "skip", "retry-after"].includes(name),
  );
  if (other !== undefined)
    throw invalidArgument(
      path,
      `${other}: is a fault of ${isDelivery ? "calls" : "deliveries to webhooks"} only`,
    );
  if (!effects.some((name) => found.has(name)))
    throw invalidArgument(path, `must have one of ${effects.join(", ")}`);
  const ends = endings.filter((name) => found.has(name));
  if (ends.length > 1) throw invalidArgument(path, `${ends.join(" and ")}: must not stand together`);
  if (found.has("retry-after") && !found.has("status"))
    throw invalidArgument(path, "retry-after: needs a status");
  return faultOf(found);
}

function readValue(name: string, value: string | undefined, path: string): number {
  const rule = Object.hasOwn(words, name) ? words[name] : undefined;
  if (rule === undefined) {
    const suggestion = findNearest(name, Object.keys(words));
    throw invalidArgument(
      path,
      `${name}: is not a word of faults; ${suggestion ? `did you mean ${suggestion}?` : Object.keys(words).join(", ")}`,
    );
  }
  if (rule === null) {
    if (value !== undefined) throw invalidArgument(path, `${name}: has no value`);
    return 1;
  }
  const number = Number(value);
  const isNumber = (rule.seconds ? /^\d+(\.\d{1,3})?$/ : /^\d+$/).test(value ?? "");
  if (!isNumber || number < rule.least || number > rule.most)
    throw invalidArgument(
      path,
      `${name}: must be a ${rule.seconds ? "" : "whole "}number from ${rule.least} to ${rule.most}`,
    );
  return number;
}

function faultOf(found: ReadonlyMap<string, number>): Fault {
  const number = (name: string) => found.get(name) ?? null;
  const late = number("late");
  return {
    status: number("status"),
    retryAfter: number("retry-after"),
    delayMs: (number("delay") ?? 0) * 1000,
    cut: number("cut"),
    cutEvent: number("cut-event"),
    times: number("times"),
    skip: number("skip") ?? 0,
    reset: found.has("reset"),
    afterCommit: found.has("after-commit"),
    duplicate: found.has("duplicate"),
    reorder: found.has("reorder"),
    badSignature: found.has("bad-signature"),
    lateMs: late === null ? null : late * 1000,
  };
}
