import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import type { Decided, GivenSkill, Outcome, Turn } from "../../src/runtime/agent.ts";
import { movableClock } from "../support/clock.ts";
import { accepted, afterAsking, anyDirective, plansIn, printed, saidIn, turnOf } from "./offline-turn.ts";

/** Directives whose steps have a plan, and which do not go on for ever. */
const script = fc
  .array(
    fc.oneof(
      anyDirective.filter(({ name }) => !["forever", "step", "ask", "fail"].includes(name)).map(printed),
      fc.constantFrom("[[plan A | B]] [[step]]", "[[plan C]] [[step]] [[step]]", "[[plan D | E]]"),
    ),
    { maxLength: 12 },
  )
  .chain((parts) =>
    fc
      .constantFrom("", "[[fail internal]]", "[[ask Q | A]] [[say b]]", "Tell me about owls. And cats")
      .map((end) => `${parts.join(" ")} ${end}`),
  );

/** Without the times of steps, which go by the clock. */
const timeless = (events: readonly NewEvent[]): unknown =>
  JSON.parse(JSON.stringify(events, (name, value) => (name === "startedAt" || name === "endAt" ? undefined : value)));

/** Runs a turn to its end: lost where it crashes, decided where it asks for approval. */
async function wholeTurn(
  text: string,
): Promise<{ readonly events: readonly NewEvent[]; readonly outcome: Outcome; readonly decisions: readonly Decided[] }> {
  const decisions: Decided[] = [];
  let written: readonly NewEvent[] = [];
  for (let claim = 1; ; claim++) {
    const { events, outcome } = await turnOf(text, { decisions, written, claim, clock: movableClock(1_790_000_000_000 + claim * 60_000) });
    expect(events.slice(0, written.length)).toEqual(written);
    written = events;
    if (outcome.kind === "confirm") decisions.push({ kind: outcome.action, accepted: claim % 2 === 0, input: {} });
    else if (outcome.kind !== "abandon") return { events, outcome, decisions };
  }
}

describe("a turn that is resumed", () => {
  test("tells the same again wherever it was cut: what is written to the letter, what follows but for its times", async () => {
    const same = fc.asyncProperty(script, async (text) => {
      const { events, outcome, decisions } = await wholeTurn(text);
      for (let cut = 0; cut <= events.length; cut++) {
        const clock = movableClock(1_800_000_000_000);
        const again = await turnOf(text, { decisions, written: events.slice(0, cut), claim: 9, clock });
        expect(again.events.slice(0, cut)).toEqual(events.slice(0, cut));
        expect(timeless(again.events)).toEqual(timeless(events));
        expect(again.outcome.kind).toBe(outcome.kind);
        if (outcome.kind !== "ask") expect(again.outcome).toEqual(outcome);
      }
    });
    await fc.assert(same);
  });

  test("tells the same again when the skills that it was forced to use are gone, or others are forced meanwhile", async () => {
    const skill = (id: string): GivenSkill => ({
      ...{ id, name: id, description: "", forced: true },
      list: async () => [{ path: "SKILL.md", bytes: 1 }],
      read: async () => Buffer.from("x"),
    });
    const text = "[[tool use_skill | success]] [[say one]] [[tool look | success]] [[say two]]";
    const clock = movableClock();
    for (const forced of [[], ["a"], ["a", "b"]]) {
      const whole = await turnOf(text, { skills: forced.map(skill), clock });
      for (const now of [[], ["a"], ["b"], ["c", "a", "b"]])
        for (let cut = forced.length + 1; cut <= whole.events.length; cut++) {
          const again = await turnOf(text, { skills: now.map(skill), written: whole.events.slice(0, cut), claim: 2, clock });
          expect(again.events).toEqual(whole.events);
        }
    }
    // Cut among them it goes on with those that are left.
    const { events } = await turnOf(text, { skills: ["a", "b"].map(skill), clock });
    const again = await turnOf(text, { skills: ["b", "a"].map(skill), written: events.slice(0, 1), claim: 2, clock });
    expect(again.events).toEqual(events);
  });

  test("keeps the time at which a step began, and ends it by the clock", async () => {
    const text = "[[plan A]] [[step]] [[crash]]";
    const first = await turnOf(text, { clock: movableClock(1_790_000_000_000) });
    const second = await turnOf(text, { clock: movableClock(1_790_000_060_000), written: first.events, claim: 2 });
    expect(second.events.slice(0, first.events.length)).toEqual(first.events);
    expect(plansIn(second.events).at(-1)).toEqual([{ title: "A", status: "done", startedAt: 1_790_000_000, endAt: 1_790_000_060 }]);
  });

  test.each<[text: string, more: Partial<Turn>, slept: number]>([
    ["[[sleep 5]] [[say one]] [[sleep 7]] [[say two]]", {}, 12_000],
    ["[[sleep 5]] [[say one]] [[sleep 7]] [[say two]]", { written: [{ type: "assistant_message", payload: { content: "one" } }] }, 7_000],
    ["[[sleep 5]] [[confirm deployAction]] [[sleep 7]]", { decisions: [accepted] }, 7_000],
  ])("%s does not sleep again what it has slept (%#)", async (text, more, slept) => {
    const clock = movableClock();
    const begun = clock.monotonic();
    await turnOf(text, { ...more, claim: 2, clock });
    expect(clock.monotonic() - begun).toBe(slept);
  });
});

describe("the turn that answers a question", () => {
  test("does first what was left, then what the answer says", async () => {
    const { events, outcome } = await afterAsking("[[say one]] [[ask Which?]] [[say two]] [[sleep 1]] [[say three]]", "[[say four]] Red");
    expect(saidIn(events)).toEqual(["two", "three", "four"]);
    expect(outcome).toMatchObject({ kind: "finish", content: expect.stringContaining("You wrote: Red") });
  });

  test("has no work of its own where the message before it was ordered", async () => {
    expect((await afterAsking("[[ask Which?]]", "Red or blue")).events).toEqual([]);
  });

  test("answers both messages, and follows what came before them", async () => {
    const earlier = [{ role: "user", content: "Tell me about tea" }] as const;
    const { outcome } = await turnOf("Tell me about owls [[ask Which?]]", { earlier });
    const memo = outcome.kind === "ask" ? outcome.memo : null;
    const more = { memo, earlier: [...earlier, { role: "user", content: "Tell me about owls [[ask Which?]]" }] as const };
    const content = (await turnOf("Barn owls", more)).outcome;
    expect(content).toMatchObject({ content: expect.stringContaining("1. Tell me about owls\n2. Barn owls") });
    expect(content).toMatchObject({ content: expect.stringContaining("Before this you wrote: Tell me about tea") });
  });

  test("asks again what was left to be asked, question by question", async () => {
    const { outcome } = await afterAsking("[[ask One?]] [[ask Two?]] [[say done]]", "[[say one]]");
    expect(outcome).toMatchObject({ kind: "ask", content: "Two?" });
    const last = await turnOf("[[say two]]", { memo: outcome.kind === "ask" ? outcome.memo : null });
    expect(saidIn(last.events)).toEqual(["done", "one"]);
    expect(last.outcome).toMatchObject({ content: "two" });
  });

  test("goes on with the plan, its times and its numbers", async () => {
    const text = "[[plan A | B]] [[step]] [[ask Go on?]] [[step]]";
    const { events } = await afterAsking(text, "Yes [[step]]", { clock: movableClock(1_790_000_000_000) });
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
        payload: { steps: [{ status: "done" }, { status: "done", endAt: at }].map((step) => expect.objectContaining(step)) },
      },
    ]);
  });

  test("knows how many steps are left: one too many is a fault, and the step under way has failed", async () => {
    const { events, outcome } = await afterAsking("[[plan A]] [[step]] [[ask Go on?]]", "[[step]] [[step]]");
    expect(outcome).toMatchObject({ errorType: "invalid_directive", content: "at position 9: the plan has no more steps" });
    expect(plansIn(events)).toEqual([[expect.objectContaining({ title: "A", status: "failed" })]]);
  });

  test("has the value in force, unless it gives another", async () => {
    const asking = '[[value {"a": [1, "]]"]}]] [[ask Go on?]]';
    expect((await afterAsking(asking, "Yes")).outcome).toMatchObject({ output: { a: [1, "]]"] } });
    expect((await afterAsking(asking, "[[value 2]]")).outcome).toMatchObject({ output: 2 });
  });

  test("does what any script left exactly as a turn of its own would", async () => {
    const left = fc.asyncProperty(script, async (rest) => {
      const text = `[[say one]] ${rest}`;
      const [after, alone] = [await afterAsking(`[[ask Q]] ${text}`, ""), await turnOf(text)];
      const withoutIds = (events: readonly NewEvent[]) => JSON.stringify(events).replace(/"actionId":"\w+"/g, "");
      expect(withoutIds(after.events)).toBe(withoutIds(alone.events));
      expect(after.credits).toBe(alone.credits);
      expect(after.outcome.kind === "ask" ? { ...after.outcome, memo: null } : after.outcome).toEqual(
        alone.outcome.kind === "ask" ? { ...alone.outcome, memo: null } : alone.outcome,
      );
    });
    await fc.assert(left);
  });

  test.each([
    [{ form: "another", left: "[[say one]]" }],
    [["[[say one]]"]],
    ["[[say one]]"],
    [7],
  ])("drops what another agent left: %j", async (memo) => {
    const { events, outcome } = await turnOf("[[say two]]", { memo });
    expect(saidIn(events)).toEqual([]);
    expect(outcome).toEqual({ kind: "finish", content: "two", files: [] });
  });

  test("cannot be made to carry more and more: the directives of all messages have a length together", async () => {
    const question = `[[ask ${"Q".repeat(18_000)}]]`;
    let memo: Turn["memo"] = null;
    for (let turn = 1; turn <= 5; turn++) {
      const { outcome } = await turnOf(`${question} ${question}`, { memo });
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
