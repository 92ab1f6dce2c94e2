import { Failure } from "#core/failure.ts";
import { localTime } from "#core/schedules/local-time.ts";
import { nextTimes, readCron, readMoment, readTimeZone, type Timing } from "#core/schedules/timing.ts";
import { words } from "../words.ts";

const text = words(
  {
    never: "never occurs",
    every: "is not a whole number whose interval is 1 minute to 365 days",
    at: "is not a date and a time",
  },
  {
    never: "tritt nie ein",
    every: "ist keine ganze Zahl, deren Abstand 1 Minute bis 365 Tage ist",
    at: "ist kein Datum mit Uhrzeit",
  },
);

/** The ready-made cron expressions. */
export const crons = {
  weekdays: "0 9 * * 1-5",
  daily: "0 9 * * *",
  weekly: "0 9 * * 1",
  hourly: "0 * * * *",
} as const;

export const units = { minutes: 60, hours: 3_600, days: 86_400 } as const;

/** When a schedule is due, as it is typed. */
export interface When {
  readonly kind: "once" | "interval" | "own" | keyof typeof crons;
  /** A local time, `2027-03-01T09:00`. */
  readonly at: string;
  readonly every: string;
  readonly unit: keyof typeof units;
  readonly cron: string;
  readonly timeZone: string;
}

export const newWhen = (kind: When["kind"]): When => ({
  kind,
  at: "",
  every: "1",
  unit: "hours",
  cron: "",
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** The settings of a request. */
type TimeSettings =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly intervalSeconds: bigint }
  | { readonly at: string; readonly timeZone: string };

/** The first times, or the field that breaks a rule, and the rule. */
export type ReadWhen =
  | { readonly settings: TimeSettings; readonly times: readonly number[] }
  | { readonly field: "at" | "every" | "cron" | "timeZone"; readonly fault: string };

const shownTimes = 3;
const intervalMax = 31_536_000;

/** Checks with the rules of the server what is typed (spec/api.md 8.57). */
export function readWhen(when: When, now: number): ReadWhen {
  if (when.kind === "interval") return readInterval(when, now);
  const timeZone = attempt("timeZone", () => readTimeZone(when.timeZone.trim(), ""));
  if (typeof timeZone !== "string") return timeZone;
  return when.kind === "once"
    ? readOnce(when, timeZone, now)
    : readTimes(when.kind === "own" ? when.cron : crons[when.kind], timeZone, now);
}

function readInterval({ every, unit }: When, now: number): ReadWhen {
  const seconds = /^\d{1,9}$/.test(every.trim()) ? Number(every) * units[unit] : 0;
  if (seconds < 60 || seconds > intervalMax) return { field: "every", fault: text.every };
  return {
    settings: { intervalSeconds: BigInt(seconds) },
    times: timesOf({ intervalSeconds: seconds }, now),
  };
}

function readOnce({ at }: When, timeZone: string, now: number): ReadWhen {
  const local = Date.parse(`${at}Z`);
  if (!/^\d{4,6}-\d{2}-\d{2}T\d{2}:\d{2}/.test(at) || Number.isNaN(local))
    return { field: "at", fault: text.at };
  const moment = new Date(localTime(timeZone).toInstant(local)).toISOString();
  const read = attempt("at", () => readMoment(moment, "", now));
  return typeof read === "number" ? { settings: { at: moment, timeZone }, times: [read] } : read;
}

function readTimes(typed: string, timeZone: string, now: number): ReadWhen {
  const cron = attempt("cron", () => readCron(typed, ""));
  if (typeof cron !== "string") return cron;
  const times = timesOf({ cron, timeZone }, now);
  return times.length === 0 ? { field: "cron", fault: text.never } : { settings: { cron, timeZone }, times };
}

const timesOf = (timing: Partial<Timing>, now: number): readonly number[] =>
  nextTimes(
    { cron: null, intervalSeconds: null, moment: null, timeZone: "UTC", anchorAt: now, ...timing },
    now,
    shownTimes,
  );

type Fault = Extract<ReadWhen, { readonly fault: string }>;

/** Reads a value by a rule of the server; its refusal is the fault of the field. */
function attempt<T>(field: Fault["field"], read: () => T): T | Fault {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure) return { field, fault: thrown.message };
    throw thrown;
  }
}
