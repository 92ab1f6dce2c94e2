import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readDirectives } from "../../src/runtime/agents/offline/reading.ts";
import { growthOf, linearGrowth } from "../support/growth.ts";
import { answerOf, anyDirective, anyText, confirmable, playTurn, printDirective } from "./offline-turn.ts";

const expectLinear = async (textOf: (length: number) => string): Promise<void> =>
  expect(await growthOf((length) => readDirectives(textOf(length)), 12_500), textOf(50)).toBeLessThan(
    linearGrowth,
  );

const plainText = anyText.filter((text) => !text.includes("[["));
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** The directives of a text, without their positions. */
function directivesIn(text: string): readonly unknown[] {
  const outcome = readDirectives(text);
  return "fault" in outcome
    ? [outcome.fault]
    : outcome.directives.map(({ name, parts }) => ({ name, parts }));
}

describe("a message", () => {
  test("without [[ has no directives and stays unchanged", () => {
    fc.assert(
      fc.property(plainText, (text) => {
        expect(readDirectives(text)).toEqual({ prose: text.trim(), directives: [] });
      }),
    );
  });

  test("has its directives in order, and the text around them", () => {
    const written = fc.array(
      fc.record({ directive: anyDirective, after: plainText.filter((text) => !/^\]|\[$/.test(text)) }),
    );
    const read = fc.property(written, (parts) => {
      const text = parts.map(({ directive, after }) => printDirective(directive) + after).join("");
      expect(directivesIn(text)).toEqual(parts.map(({ directive }) => directive));
      expect(readDirectives(text)).toMatchObject({
        prose: parts
          .map(({ after }) => after)
          .join("")
          .trim(),
      });
    });
    fc.assert(read);
  });

  test("has each directive's position and original text", () => {
    const parts = fc.array(
      fc.tuple(
        plainText.filter((text) => !/^\]|\[$/.test(text)),
        anyDirective,
      ),
      { minLength: 1 },
    );
    const positions = fc.property(parts, (written) => {
      const text = written.map(([before, directive]) => before + printDirective(directive)).join("");
      const outcome = readDirectives(text);
      const found = "fault" in outcome ? [] : outcome.directives;
      expect(found.map(({ source }) => source)).toEqual(
        written.map(([, directive]) => printDirective(directive)),
      );
      expect(found.map(({ position, source }) => text.slice(position, position + source.length))).toEqual(
        found.map(({ source }) => source),
      );
    });
    fc.assert(positions);
  });

  test("is read in linear time", async () => {
    for (const piece of [
      "[[",
      "[[value ",
      "[[value [",
      '[[value "\\"',
      "[[ ",
      "[[say a]]",
      "]]",
      "[[ask |",
      "[[plan a|",
      '[[value {"a":"',
      "[[value [[1]]]]",
      "[[subtask [[",
      "[[subtask [[a]]",
    ])
      await expectLinear((length) => piece.repeat(length / piece.length));
    await expectLinear((length) => `[[say ${"a".repeat(length)}`);
    await expectLinear((length) => `[[${" ".repeat(length)}x]]`);
    await expectLinear((length) => `[[fail ${"a".repeat(length / 2)}${" ".repeat(length / 2)}b]]`);
    await expectLinear((length) => `[[value ${deep(length / 2)}]]`);
  });
});

describe("a directive", () => {
  test.each([
    ["[[say Hello there]]", { name: "say", parts: ["Hello there"] }],
    ["[[subtask Count | owls]]", { name: "subtask", parts: ["Count | owls"] }],
    [
      "[[ subtask [[say A]] and [[subtask [[forever]]]]]]",
      { name: "subtask", parts: ["[[say A]] and [[subtask [[forever]]]]"] },
    ],
    ["[[wait all]]", { name: "wait", parts: ["all"] }],
    ["[[wait any | 1.5]]", { name: "wait", parts: ["any", "1.5"] }],
    ["[[wait any | 604800]]", { name: "wait", parts: ["any", "604800"] }],
    ["[[say this | that]]", { name: "say", parts: ["this | that"] }],
    ["[[ say\n two\nlines ]]", { name: "say", parts: ["two\nlines"] }],
    ["[[think Hm]]", { name: "think", parts: ["Hm"] }],
    ["[[progress Half way]]", { name: "progress", parts: ["Half way"] }],
    ["[[plan A]]", { name: "plan", parts: ["A"] }],
    ["[[plan Look | Think|Write ]]", { name: "plan", parts: ["Look", "Think", "Write"] }],
    ["[[step]]", { name: "step", parts: [""] }],
    ["[[plain]]", { name: "plain", parts: [""] }],
    ["[[tool browser]]", { name: "tool", parts: ["browser"] }],
    ["[[tool browser |]]", { name: "tool", parts: ["browser", ""] }],
    ["[[tool code_executor | rollback]]", { name: "tool", parts: ["code_executor", "rollback"] }],
    ["[[credits 1000000]]", { name: "credits", parts: ["1000000"] }],
    ["[[value 1]]", { name: "value", parts: ["1"] }],
    ["[[value [[1, 2], [3]]]]", { name: "value", parts: ["[[1, 2], [3]]"] }],
    [
      '[[value {"a": "]]", "b": [[]], "[[c": "\\"]]"}]]',
      { name: "value", parts: ['{"a": "]]", "b": [[]], "[[c": "\\"]]"}'] },
    ],
    ['[[value "|"]]', { name: "value", parts: ['"|"'] }],
    [`[[value ${deep(100)}]]`, { name: "value", parts: [deep(100)] }],
    ["[[sleep 0]]", { name: "sleep", parts: ["0"] }],
    ["[[sleep 1.5]]", { name: "sleep", parts: ["1.5"] }],
    ["[[sleep 86400]]", { name: "sleep", parts: ["86400"] }],
    ["[[ask Which?]]", { name: "ask", parts: ["Which?"] }],
    ["[[ask Which? | Red | Blue]]", { name: "ask", parts: ["Which?", "Red", "Blue"] }],
    ["[[confirm terminalExecute]]", { name: "confirm", parts: ["terminalExecute"] }],
    ["[[confirm webdevRunAction]]", { name: "confirm", parts: ["webdevRunAction"] }],
    ["[[confirm webdevRunAction | deploy]]", { name: "confirm", parts: ["webdevRunAction", "deploy"] }],
    ["[[fail quota_limit]]", { name: "fail", parts: ["quota_limit"] }],
    ["[[fail quota_limit |]]", { name: "fail", parts: ["quota_limit", ""] }],
    ["[[fail timeout | Too slow | really]]", { name: "fail", parts: ["timeout", "Too slow | really"] }],
    ["[[forever]]", { name: "forever", parts: [""] }],
    ["[[fault status=503 ;times=2]]", { name: "fault", parts: ["status=503 ;times=2"] }],
    [
      "[[fault cut-event=3; after-commit; delay=0.5; skip=1]]",
      { name: "fault", parts: ["cut-event=3; after-commit; delay=0.5; skip=1"] },
    ],
    ["[[ crash ]]", { name: "crash", parts: [""] }],
  ])("%j is read", (text, directive) => {
    expect(directivesIn(`Before ${text} after`)).toEqual([directive]);
    expect(readDirectives(`Before ${text} after`)).toMatchObject({ prose: "Before  after" });
  });

  test.each(confirmable)("confirm %s %s is read", (kind, variant) => {
    expect(directivesIn(`[[confirm ${kind}${variant && ` | ${variant}`}]]`)).toEqual([
      { name: "confirm", parts: variant ? [kind, variant] : [kind] },
    ]);
  });
});

describe("a malformed directive", () => {
  test.each<[text: string, rule: RegExp]>([
    ["[[say]]", /say needs a text/],
    ["[[think ]]", /think needs a text/],
    ["[[progress]]", /progress needs a text/],
    ["[[subtask ]]", /subtask needs a text/],
    ["[[subtask [[say A]]", /a directive ends with ]]/],
    ["[[wait]]", /wait needs all or any/],
    ["[[wait all | 0]]", /wait needs all or any, and may have seconds after \|/],
    ["[[wait all | 604801]]", /wait needs all or any/],
    ["[[say ", /ends with \]\]/],
    ["[[say a [[crash]]", /cannot be inside another/],
    [
      "[[]]",
      /an empty directive is not a directive: use one of say, stream, think, progress, plan, step, tool, credits, file, subtask, site, value, plain, sleep, ask, confirm, schedule, wait, fail/,
    ],
    ["[[jump 3]]", /jump is not a directive/],
    ["[[SAY hi]]", /SAY is not a directive/],
    ["[[constructor]]", /constructor is not a directive/],
    [`[[${"😀".repeat(50)}]]`, /: (😀){40} is not a directive/u],
    ["[[site Tea]]", /site needs a title of 1 to 255 characters, and HTML after \|/],
    [`[[site ${"x".repeat(256)} | a]]`, /site needs a title/],
    ["[[file a.txt]]", /file needs a name, and its content after \|/],
    ["[[file a.txt | ]]", /file needs a name, and its content after \|/],
    ["[[file | Hello]]", /file needs a name, and its content after \|/],
    ["[[file ../a.txt | Hello]]", /file: the name: must be a name, not a path/],
    ["[[file a.exe | Hello]]", /file: the name: executables and scripts are not accepted/],
    ["[[file a\u202etxt.pdf | Hello]]", /file: the name: must not hold control or bidirectional characters/],
    [
      "[[file aaaaaa.txt | Hello]]".replace("aaaaaa", "a".repeat(300)),
      /file: the name: must be at most 255 bytes/,
    ],
    ["[[plan]]", /plan needs 1 to 50 titles/],
    ["[[plan A || B]]", /plan needs 1 to 50 titles/],
    [`[[plan ${"a|".repeat(50)}a]]`, /plan needs 1 to 50 titles/],
    [`[[plan A | ${"b".repeat(201)}]]`, /each with 1 to 200 characters/],
    ["[[step 2]]", /step takes no argument/],
    ["[[step]]", /step needs a plan before it/],
    ["[[step]] [[plan A]]", /step needs a plan before it/],
    ["[[tool]]", /tool needs a name in snake case/],
    ["[[tool Browser]]", /tool needs a name in snake case/],
    [`[[tool ${"a".repeat(65)}]]`, /tool needs a name in snake case/],
    ["[[tool browser | pending_confirmation]]", /may have success, error, rollback after \|/],
    ["[[tool browser | success | more]]", /may have success, error, rollback after \|/],
    ["[[credits]]", /credits needs a whole number from 1 to 1000000/],
    ["[[credits 0]]", /credits needs a whole number/],
    ["[[credits -1]]", /credits needs a whole number/],
    ["[[credits 1.5]]", /credits needs a whole number/],
    ["[[credits 1000001]]", /credits needs a whole number/],
    ["[[value]]", /value needs one JSON value/],
    ["[[value nothing]]", /value needs one JSON value/],
    ["[[value {} {}]]", /value needs one JSON value/],
    ["[[value 1e999]]", /value needs one JSON value/],
    ['[[value "\\u0000"]]', /value needs one JSON value/],
    ['[[value {"\\ud800": 1}]]', /value needs one JSON value/],
    ["[[value {]}]]", /value needs one JSON value/],
    [`[[value ${deep(101)}]]`, /at most 100 levels deep/],
    ['[[value "]]', /ends with \]\]/],
    ["[[value [1]]", /ends with \]\]/],
    ["[[sleep]]", /sleep needs seconds/],
    ["[[sleep soon]]", /sleep needs seconds/],
    ["[[sleep -1]]", /sleep needs seconds/],
    ["[[sleep 86401]]", /from 0 to 86400/],
    ["[[sleep 1 | 2]]", /sleep needs seconds/],
    ["[[ask]]", /ask needs a question/],
    ["[[ask | Red]]", /ask needs a question/],
    ["[[ask Which? | ]]", /up to 20 options, each after a \| and not empty/],
    [`[[ask Which?${"| a".repeat(21)}]]`, /up to 20 options/],
    [
      "[[confirm]]",
      /nothing is not a kind of confirmation: use one of needConnectMyBrowser, gmailSendAction,/,
    ],
    ["[[confirm terminal]]", /terminal is not a kind of confirmation/],
    ["[[confirm toString]]", /toString is not a kind of confirmation/],
    ["[[confirm messageAskUser]]", /messageAskUser is a question: use ask/],
    ["[[confirm cascadeAskUser]]", /cascadeAskUser is a question: use ask/],
    ["[[confirm deployAction | deploy]]", /deployAction has no variants/],
    ["[[confirm webdevRunAction | walk]]", /webdevRunAction has the variants run, deploy/],
    ["[[fail]]", /fail needs an error type/],
    ["[[fail Quota Limit]]", /fail needs an error type/],
    ["[[fail | text]]", /fail needs an error type/],
    ["[[forever 3]]", /forever takes no argument/],
    ["[[crash now]]", /crash takes no argument/],
    ["[[fault]]", /fault needs words with ; between them: status=503,/],
    ["[[fault explode]]", /fault needs words/],
    ["[[fault status=200]]", /fault needs words/],
    ["[[fault delay=61]]", /fault needs words/],
    ["[[fault reset=1]]", /fault needs words/],
    ["[[fault reset, times=2]]", /fault needs words/],
    ["[[fault times=2]]", /fault needs words/],
    ["[[fault bad-signature]]", /fault needs words/],
  ])("%s is a fault that names its position and rule, and nothing before it was done", async (text, rule) => {
    const { events, outcome } = await playTurn(`[[say ok]] then ${text}`);
    expect(events).toEqual([]);
    expect(outcome).toMatchObject({
      kind: "fail",
      errorType: "invalid_directive",
      content: expect.stringMatching(/^at position 16: /),
    });
    expect(outcome).toMatchObject({ content: expect.stringMatching(rule) });
  });

  test("names the message that contains it", async () => {
    expect(await answerOf(["[[say a", "b]]"])).toBe(
      "message 1 of 2, at position 0: a directive ends with ]]",
    );
    expect(await answerOf(["fine", "not [[so]]"])).toMatch(
      /^message 2 of 2, at position 4: so is not a directive/,
    );
  });

  test("is a step beyond the plan's last, in any message", async () => {
    expect(await answerOf("[[plan A]] [[step]] [[step]] [[step]]")).toBe(
      "at position 29: the plan has no more steps",
    );
    expect(await answerOf(["[[plan A]] [[step]]", "[[step]]"])).toBe("Done.");
    expect(await answerOf(["[[plan A]] [[step]]", "[[step]] [[step]]"])).toBe(
      "message 2 of 2, at position 9: the plan has no more steps",
    );
    expect(await answerOf("[[plan A]] [[step]] [[step]] [[plan B]] [[step]] [[step]]")).toBe("Done.");
  });

  test("is a directive beyond the limit: the directives of a turn have a total length", async () => {
    const long = `[[say ${"a".repeat(19_000)}]]`;
    expect(await answerOf(Array.from({ length: 5 }, () => long))).toBe("a".repeat(19_000));
    expect(await answerOf(Array.from({ length: 6 }, () => long))).toBe(
      "message 6 of 6, at position 0: the directives of a turn, with those left from the previous turn, may have at most 100000 characters",
    );
  });
});
