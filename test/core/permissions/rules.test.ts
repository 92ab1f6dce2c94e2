import { expect, test } from "vitest";
import type { Failure } from "../../../src/core/failure.ts";
import { compileTextGlob } from "../../../src/core/linear-pattern.ts";
import { type GivenRule, readRules } from "../../../src/core/permissions/rule.ts";

function failureOf(rules: readonly GivenRule[]): string {
  try {
    readRules(rules, "permissions");
  } catch (thrown) {
    const { path, message } = thrown as Failure;
    return `${path} ${message}`;
  }
  return "";
}

test("a rule without a pattern is for everything, and asks only once", () => {
  expect(readRules([{ tool: "connector.*", decision: "allow" }], "permissions")).toEqual([
    { tool: "connector.*", pattern: "*", decision: "allow", eachTime: false },
  ]);
});

test("a list with a fault is refused with the member at fault and its rule", () => {
  const good = { tool: "bash", decision: "allow" };
  expect(failureOf(Array(101).fill(good))).toMatch(/^permissions .*at most 100 rules/);
  expect(failureOf([good, { ...good, tool: "rm -rf" }])).toMatch(/^permissions\[1\]\.tool .*name of a tool/);
  expect(failureOf([{ ...good, pattern: "a".repeat(201) }])).toMatch(
    /^permissions\[0\]\.pattern .*200 characters/,
  );
  expect(failureOf([{ ...good, pattern: "a\nb" }])).toMatch(/^permissions\[0\]\.pattern .*one line/);
  expect(failureOf([{ ...good, decision: "yes" }])).toMatch(/^permissions\[0\]\.decision .*allow, ask, deny/);
  expect(failureOf([{ ...good, eachTime: true }])).toMatch(/^permissions\[0\]\.each_time .*ask/);
});

test("a glob of 200 stars takes no more time than its length times the text's", () => {
  const text = "a".repeat(8_000);
  expect(compileTextGlob(`${"*a".repeat(99)}*b`)(text)).toBe(false);
  expect(compileTextGlob(`${"*a".repeat(99)}*`)(text)).toBe(true);
});
