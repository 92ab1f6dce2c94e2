import { describe, expect, test } from "vitest";
import { findSums } from "../../src/runtime/agents/offline/answer.ts";
import { growthOf, linearGrowth } from "../support/growth.ts";
import { answerOf } from "./offline-turn.ts";

describe("a sum", () => {
  test.each([
    ["What is 12 * 4?", "12 * 4 = 48"],
    ["0.1 + 0.2", "0.1 + 0.2 = 0.3"],
    ["10 / 4 and 10 / 3", "10 / 4 = 2.5; 10 / 3 = 3.33333333333"],
    ["7 - 9, -3 * 2.5", "7 - 9 = -2; -3 * 2.5 = -7.5"],
    ["123456.78 * 1000", "123456.78 * 1000 = 123456780"],
  ])("in %j is computed", (text, found) => expect(findSums(text).join("; ")).toBe(found));

  test("is found in a list too, and at most five are computed", async () => {
    expect(await answerOf("- 3 + 4\n- 5 * 6")).toContain("\n3 + 4 = 7\n5 * 6 = 30\n");
    expect(findSums("1 + 1, ".repeat(9))).toHaveLength(5);
  });

  test("is searched in linear time", async () => {
    const search = (length: number) => {
      const texts = [
        `${"1 + ".repeat(length / 4)}1x`,
        `${"1+".repeat(length / 2)}x`,
        "1".repeat(length),
        `1${" ".repeat(length)}+ x`,
      ];
      for (const text of texts) expect(findSums(text)).toEqual([]);
    };
    expect(await growthOf(search, 5_000)).toBeLessThan(linearGrowth);
  });

  const others = [
    "2026-11-21",
    "21/11/2026",
    "call 555-1234",
    "v1.2-3",
    "2 + 3 * 4",
    "1 + 2 + 3",
    "a+1",
    "1,000 + 1",
    "3 + 4x",
    "24/7",
    "12:30 - 13:00",
    "-5",
    "5 +",
  ];
  test.each(others)("%j has none that could be computed by itself", (text) =>
    expect(findSums(text)).toEqual([]));
});
