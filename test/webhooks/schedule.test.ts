import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { nextStateOf, scheduleMs } from "../../src/webhooks/record.ts";

const now = Date.parse("2026-11-21T10:00:00Z");
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const failedAttempt = (number: number, retryAfter: string | null = null, status: number | null = 500) =>
  ({ type: "task_created", number, sent: { delivered: false, status, retryAfter } }) as const;
/** The time until the next attempt; null without one. */
const waitAfter = (number: number, retryAfter: string | null = null, random = 0.5): number | null => {
  const { nextAt } = nextStateOf(failedAttempt(number, retryAfter), now, random);
  return nextAt === null ? null : nextAt - now;
};

describe("the schedule (spec/webhooks.md 9)", () => {
  test("has ten attempts over three days", () => {
    const waits = Array.from({ length: 9 }, (_, index) => waitAfter(index + 1));
    expect(waits).toEqual([
      5 * second,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
    ]);
    expect(waitAfter(10)).toBeNull();
    expect(scheduleMs[0]).toBe(0);
  });

  test("ends at a success, with any other members of the answer", () => {
    const sent = { delivered: true, status: 200, retryAfter: "60" };
    expect(nextStateOf({ type: "task_stopped", number: 1, sent }, now, 0)).toEqual({
      state: "delivered",
      nextAt: null,
    });
  });

  test("ends at 410, because the receiver is gone permanently", () => {
    expect(nextStateOf(failedAttempt(1, null, 410), now, 0)).toEqual({ state: "failed", nextAt: null });
  });

  test("ends for progress after the third attempt", () => {
    const states = [1, 2, 3].map(
      (number) => nextStateOf({ ...failedAttempt(number), type: "task_progress" }, now, 0).state,
    );
    expect(states).toEqual(["pending", "pending", "failed"]);
  });

  test.each([
    ["whole seconds", "3600", hour],
    ["an HTTP date", "Sat, 21 Nov 2026 12:00:00 GMT", 2 * hour],
    ["an HTTP date of RFC 850", "Saturday, 21-Nov-26 12:00:00 GMT", 2 * hour],
    ["an HTTP date of C's asctime", "Sat Nov 21 12:00:00 2026 GMT", 2 * hour],
    ["more than a day", "999999", day],
    ["more digits than a number has", "9".repeat(400), day],
    ["a date far away", "Fri, 21 Nov 2036 12:00:00 GMT", day],
    ["less than the schedule", "1", 5 * second],
    ["a date in the past", "Fri, 20 Nov 2026 12:00:00 GMT", 5 * second],
    ["neither form", "soon", 5 * second],
    ["a number that is not whole", "3600.5", 5 * second],
    ["a negative number", "-3600", 5 * second],
    ["another form of date", "2026-11-21T12:00:00Z", 5 * second],
    ["nothing", "", 5 * second],
  ])("waits as Retry-After asks for, a day at most: %s", (_what, header, wait) =>
    expect(waitAfter(1, header)).toBe(wait));

  const anAttempt = fc.record({
    type: fc.constantFrom(...webhookEventTypes),
    number: fc.integer({ min: 1, max: 1_000 }),
    sent: fc.record({
      delivered: fc.boolean(),
      status: fc.option(fc.integer({ min: 100, max: 599 })),
      retryAfter: fc.option(
        fc.oneof(
          fc.string(),
          fc.nat().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
      ),
    }),
  });
  const randomNumbers = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("is for every answer: settled, or due within a day and the jitter, and never sooner than four fifths of its time", () => {
    fc.assert(
      fc.property(anAttempt, randomNumbers, (attempt, random) => {
        const { state, nextAt } = nextStateOf(attempt, now, random);
        expect(state === "pending").toBe(nextAt !== null);
        expect(state === "delivered").toBe(attempt.sent.delivered);
        if (nextAt === null) return;
        const delay = scheduleMs[attempt.number] ?? Number.NaN;
        expect(nextAt - now).toBeGreaterThanOrEqual(Math.round(delay * 0.8));
        expect(nextAt - now).toBeLessThanOrEqual(Math.max(Math.round(delay * 1.2), day));
      }),
    );
  });

  test("spreads simultaneous failures over two fifths of the time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), randomNumbers, randomNumbers, (number, one, other) => {
        const [first = 0, second = 0] = [waitAfter(number, null, one), waitAfter(number, null, other)].map(
          (wait) => wait ?? Number.NaN,
        );
        expect(Math.sign(first - second) * Math.sign(one - other)).toBeGreaterThanOrEqual(0);
      }),
    );
    const delay = scheduleMs[4] ?? 0;
    expect([waitAfter(4, null, 0), waitAfter(4, null, 1)]).toEqual([0.8 * delay, 1.2 * delay]);
  });
});
