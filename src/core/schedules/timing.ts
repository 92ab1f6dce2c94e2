import { Cron } from "croner";
import { invalidArgument } from "../failure.ts";
import { type LocalTime, localTime } from "./local-time.ts";

/** When a schedule is due: exactly one of `cron`, `intervalSeconds` and `moment` is set. */
export interface Timing {
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly cron: string | null;
  readonly intervalSeconds: number | null;
  /** One time, Unix milliseconds. */
  readonly moment: number | null;
  /** Name in the IANA time zone database, in which `cron` is read. */
  readonly timeZone: string;
  /** The times of an interval are counted from here, Unix milliseconds. */
  readonly anchorAt: number;
}

/** The first due time after an instant; null when there is none. Unix milliseconds. */
export function nextAfter(
  { cron, intervalSeconds, moment, timeZone, anchorAt }: Timing,
  instant: number,
): number | null {
  if (cron !== null) return nextOfCron(cron, localTime(timeZone), instant);
  if (intervalSeconds !== null) {
    const step = intervalSeconds * 1000;
    return anchorAt + Math.max(1, Math.floor((instant - anchorAt) / step) + 1) * step;
  }
  return moment !== null && moment > instant ? moment : null;
}

/** The first due times after an instant, at most `count`. */
export function nextTimes(timing: Timing, instant: number, count: number): readonly number[] {
  const times: number[] = [];
  for (
    let next = nextAfter(timing, instant);
    next !== null && times.length < count;
    next = nextAfter(timing, next)
  )
    times.push(next);
  return times;
}

/**
 * Local times are read from the expression as if they were in UTC, and converted here: the library would run
 * a time that occurs twice two times. So this returns the first local time whose instant is after the given
 * one.
 */
function nextOfCron(cron: string, { fromInstant, toInstant }: LocalTime, instant: number): number | null {
  const expression = read(cron);
  for (
    let local = expression.nextRun(new Date(fromInstant(instant)));
    local !== null;
    local = expression.nextRun(local)
  ) {
    const next = toInstant(local.getTime());
    if (next > instant) return next;
  }
  return null;
}

/** @throws Error for a malformed expression. */
const read = (cron: string): Cron => new Cron(cron, { timezone: "UTC", paused: true, mode: "5-part" });

/**
 * Numbers, names of months and days, lists, ranges, steps; `L`, `W` and `#` as in the library. No nicknames,
 * which may have seconds.
 */
const cronForm = /^[0-9A-Za-z*,/#?-]+( [0-9A-Za-z*,/#?-]+){4}$/;

/**
 * Reads a cron expression; returns it with single spaces.
 *
 * @throws Failure `invalid_argument` for one that is malformed or has not five fields.
 */
export function readCron(text: string, path: string): string {
  const cron = text.trim().replace(/\s+/g, " ");
  const rule =
    "is not a cron expression of five fields: minute, hour, day of the month, month, day of the week, for example 0 9 * * 1-5";
  if (!cronForm.test(cron)) throw invalidArgument(path, rule);
  try {
    read(cron);
  } catch {
    throw invalidArgument(path, rule);
  }
  return cron;
}

/**
 * @throws Failure `invalid_argument` for a zone that is not in the IANA database; offsets are not accepted.
 */
export function readTimeZone(text: string, path: string): string {
  const rule = "is not a name of the IANA time zone database, for example Europe/Berlin";
  if (!/^[A-Za-z]/.test(text)) throw invalidArgument(path, rule);
  try {
    localTime(text);
  } catch {
    throw invalidArgument(path, rule);
  }
  return text;
}

/** RFC 3339 5.6, with a time offset. */
const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;
/** Dates are written with a year of four digits. */
const momentMax = Date.UTC(9999, 11, 31);

/**
 * @throws Failure `invalid_argument` for a text that is not RFC 3339, and for a time that is not after `now`.
 */
export function readMoment(text: string, path: string, now: number): number {
  const moment = rfc3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  if (Number.isNaN(moment))
    throw invalidArgument(path, "is not a time as in RFC 3339, for example 2027-03-01T09:00:00+01:00");
  if (moment <= now || moment > momentMax) throw invalidArgument(path, "is not in the future");
  return moment;
}
