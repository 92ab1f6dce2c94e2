import { expect, test } from "vitest";
import { periodStart } from "../../../src/core/usage/budget.ts";
import { dayRange, dayStart } from "../../../src/core/usage/usage.ts";

const at = (text: string): number => Date.parse(text);
const shown = (range: { readonly from: number; readonly to: number }) =>
  [range.from, range.to].map((day) => new Date(dayStart(day)).toISOString().slice(0, 10));

test("a range has full days in UTC: by default the last 30, at most 366, and never a negative range", () => {
  const now = at("2026-03-01T23:59:59.999Z");
  const from = (start?: string, end?: string) =>
    shown(dayRange({ start: start && at(start), end: end && at(end) } as never, now));
  expect(from()).toEqual(["2026-01-31", "2026-03-01"]);
  expect(from("2026-02-01T23:59:59Z")).toEqual(["2026-02-01", "2026-03-01"]);
  expect(from(undefined, "2026-01-01T00:00:00Z")).toEqual(["2025-12-03", "2026-01-01"]);
  expect(from("2024-01-01T12:00:00Z", "2024-12-31T00:00:00Z")).toEqual(["2024-01-01", "2024-12-31"]);
  expect(() => from("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z")).toThrow(
    "end_date: must be within 366 days",
  );
  expect(() => from("2026-02-02T00:00:01Z", "2026-02-02T00:00:00Z")).toThrow(
    "end_date: must not be before start_date",
  );
  expect(() => from("2026-03-02T00:00:00Z")).toThrow("end_date");
});

test("a daily or monthly period begins with its day or calendar month in UTC, a total never begins", () => {
  const now = at("2028-02-29T12:34:56Z");
  expect(periodStart("day", now)).toBe(at("2028-02-29T00:00:00Z"));
  expect(periodStart("month", now)).toBe(at("2028-02-01T00:00:00Z"));
  expect(periodStart("total", now)).toBe(0);
});
