import { formatLocale, words } from "../words.ts";

const text = words(
  {
    everyMinutes: (count: string) => (count === "1" ? "every minute" : `every ${count} minutes`),
    hourly: (minute: string) => `every hour at minute ${minute}`,
    at: (times: string) => `at ${times}`,
    between: (from: string, to: string) => `from ${from} to ${to}`,
    daily: "every day",
    on: (days: string) => `on ${days}`,
    to: (from: string, to: string) => `${from} to ${to}`,
  },
  {
    everyMinutes: (count: string) => (count === "1" ? "jede Minute" : `alle ${count} Minuten`),
    hourly: (minute: string) => `jede Stunde zur Minute ${minute}`,
    at: (times: string) => `um ${times}`,
    between: (from: string, to: string) => `von ${from} bis ${to}`,
    daily: "jeden Tag",
    on: (days: string) => days,
    to: (from: string, to: string) => `${from} bis ${to}`,
  },
);

const list = new Intl.ListFormat(formatLocale, { type: "conjunction" });
const clock = new Intl.DateTimeFormat(formatLocale, { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
const weekday = new Intl.DateTimeFormat(formatLocale, { weekday: "long", timeZone: "UTC" });

const timeAt = (hour: string, minute: string): string =>
  clock.format(Date.UTC(2026, 0, 1, Number(hour), Number(minute)));
/** 4 January 2026 is a Sunday: 0 and 7 are Sundays of cron. */
const dayAt = (day: string): string => weekday.format(Date.UTC(2026, 0, 4 + Number(day)));

const values = /^\d{1,2}(,\d{1,2})*$/;
const range = /^(\d{1,2})-(\d{1,2})$/;

/**
 * A cron expression in words, such as `every 30 minutes from 09:00 to 17:59, every day`.
 *
 * @returns undefined for an expression that limits days of the month or months, or has other forms: it is
 * shown as it is.
 */
export function cronWords(cron: string): string | undefined {
  const [minute = "", hour = "", dayOfMonth, month, dayOfWeek = ""] = cron.trim().split(/\s+/);
  if (dayOfMonth !== "*" || month !== "*") return undefined;
  const [times, days] = [timesOf(minute, hour), daysOf(dayOfWeek)];
  return times === undefined || days === undefined ? undefined : `${times}, ${days}`;
}

function timesOf(minute: string, hour: string): string | undefined {
  const step = minute === "*" ? "1" : /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  const [, from, to] = range.exec(hour) ?? [];
  if (step !== undefined && hour === "*") return text.everyMinutes(step);
  if (step !== undefined && from !== undefined && to !== undefined)
    return `${text.everyMinutes(step)} ${text.between(timeAt(from, "0"), timeAt(to, "59"))}`;
  if (!/^\d{1,2}$/.test(minute)) return undefined;
  if (hour === "*") return text.hourly(minute);
  return values.test(hour)
    ? text.at(list.format(hour.split(",").map((each) => timeAt(each, minute))))
    : undefined;
}

function daysOf(dayOfWeek: string): string | undefined {
  if (dayOfWeek === "*") return text.daily;
  const [, from, to] = range.exec(dayOfWeek) ?? [];
  if (from !== undefined && to !== undefined) return text.on(text.to(dayAt(from), dayAt(to)));
  return values.test(dayOfWeek) ? text.on(list.format(dayOfWeek.split(",").map(dayAt))) : undefined;
}
