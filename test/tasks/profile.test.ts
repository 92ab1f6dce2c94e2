import { describe, expect, test } from "vitest";
import type { Failure } from "../../src/core/failure.ts";
import { parseProfile } from "../../src/core/tasks/profile.ts";

describe("agent_profile", () => {
  test.each([
    ["standard", "manus-1.6"],
    ["lite", "manus-1.6-lite"],
    ["max", "manus-1.6-max"],
    ["manus-1.6", "manus-1.6"],
    ["manus-1.6-lite", "manus-1.6-lite"],
    ["manus-1.6-max", "manus-1.6-max"],
    ["1.6", "manus-1.6"],
    ["1.6-lite", "manus-1.6-lite"],
    ["manus-2-max", "manus-1.6-max"],
    ["1.7.1-standard", "manus-1.6"],
    ["manus-lite", "manus-1.6-lite"],
  ])("%s is stored as %s: a version is accepted and ignored", (spelling, profile) => expect(parseProfile(spelling, "other")).toBe(profile));

  test.each(["", undefined])("%j keeps the previous profile", (absent) =>
    expect(parseProfile(absent, "manus-1.6-max")).toBe("manus-1.6-max"));

  const words = [
    "manus",
    "manus-",
    "-",
    "-lite",
    "lite-",
    "manus--lite",
    "1.6lite",
    "1.6-",
    "1..6",
    ".6",
    "LITE",
    " lite",
    "quality",
    "manus-1.6-lite-max",
  ];
  test.each(words)("%j is not a profile", (word) => {
    expect(() => parseProfile(word, "manus-1.6")).toThrow(
      expect.objectContaining({ reason: "invalid_argument" } satisfies Partial<Failure>),
    );
  });
});
