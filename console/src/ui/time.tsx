import { useEffect, useState } from "react";
import { formatLocale as locale } from "../words.ts";

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const numbers = new Intl.NumberFormat(locale);
const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"].map(
  (unit) =>
    new Intl.NumberFormat(locale, {
      style: "unit",
      unit,
      unitDisplay: unit === "byte" ? "long" : "short",
      maximumFractionDigits: 1,
    }),
);

/** A time of the API, in Unix seconds, as milliseconds. */
export const fromSeconds = (seconds: bigint): number => Number(seconds) * 1000;

export const formatNumber = (value: number | bigint): string => numbers.format(value);

/** A size as `833 bytes`, `1.7 MB` or `81.2 GB`. */
export function formatBytes(value: number | bigint): string {
  const size = Number(value);
  const step = Math.min(byteUnits.length - 1, Math.floor(Math.log10(Math.max(1, size)) / 3));
  return byteUnits[step]?.format(size / 1000 ** step) ?? "";
}

export const formatClock = (at: number): string => clock.format(at);
export const formatDateTime = (at: number): string => full.format(at);
/** A date and time in a time zone, with the name of the zone. Empty or unknown: the zone of the browser. */
export const formatInZone = (at: number, timeZone: string): string =>
  new Intl.DateTimeFormat(locale, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
    ...(timeZone && { timeZone }),
  }).format(at);
/** A date and time with its seconds, and the name of the browser's time zone. */
export const formatExact = (at: number): string => exact.format(at);

/** The name of the browser's time zone, as the times of forms have it. */
export const zoneName = exact.formatToParts().find(({ type }) => type === "timeZoneName")?.value ?? "";

/** A short text of a past time: seconds or minutes for the last hour, the time of today, or the date. */
export function formatAgo(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  if (seconds > -60) return relative.format(Math.min(0, seconds), "second");
  if (seconds > -3600) return relative.format(Math.round(seconds / 60), "minute");
  const [date, today] = [new Date(at), new Date(now)];
  if (date.toDateString() === today.toDateString()) return clock.format(at);
  return date.getFullYear() === today.getFullYear() ? day.format(at) : dayOfYear.format(at);
}

/** A duration as `12 s`, `3 min`, `2 h` or `5 days`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [value, unit] =
    seconds < 60
      ? [seconds, "second"]
      : seconds < 3_600
        ? [Math.round(seconds / 60), "minute"]
        : seconds < 172_800
          ? [Math.round(seconds / 3_600), "hour"]
          : [Math.round(seconds / 86_400), "day"];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short" }).format(value);
}

/** A whole number of seconds in the largest unit that divides it, as `90 minutes`. */
export function formatInterval(seconds: bigint): string {
  const units = [
    ["day", 86_400n],
    ["hour", 3_600n],
    ["minute", 60n],
    ["second", 1n],
  ] as const;
  const [unit, size] = units.find(([, each]) => seconds % each === 0n) ?? (["second", 1n] as const);
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(seconds / size);
}

/** The present time, updated every `everyMs`. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** A past time, with the exact time as its title. */
export function Ago({ at }: { at: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={formatExact(at)}>
      {formatAgo(at, now)}
    </time>
  );
}
