import { describe, expect, test } from "vitest";
import type { Failure } from "../../src/core/failure.ts";
import { isReservedProfile, profilesOf } from "../../src/core/tasks/profile.ts";

const { names, parse, textOf } = profilesOf(["research", "manus-1.6-max"]);

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
  ])("%s is stored as %s: a version is accepted and ignored", (spelling, profile) =>
    expect(parse(spelling, "other")).toBe(profile));

  test.each(["", undefined])("%j keeps the previous profile", (absent) =>
    expect(parse(absent, "manus-1.6-max")).toBe("manus-1.6-max"));

  test("may be a name that AGENT_PROFILES adds, in this spelling only, next to those of the public API (spec/api.md 8.78)", () => {
    expect(names).toEqual(["manus-1.6", "manus-1.6-lite", "manus-1.6-max", "research"]);
    expect(parse("research", "manus-1.6")).toBe("research");
    expect(textOf("research")).toEqual({ id: "research", title: "research", description: "" });
    for (const other of ["Research", "research-lite", "1.6-research", "manus-research"])
      expect(() => parse(other, "manus-1.6")).toThrow(
        /agent_profile: must be one of manus-1.6, .*research, standard, lite, max/,
      );
    expect(() => profilesOf([]).parse("research", "manus-1.6")).toThrow();
  });

  test("gets no new name that the public API gives a meaning", () => {
    for (const name of [
      "lite",
      "standard",
      "max",
      "1.6",
      "2-max",
      "manus",
      "manus-1.6-mx",
      "speed",
      "quality",
    ])
      expect(isReservedProfile(name), name).toBe(true);
    for (const name of ["research", "my-agent", "gpu.large", "limits"])
      expect(isReservedProfile(name), name).toBe(false);
  });

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
    expect(() => parse(word, "manus-1.6")).toThrow(
      expect.objectContaining({ reason: "invalid_argument" } satisfies Partial<Failure>),
    );
  });
});
