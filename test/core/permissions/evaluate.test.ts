import { array, assert, boolean, constantFrom, property, record, string } from "fast-check";
import { expect, test } from "vitest";
import { compileTextGlob } from "../../../src/core/linear-pattern.ts";
import {
  allowedBy,
  atMost,
  evaluate,
  type PermissionLevel,
  type PermissionUse,
  withGrants,
} from "../../../src/core/permissions/evaluate.ts";
import type { PermissionRule } from "../../../src/core/permissions/rule.ts";

const sources = ["installation", "profile", "project", "task"] as const;
const strictness = { allow: 0, ask: 1, deny: 2 };

// A small alphabet, so that rules and uses often meet.
const pattern = string({ unit: constantFrom("a", "b", "*", "?", ".", "/"), maxLength: 6 });
const rule = record({
  tool: constantFrom("bash", "run_command", "web_fetch", "connector.a", "connector.*", "*", "write", "edit"),
  pattern: pattern.map((text) => text || "*"),
  decision: constantFrom("allow" as const, "ask" as const, "deny" as const),
  eachTime: boolean(),
}).map((each): PermissionRule => ({ ...each, eachTime: each.eachTime && each.decision === "ask" }));
const levels = array(record({ source: constantFrom(...sources), rules: array(rule, { maxLength: 5 }) }), {
  maxLength: 4,
});
const use = record({
  tool: constantFrom("bash", "web_fetch", "connector.a", "read", "write"),
  besides: constantFrom("", "edit"),
  subjects: array(string({ unit: constantFrom("a", "b", ".", "/"), maxLength: 6 }), { maxLength: 2 }),
  isEffect: boolean(),
});

/** The same rules, written as the documentation says them: with regular expressions, from the strictest on. */
function model(
  all: readonly PermissionLevel[],
  { tool, subjects, isEffect, besides = "" }: PermissionUse,
): string {
  const expression = (glob: string) =>
    new RegExp(`^${glob.replace(/[./]/g, "\\$&").replaceAll("?", "[^]").replaceAll("*", "[^]*")}$`);
  const spoken = all.flatMap(({ source, rules }) => {
    const isFor = (each: PermissionRule, name: string) =>
      expression(each.tool === "run_command" ? "bash" : each.tool).test(name);
    const first = rules.find(
      (each) =>
        isFor(each, tool) &&
        !(besides && isFor(each, besides)) &&
        (each.pattern === "*" || subjects.some((subject) => expression(each.pattern).test(subject))),
    );
    return first ? [{ ...first, source }] : [];
  });
  if (spoken.length === 0) return isEffect ? "ask" : "allow";
  const worst = Math.max(...spoken.map(({ decision }) => strictness[decision]));
  const isGranted = spoken.some(({ source, decision }) => source === "task" && decision === "allow");
  if (worst === strictness.ask && isGranted && !spoken.some(({ eachTime }) => eachTime)) return "allow";
  return ["allow", "ask", "deny"][worst] ?? "";
}

test("a glob matches what the same regular expression matches", () => {
  assert(
    property(pattern, string({ unit: constantFrom("a", "b", ".", "/"), maxLength: 8 }), (glob, text) => {
      const same = `^${glob.replace(/[./]/g, "\\$&").replaceAll("?", "[^]").replaceAll("*", "[^]*")}$`;
      expect(compileTextGlob(glob)(text)).toBe(new RegExp(same).test(text));
    }),
  );
});

test("for all rules and uses the decision is what the model of the rules says", () => {
  assert(
    property(levels, use, (all, one) => {
      expect(evaluate(all, one).decision).toBe(model(all, one));
    }),
    { numRuns: 2_000 },
  );
});

test("the rule that decided says what was decided, and is named when it allowed the use", () => {
  assert(
    property(levels, use, (all, one) => {
      const verdict = evaluate(all, one);
      const { decision, by } = verdict;
      expect(by?.rule.decision ?? decision).toBe(decision);
      const name = by && `${by.source}: ${by.rule.tool} ${by.rule.pattern}`;
      expect(allowedBy(verdict)).toBe(decision === "allow" ? name : undefined);
    }),
  );
});

test("a further level of rules that are not the task's never makes a decision looser than it and the rest", () => {
  assert(
    property(levels, use, array(rule, { maxLength: 5 }), (all, one, rules) => {
      const before = evaluate(all, one);
      const after = evaluate([...all, { source: "project", rules }], one);
      if (before.by) expect(strictness[after.decision]).toBeGreaterThanOrEqual(strictness[before.decision]);
    }),
  );
});

test("a subtask has at most its parent's rights", () => {
  assert(
    property(levels, levels, use, (own, ofParent, one) => {
      const [mine, theirs] = [evaluate(own, one), evaluate(ofParent, one)];
      const decided = atMost(mine, theirs).decision;
      expect(strictness[decided]).toBe(Math.max(strictness[mine.decision], strictness[theirs.decision]));
    }),
  );
});

test("what a person always allows answers every ask of the task, but no deny and no ask for each time", () => {
  const decision = constantFrom("allow" as const, "ask" as const, "deny" as const);
  const near = record({
    tool: constantFrom("bash", "*"),
    pattern: constantFrom("*", "a", "a*", "b"),
    decision,
    eachTime: boolean(),
  }).map((each): PermissionRule => ({ ...each, eachTime: each.eachTime && each.decision === "ask" }));
  const given = constantFrom("*", "a", "ab").map((of) => ({ tool: "run_command", pattern: of }));
  assert(
    property(array(near, { maxLength: 4 }), constantFrom("a", "ab", "b"), given, (rules, subject, grant) => {
      const line = { tool: "bash", subjects: [subject], isEffect: true };
      const decide = (of: readonly PermissionRule[]) => evaluate([{ source: "task", rules: of }], line);
      const before = decide(rules);
      const isGranted = grant.pattern === "*" || grant.pattern === subject;
      const isAnswered = isGranted && before.decision === "ask" && !before.by?.rule.eachTime;
      expect(decide(withGrants(rules, [grant])).decision).toBe(isAnswered ? "allow" : before.decision);
    }),
    { numRuns: 1_000 },
  );
});

test("a pattern on hosts matches in capital letters too, other patterns do not", () => {
  const decide = (tool: string, pattern: string, subject: string) =>
    evaluate([{ source: "task", rules: [{ tool, pattern, decision: "deny", eachTime: false }] }], {
      ...{ tool, isEffect: true, subjects: [subject] },
    }).decision;
  expect(decide("web_fetch", "*.Evil.example", "a.evil.example")).toBe("deny");
  expect(decide("bash", "GIT *", "git log")).toBe("ask");
});

test("a command line with more than one command is allowed by no pattern that leaves a part open", () => {
  const line = { tool: "bash", subjects: ["git log; rm -rf ."], isEffect: true, isCompound: true };
  const decide = (text: string, decision: "allow" | "deny" = "allow") =>
    evaluate([{ source: "task", rules: [{ tool: "bash", pattern: text, decision, eachTime: false }] }], line)
      .decision;
  expect(decide("git *")).toBe("ask");
  expect(decide("git log; rm -rf .")).toBe("allow");
  expect(decide("*")).toBe("allow");
  expect(decide("git *", "deny")).toBe("deny");
});
