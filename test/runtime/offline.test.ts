import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { movableClock } from "../support/clock.ts";
import { answerOf, answerTurn, anyText, plansIn, playTurn } from "./offline-turn.ts";

describe("an answer", () => {
  test("is the same for the same turn, as are all events before it", async () => {
    const same = fc.asyncProperty(anyText, fc.string(), async (text, instruction) => {
      const earlier = [{ role: "user", content: text }] as const;
      expect(await playTurn(text, { instruction, earlier })).toEqual(
        await playTurn(text, { instruction, earlier }),
      );
    });
    await fc.assert(same);
  });

  test("reacts to any text with an end, a question, or a fault of a directive", async () => {
    const ends = fc.asyncProperty(anyText, async (text) => {
      const { outcome } = await playTurn(text);
      expect(outcome).toMatchObject(
        outcome.kind === "fail"
          ? { errorType: "invalid_directive" }
          : { kind: expect.stringMatching(/^(finish|ask)$/), content: expect.stringMatching(/./) },
      );
    });
    await fc.assert(ends);
  });

  test("repeats the request on one line, and states plainly what it is", async () => {
    expect(await answerOf("Compare tea and coffee. Then:\n- choose one")).toBe(
      "You wrote: Compare tea and coffee. Then: - choose one\nThis is the offline agent: it calls no model. Its guide has the directives that choose what happens.",
    );
  });

  test("leaves out the request and the skills after plain", async () => {
    const fail = () => Promise.reject(new Error("unused"));
    const skills = [
      { id: "s", name: "Owls", description: "", forced: false, list: async () => [], read: fail, open: fail },
    ];
    expect(await answerOf("Tell me about owls", { skills })).toMatch(/You wrote: .*Available skills: Owls/s);
    expect(await answerOf("Tell me about 3 + 4 owls [[plain]]", { skills })).toMatch(/^3 \+ 4 = 7\nThis is/);
    expect(await answerOf("[[plain]] [[think hm]]", { skills })).toBe("Done.");
  });

  test("names the project's instruction and earlier user messages, without directives", async () => {
    const earlier = [
      { role: "user", content: "[[say hm]] Tell me about owls" },
      { role: "assistant", content: "Owls are birds" },
    ] as const;
    const text = await answerOf("And cats?", { instruction: "Be brief.", earlier });
    expect(text).toContain("The instruction for this task: Be brief.");
    expect(text).toContain("Before this you wrote: Tell me about owls");
    expect(await answerOf("And cats?")).not.toMatch(/instruction|Before this/);
  });

  test("cuts long texts", async () => {
    expect(await answerOf("x".repeat(300))).toContain(`You wrote: ${"x".repeat(199)}…`);
  });

  test("combines the messages of a turn", async () => {
    expect(await answerOf(["Tell me about cats", "And about dogs"])).toContain(
      "You wrote: Tell me about cats And about dogs",
    );
  });
});

describe("a plan", () => {
  test.each([
    ["Tell me about owls", ["Read the request", "Write the answer"]],
    ["One. Two.", ["Read the request", "Write the answer"]],
  ])("for %j has the steps %j, each reported as it begins", async (text, titles) => {
    const { events } = await playTurn(text);
    const begun = events.flatMap((event) => (event.type === "new_plan_step" ? [event.payload] : []));
    expect(begun).toEqual(titles.map((title, i) => ({ stepId: `step_${i + 1}`, title })));
    expect(plansIn(events).map((steps) => steps.map(({ status }) => status))).toEqual(
      [...titles, "end"].map((_, at) =>
        titles.map((_, i) => (i < at ? "done" : i === at ? "doing" : "todo")),
      ),
    );
    expect(events.filter(({ type }) => type === "explanation")).toHaveLength(titles.length);
  });

  test("has a start time once a step began, an end time once it ended, in seconds and in order", async () => {
    const clock = movableClock();
    const now = () => {
      clock.pass(1_000);
      return clock.now();
    };
    const ticking: Clock = { ...clock, now };
    const [first, , last] = plansIn((await playTurn("Tell me about owls", { clock: ticking })).events);
    expect(first).toMatchObject([{ startedAt: 1_790_000_001 }, { status: "todo" }]);
    expect(first?.[0]).not.toHaveProperty("endAt");
    expect(first?.[1]).not.toHaveProperty("startedAt");
    expect(last).toMatchObject([
      { startedAt: 1_790_000_001, endAt: 1_790_000_002 },
      { startedAt: 1_790_000_002, endAt: 1_790_000_003 },
    ]);
  });
});

describe("an unclear request", () => {
  const interactive = true;

  test.each([
    "",
    "Hi",
    "Tea please",
    "漢字",
    "…!",
  ])("%j leads to one question, where the user is interactive", async (text) => {
    const { events, outcome } = await playTurn(text, { interactive });
    expect(events).toEqual([]);
    expect(outcome).toMatchObject({ kind: "ask", options: ["Do your best with it"] });
    expect(await answerOf(text, { interactive })).toBe(
      text === "" ? "What would you like me to do?" : `What would you like me to do with “${text}”?`,
    );
    expect((await answerTurn(text, "Yes", { interactive })).outcome).toMatchObject({ kind: "finish" });
  });

  test("is answered together with the reply, as new work", async () => {
    const { events, outcome } = await answerTurn("Tea please", "Compare green and black tea.", {
      interactive,
    });
    expect(plansIn(events)[0]).toHaveLength(2);
    expect(outcome).toMatchObject({
      content: expect.stringContaining("You wrote: Tea please Compare green and black tea."),
    });
    expect(outcome).toMatchObject({ content: expect.not.stringContaining("Before this you wrote") });
  });

  test("may be answered by directives", async () => {
    const { events, outcome } = await answerTurn("Hi", "[[say one]]", { interactive });
    expect(events).toEqual([{ type: "assistant_message", payload: { content: "one" } }]);
    expect(outcome).toMatchObject({ kind: "finish", content: expect.stringContaining("You wrote: Hi") });
  });

  test.each([
    ["three words are enough", "Tell about owls", { interactive }],
    ["words need not be separated by blanks", "帮我写一份关于猫头鹰的报告", { interactive }],
    ["directives are clear", "[[say one]]", { interactive }],
    ["without interactive mode the agent decides itself", "Hi", {}],
    ["the messages of a turn count together", ["Tell", "about", "owls"], { interactive }],
  ])("is not present: %s", async (_, messages, more) => {
    expect((await playTurn(messages, more)).outcome).toMatchObject({ kind: "finish" });
  });
});
