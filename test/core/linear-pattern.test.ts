import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob, compilePattern } from "../../src/core/linear-pattern.ts";

const atom = fc.constantFrom(
  "a",
  "b",
  "é",
  ".",
  "[ab]",
  "[^a]",
  "[b-d]",
  "\\d",
  "\\W",
  "\\b",
  "\\.",
  "^",
  "$",
);
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: "small" },
    atom,
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"))
      .map(([one, times]) => `(${one})${times}`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", "é", "1", ".", " "), maxLength: 12 });

test("a pattern matches what the same regular expression matches", () => {
  fc.assert(
    fc.property(pattern, text, fc.boolean(), (source, subject, ignoreCase) => {
      const expected = new RegExp(source, ignoreCase ? "si" : "s").test(subject);
      expect(compilePattern(source, { ignoreCase })(subject)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  "(a",
  "a)",
  "[a",
  "*a",
  "a\\",
  "(?=a)",
  "(a)\\1",
  "((a{99}){99}){99}",
  "a".repeat(501),
])("the pattern %s is refused, with the rule", (source) => {
  expect(() => compilePattern(source)).toThrow(/^pattern: /);
});

test("a pattern with which a RegExp takes exponential time takes few steps", () => {
  expect(compilePattern("^(a+)+(b|a*)*$")(`${"a".repeat(10_000)}!`)).toBe(false);
});

test("a group that matches nothing costs no time for its repetitions", () => {
  expect(compilePattern("^(){999}{999}{999}{999}a$")("a")).toBe(true);
});

test.each([
  ["src/*.ts", ["src/a.ts"], ["src/a/b.ts", "src/a.tsx", "xsrc/a.ts"]],
  ["**/*.ts", ["a.ts", "src/a.ts", "src/a/b.ts"], ["a.js", "ats"]],
  ["src/**", ["src/a", "src/a/b"], ["src", "lib/a"]],
  ["*.{csv,json}", ["a.csv", "a.json"], ["a.txt", "x/a.csv"]],
  ["a?[bc][!d].(x)", ["a1be.(x)"], ["a/be.(x)", "a1bd.(x)", "a1ae.(x)"]],
])("the glob %s matches complete paths", (glob, yes, no) => {
  const matches = compileGlob(glob);
  expect([yes.filter(matches), no.filter(matches)]).toEqual([yes, []]);
});
