import { describe, expect, test } from "vitest";
import {
  nextAfter,
  nextTimes,
  readCron,
  readMoment,
  readTimeZone,
  type Timing,
} from "../../src/core/schedules/timing.ts";

const timing = (members: Partial<Timing>): Timing => ({
  ...{ cron: null, intervalSeconds: null, moment: null, timeZone: "UTC", anchorAt: 0 },
  ...members,
});
const at = (iso: string): number => Date.parse(iso);
const cronTimes = (cron: string, timeZone: string, from: string, count: number): readonly string[] =>
  nextTimes(timing({ cron, timeZone }), at(from), count).map((time) =>
    new Date(time).toISOString().replace(":00.000Z", "Z"),
  );

describe("clock changes", () => {
  test.each([
    // A skipped time runs at the first instant after the gap.
    ["America/New_York", "30 2 * * *", "2027-03-13T12:00:00Z", ["2027-03-14T07:00Z", "2027-03-15T06:30Z"]],
    ["Europe/Berlin", "30 2 * * *", "2027-03-27T12:00:00Z", ["2027-03-28T01:00Z", "2027-03-29T00:30Z"]],
    ["Australia/Lord_Howe", "15 2 * * *", "2027-10-02T00:00:00Z", ["2027-10-02T15:30Z", "2027-10-03T15:15Z"]],
    ["Africa/Cairo", "0 0 * * *", "2027-04-29T12:00:00Z", ["2027-04-29T22:00Z", "2027-04-30T21:00Z"]],
    ["America/Santiago", "15 0 * * *", "2027-09-04T12:00:00Z", ["2027-09-05T04:00Z", "2027-09-06T03:15Z"]],
    // A day that the zone skipped.
    ["Pacific/Apia", "0 2 * * *", "2011-12-29T12:00:00Z", ["2011-12-30T10:00Z", "2011-12-30T12:00Z"]],
    // All skipped times of an hour are the same instant.
    ["America/New_York", "*/15 2 * * *", "2027-03-14T05:00:00Z", ["2027-03-14T07:00Z", "2027-03-15T06:00Z"]],
    // A time that occurs twice runs once, the first time.
    ["America/New_York", "30 1 * * *", "2027-11-06T12:00:00Z", ["2027-11-07T05:30Z", "2027-11-08T06:30Z"]],
    ["Europe/Berlin", "30 2 * * *", "2027-10-30T12:00:00Z", ["2027-10-31T00:30Z", "2027-11-01T01:30Z"]],
    ["Australia/Lord_Howe", "45 1 * * *", "2027-04-03T00:00:00Z", ["2027-04-03T14:45Z", "2027-04-04T15:15Z"]],
    ["America/Santiago", "30 23 * * *", "2027-04-03T12:00:00Z", ["2027-04-04T02:30Z", "2027-04-05T03:30Z"]],
    ["Africa/Cairo", "30 23 * * *", "2027-10-28T00:00:00Z", ["2027-10-28T20:30Z", "2027-10-29T21:30Z"]],
    ["America/New_York", "*/30 * * * *", "2027-11-07T05:00:00Z", ["2027-11-07T05:30Z", "2027-11-07T07:00Z"]],
    // A zone without changes.
    ["Asia/Kolkata", "0 9 * * 1-5", "2027-09-03T12:00:00Z", ["2027-09-06T03:30Z", "2027-09-07T03:30Z"]],
  ])("of %s: %s after %s", (zone, cron, from, times) => {
    expect(cronTimes(cron, zone, from, times.length)).toEqual(times);
  });

  test("move no time backwards: each next time is later, from any instant", () => {
    for (const zone of ["America/New_York", "Australia/Lord_Howe", "Europe/Berlin", "Africa/Cairo"]) {
      const rule = timing({ cron: "*/20 * * * *", timeZone: zone });
      for (let hour = 0; hour < 365 * 24; hour += 41) {
        const from = at("2027-01-01T00:10:00Z") + hour * 3_600_000;
        const next = nextAfter(rule, from) ?? 0;
        expect(next).toBeGreaterThan(from);
        expect(next - from).toBeLessThanOrEqual(80 * 60_000);
      }
    }
  });
});

test("an interval counts from its anchor and makes up no times", () => {
  const rule = timing({ intervalSeconds: 90, anchorAt: 1_000 });
  expect([0, 1_000, 90_999, 91_000, 91_001, 1_000_000].map((time) => nextAfter(rule, time))).toEqual([
    ...[91_000, 91_000, 91_000, 181_000, 181_000, 1_081_000],
  ]);
});

test("a moment is due once", () => {
  expect([0, 999, 1_000].map((time) => nextAfter(timing({ moment: 1_000 }), time))).toEqual([
    1_000,
    1_000,
    null,
  ]);
});

test("an expression that never occurs has no next time", () => {
  expect(nextAfter(timing({ cron: "0 0 30 2 *" }), 0)).toBeNull();
});

test.each([
  "",
  "* * * *",
  "* * * * * *",
  "@daily",
  "60 * * * *",
  "*/0 * * * *",
  "a * * * *",
  "0 0 1 1 * 2099",
  `${"1,".repeat(200)}1 * * * *\n*`,
])("is not a cron expression: %s", (text) => {
  expect(() => readCron(text, "cron")).toThrow("cron: is not a cron expression of five fields");
});

test("an expression is kept with single spaces", () => {
  expect(readCron("  0   9 * *  MON-FRI ", "cron")).toBe("0 9 * * MON-FRI");
});

test.each(["", "Mars/Base", "+02:00", "Europe/Berlin\n"])("is not a time zone: %s", (text) => {
  expect(() => readTimeZone(text, "time_zone")).toThrow(
    "time_zone: is not a name of the IANA time zone database",
  );
});

test.each([
  ["tomorrow", "is not a time as in RFC 3339"],
  ["2027-03-01", "is not a time as in RFC 3339"],
  ["2027-03-01T09:00:00", "is not a time as in RFC 3339"],
  ["2027-13-01T09:00:00Z", "is not a time as in RFC 3339"],
  ["1970-01-01T00:00:00Z", "is not in the future"],
])("is not a time in the future: %s", (text, rule) => {
  expect(() => readMoment(text, "at", 0)).toThrow(`at: ${rule}`);
});

test("a moment has any offset", () => {
  expect(readMoment("2027-03-01t09:00:00+01:00", "at", 0)).toBe(at("2027-03-01T08:00:00Z"));
});
