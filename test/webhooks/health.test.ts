import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Health } from "../../src/core/webhooks/delivery.ts";
import { failureReasonOf, healthAfter, healthyState } from "../../src/webhooks/record.ts";

const hour = 3_600_000;
const day = 24 * hour;
const start = 1_790_000_000_000;

/** The health after failures at these hours; `ok` is a success. */
const healthAfterFailures = (...hours: readonly (number | { readonly ok: number })[]): Health =>
  hours.reduce<Health>((health, at) => {
    const delivered = typeof at === "object";
    return healthAfter(health, { delivered, at: start + (delivered ? at.ok : at) * hour });
  }, healthyState);
const isOff = (health: Health, at: number, status = 500): boolean =>
  failureReasonOf(health, { status, at: start + at * hour }) !== null;

describe("a webhook that fails (spec/webhooks.md 8, 9)", () => {
  test("is switched off after five days with only failures", () => {
    const health = healthAfterFailures(0, 13, 50, 119.9);
    expect(isOff(health, 119.9)).toBe(false);
    expect(isOff(healthAfterFailures(0, 13, 50, 119.9, 120), 120)).toBe(true);
  });

  test("is not switched off for one failure, or for failures that are days apart", () => {
    expect(isOff(healthAfterFailures(0), 200)).toBe(false);
    expect(isOff(healthAfterFailures(0, 125), 125)).toBe(false);
    expect(isOff(healthAfterFailures(0, 25, 50, 75, 100, 125, 150), 150)).toBe(false);
  });

  test("starts to count at two failures that are 12 to 24 hours apart", () => {
    expect(healthAfterFailures(0, 11.9)).toEqual({ failingSince: start, failures: 1 });
    expect(healthAfterFailures(0, 12)).toEqual({ failingSince: start, failures: 2 });
    expect(healthAfterFailures(0, 24)).toEqual({ failingSince: start, failures: 2 });
    expect(healthAfterFailures(0, 24.1)).toEqual({ failingSince: start + 24.1 * hour, failures: 1 });
  });

  test("is healthy again after one success, after any failures", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000)), (hours) => {
        expect(healthAfterFailures(...hours.toSorted((a, b) => a - b), { ok: 1_001 })).toEqual(healthyState);
      }),
    );
  });

  test("is never switched off within five days of a success", () => {
    const hours = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(hours, (times) => {
        const sorted = times.toSorted((a, b) => a - b);
        const last = sorted.at(-1) ?? 0;
        expect(
          isOff(healthAfterFailures(...sorted), last) && last - (sorted[0] ?? 0) < (5 * day) / hour,
        ).toBe(false);
      }),
    );
  });

  test("is switched off at 410, at once", () => {
    expect(isOff(healthAfterFailures(0), 0, 410)).toBe(true);
  });
});
