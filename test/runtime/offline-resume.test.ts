import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import type { Decision, Outcome, Turn, TurnSkill } from "../../src/runtime/agent.ts";
import { movableClock } from "../support/clock.ts";
import {
  acceptance,
  answerTurn,
  anyDirective,
  plansIn,
  playTurn,
  printDirective,
  type TurnParts,
  textsIn,
} from "./offline-turn.ts";

/** Directives whose steps have a plan, without endless ones. */
const script = fc
  .array(
    fc.oneof(
      anyDirective
        .filter(({ name }) => !["forever", "step", "ask", "fail"].includes(name))
        .map(printDirective),
      fc.constantFrom("[[plan A | B]] [[step]]", "[[plan C]] [[step]] [[step]]", "[[plan D | E]]"),
    ),
    { maxLength: 12 },
  )
  .chain((parts) =>
    fc
      .constantFrom("", "[[fail internal]]", "[[ask Q | A]] [[say b]]", "Tell me about owls. And cats")
      .map((end) => `${parts.join(" ")} ${end}`),
  );

/** Without the times of steps, which depend on the clock. */
const timeless = (events: readonly NewEvent[]): unknown =>
  JSON.parse(
    JSON.stringify(events, (name, value) => (name === "startedAt" || name === "endAt" ? undefined : value)),
  );

/** Runs a turn to its end: resumed where it crashes, approved where it asks. */
async function wholeTurn(text: string): Promise<{
  readonly events: readonly NewEvent[];
  readonly outcome: Outcome;
  readonly decisions: readonly Decision[];
}> {
  const decisions: Decision[] = [];
  let written: readonly NewEvent[] = [];
  for (let claim = 1; ; claim++) {
    const { events, outcome } = await playTurn(text, {
      decisions,
      written,
      claim,
      clock: movableClock(1_790_000_000_000 + claim * 60_000),
    });
    expect(events.slice(0, written.length)).toEqual(written);
    written = events;
    if (outcome.kind === "confirm")
      decisions.push({ kind: outcome.action, accepted: claim % 2 === 0, input: {} });
    else if (outcome.kind !== "abandon") return { events, outcome, decisions };
  }
}

describe("a turn that is resumed", () => {
  test("sends the same events after a cut at any event: stored ones unchanged, later ones except for times", async () => {
    const same = fc.asyncProperty(script, async (text) => {
      const { events, outcome, decisions } = await wholeTurn(text);
      for (let cut = 0; cut <= events.length; cut++) {
        const clock = movableClock(1_800_000_000_000);
        const again = await playTurn(text, { decisions, written: events.slice(0, cut), claim: 9, clock });
        expect(again.events.slice(0, cut)).toEqual(events.slice(0, cut));
        expect(timeless(again.events)).toEqual(timeless(events));
        expect(again.outcome.kind).toBe(outcome.kind);
        if (outcome.kind !== "ask") expect(again.outcome).toEqual(outcome);
      }
    });
    await fc.assert(same);
  });

  test("sends the same events when its forced skills are gone, or others are forced in the meantime", async () => {
    const skill = (id: string): TurnSkill => ({
      ...{ id, name: id, description: "", forced: true },
      list: async () => [{ path: "SKILL.md", bytes: 1 }],
      read: async () => Buffer.from("x"),
    });
    const text = "[[tool use_skill | success]] [[say one]] [[tool look | success]] [[say two]]";
    const clock = movableClock();
    for (const forced of [[], ["a"], ["a", "b"]]) {
      const whole = await playTurn(text, { skills: forced.map(skill), clock });
      for (const now of [[], ["a"], ["b"], ["c", "a", "b"]])
        for (let cut = forced.length + 1; cut <= whole.events.length; cut++) {
          const again = await playTurn(text, {
            skills: now.map(skill),
            written: whole.events.slice(0, cut),
            claim: 2,
            clock,
          });
          expect(again.events).toEqual(whole.events);
        }
    }
    // Cut among them, it continues with the remaining ones.
    const { events } = await playTurn(text, { skills: ["a", "b"].map(skill), clock });
    const again = await playTurn(text, {
      skills: ["b", "a"].map(skill),
      written: events.slice(0, 1),
      claim: 2,
      clock,
    });
    expect(again.events).toEqual(events);
  });

  test("keeps the time at which a step began, and the clock's time as its end", async () => {
    const text = "[[plan A]] [[step]] [[crash]]";
    const first = await playTurn(text, { clock: movableClock(1_790_000_000_000) });
    const second = await playTurn(text, {
      clock: movableClock(1_790_000_060_000),
      written: first.events,
      claim: 2,
    });
    expect(second.events.slice(0, first.events.length)).toEqual(first.events);
    expect(plansIn(second.events).at(-1)).toEqual([
      { title: "A", status: "done", startedAt: 1_790_000_000, endAt: 1_790_000_060 },
    ]);
  });

  test.each<[text: string, more: TurnParts, slept: number]>([
    ["[[sleep 5]] [[say one]] [[sleep 7]] [[say two]]", {}, 12_000],
    [
      "[[sleep 5]] [[say one]] [[sleep 7]] [[say two]]",
      { written: [{ type: "assistant_message", payload: { content: "one" } }] },
      7_000,
    ],
    ["[[sleep 5]] [[confirm deployAction]] [[sleep 7]]", { decisions: [acceptance] }, 7_000],
  ])("%s does not repeat the part of a sleep that has passed (%#)", async (text, more, slept) => {
    const clock = movableClock();
    const begun = clock.monotonic();
    await playTurn(text, { ...more, claim: 2, clock });
    expect(clock.monotonic() - begun).toBe(slept);
  });
});

describe("the turn that answers a question", () => {
  test("does the remaining work first, then the answer's", async () => {
    const { events, outcome } = await answerTurn(
      "[[say one]] [[ask Which?]] [[say two]] [[sleep 1]] [[say three]]",
      "[[say four]] Red",
    );
    expect(textsIn(events)).toEqual(["two", "three"]);
    expect(outcome).toMatchObject({ kind: "finish", content: "four" });
  });

  test.each([
    ["[[ask Which?]] [[say lesson]]", [], "lesson"],
    ["[[ask Which?]] [[say one]] [[stream lesson]]", ["one"], "lesson"],
    [
      "Teach me [[ask Which?]] [[say lesson]]",
      ["lesson"],
      expect.stringContaining("You wrote: Teach me go on"),
    ],
    ["[[ask Which?]]", [], expect.stringContaining("You wrote: go on")],
  ])("has the last say as its result, for each answer, where the message before it had only directives: %s", async (asking, texts, content) => {
    const { events, outcome } = await answerTurn(asking, "go on");
    expect([textsIn(events), outcome]).toMatchObject([texts, { kind: "finish", content }]);
  });

  test("has the result of a script also after a second question", async () => {
    const { outcome } = await answerTurn("[[ask One?]] [[ask Two?]] [[say done]]", "first");
    const last = await playTurn("second", { memo: outcome.kind === "ask" ? outcome.memo : null });
    expect([textsIn(last.events), last.outcome]).toMatchObject([[], { content: "done" }]);
  });

  test("stays plain", async () => {
    const { outcome } = await answerTurn("[[plain]] [[ask Which?]]", "Red");
    expect(outcome).toMatchObject({ content: expect.not.stringContaining("You wrote") });
  });

  test("plans no work itself where the message before it had directives", async () => {
    expect((await answerTurn("[[ask Which?]]", "Red or blue")).events).toEqual([]);
  });

  test("answers both messages, and follows those before them", async () => {
    const earlier = [{ role: "user", content: "Tell me about tea" }] as const;
    const { outcome } = await playTurn("Tell me about owls [[ask Which?]]", { earlier });
    const memo = outcome.kind === "ask" ? outcome.memo : null;
    const more = {
      memo,
      earlier: [...earlier, { role: "user", content: "Tell me about owls [[ask Which?]]" }] as const,
    };
    const content = (await playTurn("Barn owls", more)).outcome;
    expect(content).toMatchObject({
      content: expect.stringContaining("You wrote: Tell me about owls Barn owls"),
    });
    expect(content).toMatchObject({
      content: expect.stringContaining("Before this you wrote: Tell me about tea"),
    });
  });

  test("repeats the remaining questions one by one", async () => {
    const { outcome } = await answerTurn("[[ask One?]] [[ask Two?]] [[say done]]", "[[say one]]");
    expect(outcome).toMatchObject({ kind: "ask", content: "Two?" });
    const last = await playTurn("[[say two]]", { memo: outcome.kind === "ask" ? outcome.memo : null });
    expect(textsIn(last.events)).toEqual(["done", "one"]);
    expect(last.outcome).toMatchObject({ content: "two" });
  });

  test("continues the plan, with its times and numbers", async () => {
    const text = "[[plan A | B]] [[step]] [[ask Go on?]] [[step]]";
    const { events } = await answerTurn(text, "Yes [[step]]", { clock: movableClock(1_790_000_000_000) });
    const at = 1_790_000_000;
    expect(events).toEqual([
      {
        type: "plan_update",
        payload: {
          steps: [
            { title: "A", status: "done", startedAt: at, endAt: at },
            { title: "B", status: "doing", startedAt: at },
          ],
        },
      },
      { type: "new_plan_step", payload: { stepId: "step_2", title: "B" } },
      {
        type: "plan_update",
        payload: {
          steps: [{ status: "done" }, { status: "done", endAt: at }].map((step) =>
            expect.objectContaining(step),
          ),
        },
      },
    ]);
  });

  test("knows the remaining steps: one too many is a fault, and the current step has failed", async () => {
    const { events, outcome } = await answerTurn("[[plan A]] [[step]] [[ask Go on?]]", "[[step]] [[step]]");
    expect(outcome).toMatchObject({
      errorType: "invalid_directive",
      content: "at position 9: the plan has no more steps",
    });
    expect(plansIn(events)).toEqual([[expect.objectContaining({ title: "A", status: "failed" })]]);
  });

  test("keeps the value, unless it sets another", async () => {
    const asking = '[[value {"a": [1, "]]"]}]] [[ask Go on?]]';
    expect((await answerTurn(asking, "Yes")).outcome).toMatchObject({ output: { a: [1, "]]"] } });
    expect((await answerTurn(asking, "[[value 2]]")).outcome).toMatchObject({ output: 2 });
  });

  test("does the remainder of any script exactly as a separate turn would", async () => {
    const equalRemainder = fc.asyncProperty(script, async (remaining) => {
      const text = `[[say one]] ${remaining}`;
      const [after, alone] = [await answerTurn(`[[ask Q]] ${text}`, ""), await playTurn(text)];
      const withoutIds = (events: readonly NewEvent[]) =>
        JSON.stringify(events).replace(/"actionId":"\w+"/g, "");
      expect(withoutIds(after.events)).toBe(withoutIds(alone.events));
      expect(after.credits).toBe(alone.credits);
      expect(after.outcome.kind === "ask" ? { ...after.outcome, memo: null } : after.outcome).toEqual(
        alone.outcome.kind === "ask" ? { ...alone.outcome, memo: null } : alone.outcome,
      );
    });
    await fc.assert(equalRemainder);
  });

  test.each([
    [{ form: "another", left: "[[say one]]" }],
    [["[[say one]]"]],
    ["[[say one]]"],
    [7],
  ])("drops the memo of another agent: %j", async (memo) => {
    const { events, outcome } = await playTurn("[[say two]]", { memo });
    expect(textsIn(events)).toEqual([]);
    expect(outcome).toEqual({ kind: "finish", content: "two", files: [] });
  });

  test("cannot carry an unlimited memo: the directives of all messages have a total length", async () => {
    const question = `[[ask ${"Q".repeat(18_000)}]]`;
    let memo: Turn["memo"] = null;
    for (let turn = 1; turn <= 5; turn++) {
      const { outcome } = await playTurn(`${question} ${question}`, { memo });
      if (outcome.kind !== "ask") {
        expect(turn).toBe(5);
        expect(outcome).toMatchObject({ kind: "fail", errorType: "invalid_directive" });
        return;
      }
      memo = outcome.memo;
    }
    expect.unreachable();
  });
});
