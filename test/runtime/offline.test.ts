import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import type { NewEvent, PlanStep } from "../../src/core/tasks/event.ts";
import type { Outcome, Turn } from "../../src/runtime/agent.ts";
import { readOrders } from "../../src/runtime/agents/offline/directives.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { sumsIn } from "../../src/runtime/agents/offline/sums.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnEach } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";

/** What the agent does in a turn of this message, alone unless told otherwise. */
async function turnOf(
  messages: string | readonly string[],
  more: Partial<Turn> = {},
): Promise<{ readonly events: readonly NewEvent[]; readonly outcome: Outcome }> {
  const given = typeof messages === "string" ? [messages] : messages;
  const base = {
    taskId: "t",
    title: "",
    locale: "en",
    profile: "manus-1.6",
    instruction: "",
    earlier: [],
    outputSchema: null,
    claim: 1,
    clock: movableClock(),
  };
  const work = offlineAgent({ ...base, messages: given, signal: new AbortController().signal, ...more });
  const events: NewEvent[] = [];
  for (;;) {
    const step = await work.next();
    if (step.done) return { events, outcome: step.value };
    events.push(...step.value);
  }
}

const answerOf = async (messages: string | readonly string[], more: Partial<Turn> = {}): Promise<string> => {
  const { outcome } = await turnOf(messages, more);
  return outcome.kind === "abandon" ? "" : outcome.content;
};

const plansIn = (events: readonly NewEvent[]): readonly (readonly PlanStep[])[] =>
  events.flatMap((event) => (event.type === "plan_update" ? [event.payload.steps] : []));

/** Any text, pieces of directives among it. */
const anyText = fc
  .array(
    fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("[[", "]]", "|", "\n", "say", "sleep 1", "[[say hi]]", "3 + 4", "漢字", "- ")),
  )
  .map((pieces) => pieces.join(""));
const plainText = anyText.filter((text) => !text.includes("[["));

describe("an answer", () => {
  test("is the same for the same turn, and so are all events before it", async () => {
    const same = fc.asyncProperty(anyText, fc.string(), async (text, instruction) => {
      const earlier = [{ role: "user", content: text }] as const;
      expect(await turnOf(text, { instruction, earlier })).toEqual(await turnOf(text, { instruction, earlier }));
    });
    await fc.assert(same);
  });

  test("comes to any text: an end, or a fault of a directive", async () => {
    const ends = fc.asyncProperty(anyText, async (text) => {
      const { outcome } = await turnOf(text);
      expect(outcome).toMatchObject(
        outcome.kind === "fail" ? { errorType: "invalid_directive" } : { kind: "finish", content: expect.stringMatching(/./) },
      );
    });
    await fc.assert(ends);
  });

  test("tells what was asked, point by point, and honestly what it is", async () => {
    expect(await answerOf("Compare tea and coffee. Then:\n- choose one\n2) say why")).toBe(
      [
        "You made 4 points:",
        "1. Compare tea and coffee.",
        "2. Then:",
        "3. choose one",
        "4. say why",
        "Subject: compare, tea, coffee, choose and one.",
        "This is the offline agent: it reads and sorts what you write, and calls no model.",
      ].join("\n"),
    );
    expect(await answerOf("Tell me about owls")).toContain("You wrote: Tell me about owls\nSubject: tell, about and owls.");
  });

  test("names the project's instruction, and what the user wrote before, without its directives", async () => {
    const earlier = [
      { role: "user", content: "[[say hm]] Tell me about owls" },
      { role: "assistant", content: "Owls are birds" },
    ] as const;
    const text = await answerOf("And cats?", { instruction: "Be brief.", earlier });
    expect(text).toContain("The project's instruction for this task: Be brief.");
    expect(text).toContain("Before this you wrote: Tell me about owls");
    expect(await answerOf("And cats?")).not.toMatch(/instruction|Before this/);
  });

  test("cuts what is long, and says how much it left out", async () => {
    const points = Array.from({ length: 25 }, (_, n) => `Point ${n}`).join("\n");
    expect(await answerOf(points)).toContain("You made 25 points:");
    expect(await answerOf(points)).toContain("20. Point 19\n… and 5 more");
    expect(await answerOf("x".repeat(300))).toContain(`You wrote: ${"x".repeat(199)}…`);
  });

  test("says that it speaks English where another language was asked for", async () => {
    expect(await answerOf("Hallo", { locale: "de-DE" })).toContain("It speaks English only, not de-DE.");
    expect(await answerOf("Hello", { locale: "en-GB" })).not.toContain("English");
  });

  test("takes the messages of a turn together", async () => {
    expect(await answerOf(["Tell me about cats", "And about dogs"])).toContain("1. Tell me about cats\n2. And about dogs");
  });
});

describe("a sum", () => {
  test.each([
    ["What is 12 * 4?", "12 * 4 = 48"],
    ["0.1 + 0.2", "0.1 + 0.2 = 0.3"],
    ["10 / 4 and 10 / 3", "10 / 4 = 2.5; 10 / 3 ≈ 3.33333333333"],
    ["5 ÷ 0", "5 ÷ 0 has no result"],
    ["7 - 9, -3 × 2.5", "7 - 9 = -2; -3 × 2.5 = -7.5"],
    ["999999999 * 999999999", "999999999 * 999999999 ≈ 999999998000000000"],
    ["123456.78 * 1000", "123456.78 * 1000 = 123456780"],
  ])("in %j is worked out", (text, found) => expect(sumsIn(text).join("; ")).toBe(found));

  test("is found in a list too, and five at most are worked out", async () => {
    expect(await answerOf("- 3 + 4\n- 5 * 6")).toContain("\n3 + 4 = 7\n5 * 6 = 30\n");
    expect(sumsIn("1 + 1, ".repeat(9))).toHaveLength(5);
  });

  test("is looked for in a time that grows with the text, and no faster", () => {
    const begun = performance.now();
    for (const text of [`${"1 + ".repeat(5_000)}1x`, `${"1+".repeat(10_000)}x`, "1".repeat(20_000), `1${" ".repeat(19_000)}+ x`])
      expect(sumsIn(text)).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(200);
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
  test.each(others)("%j holds none that could be worked out alone", (text) => expect(sumsIn(text)).toEqual([]));
});

describe("a plan", () => {
  test.each([
    ["Tell me about owls", ["Read the request", "Write the answer"]],
    ["One. Two.", ["Read the request", "Go through its points", "Write the answer"]],
  ])("for %j has the steps %j, each told as it begins", async (text, titles) => {
    const { events } = await turnOf(text);
    const begun = events.flatMap((event) => (event.type === "new_plan_step" ? [event.payload] : []));
    expect(begun).toEqual(titles.map((title, i) => ({ stepId: `step_${i + 1}`, title })));
    expect(plansIn(events).map((steps) => steps.map(({ status }) => status))).toEqual(
      [...titles, "end"].map((_, at) => titles.map((_, i) => (i < at ? "done" : i === at ? "doing" : "todo"))),
    );
    expect(events.filter(({ type }) => type === "explanation")).toHaveLength(titles.length);
  });

  test("has a time of begin once a step began, of end once it ended, in seconds and in order", async () => {
    const clock = movableClock();
    const now = () => {
      clock.pass(1_000);
      return clock.now();
    };
    const ticking: Clock = { ...clock, now };
    const [first, , last] = plansIn((await turnOf("Tell me about owls", { clock: ticking })).events);
    expect(first).toMatchObject([{ startedAt: 1_790_000_001 }, { status: "todo" }]);
    expect(first?.[0]).not.toHaveProperty("endAt");
    expect(first?.[1]).not.toHaveProperty("startedAt");
    expect(last).toMatchObject([
      { startedAt: 1_790_000_001, endAt: 1_790_000_002 },
      { startedAt: 1_790_000_002, endAt: 1_790_000_003 },
    ]);
  });
});

describe("directives", () => {
  test("text without [[ has none, and stays what it is", () => {
    fc.assert(
      fc.property(plainText, (text) => {
        expect(readOrders(text)).toEqual({ prose: text.trim(), directives: [] });
      }),
    );
  });

  test.each([
    ["[[say Hello there]]", { name: "say", text: "Hello there" }],
    ["[[say this | that]]", { name: "say", text: "this | that" }],
    ["[[ say\n two\nlines ]]", { name: "say", text: "two\nlines" }],
    ["[[sleep 0]]", { name: "sleep", seconds: 0 }],
    ["[[sleep 1.5]]", { name: "sleep", seconds: 1.5 }],
    ["[[sleep 86400]]", { name: "sleep", seconds: 86_400 }],
    ["[[fail quota_limit]]", { name: "fail", errorType: "quota_limit", text: "Failed as asked." }],
    ["[[fail quota_limit |]]", { name: "fail", errorType: "quota_limit", text: "Failed as asked." }],
    ["[[fail timeout | Too slow | really]]", { name: "fail", errorType: "timeout", text: "Too slow | really" }],
    ["[[forever]]", { name: "forever" }],
    ["[[ crash ]]", { name: "crash" }],
  ])("%j is read", (text, directive) => {
    expect(readOrders(`Before ${text} after`)).toEqual({ prose: "Before  after", directives: [directive] });
  });

  test("are read in order, with the text around them", () => {
    expect(readOrders("One [[say a]] two [[crash]][[say b]] three")).toEqual({
      prose: "One  two  three",
      directives: [{ name: "say", text: "a" }, { name: "crash" }, { name: "say", text: "b" }],
    });
  });

  test.each<[text: string, rule: RegExp]>([
    ["[[say]]", /say needs a text/],
    ["[[say ", /ends with \]\]/],
    ["[[say a [[crash]]", /cannot stand inside another/],
    ["[[]]", /an empty directive is no directive: there are say, sleep, fail, forever, crash/],
    ["[[jump 3]]", /jump is no directive/],
    ["[[SAY hi]]", /SAY is no directive/],
    ["[[constructor]]", /constructor is no directive/],
    ["[[sleep]]", /sleep needs seconds/],
    ["[[sleep soon]]", /sleep needs seconds/],
    ["[[sleep -1]]", /sleep needs seconds/],
    ["[[sleep 86401]]", /from 0 to 86400/],
    ["[[sleep 1 | 2]]", /sleep needs seconds/],
    ["[[fail]]", /fail needs an error type/],
    ["[[fail Quota Limit]]", /fail needs an error type/],
    ["[[fail | text]]", /fail needs an error type/],
    ["[[forever 3]]", /forever takes no argument/],
    ["[[crash now]]", /crash takes no argument/],
    ...["think T", "plan A | B", "step", "tool NAME", "progress T", "file N | C", "ask Q", "confirm KIND", "credits 1", "value {}"].map(
      (later): [string, RegExp] => [`[[${later}]]`, new RegExp(`${later.split(" ")[0]} is not built yet`)],
    ),
  ])("%s is a fault that names its place and rule, and nothing before it was done", async (text, rule) => {
    const { events, outcome } = await turnOf(`[[say ok]] then ${text}`);
    expect(events).toEqual([]);
    expect(outcome).toMatchObject({ kind: "fail", errorType: "invalid_directive", content: expect.stringMatching(/^at position 16: /) });
    expect(outcome).toMatchObject({ content: expect.stringMatching(rule) });
  });

  test("are of one message each, and a fault says of which", async () => {
    expect(await answerOf(["[[say a", "b]]"])).toBe("message 1 of 2, at position 0: a directive ends with ]]");
    expect(await answerOf(["fine", "not [[so]]"])).toMatch(/^message 2 of 2, at position 4: so is no directive/);
  });

  test("say speaks at once, sleep goes by the clock, and the text around them is answered at the end", async () => {
    const clock = movableClock();
    const begun = clock.monotonic();
    const { events, outcome } = await turnOf("[[say one]] Tell me about owls [[sleep 90.5]] [[say two]]", { clock });
    expect(events).toEqual(
      ["one", "two"].map((content) => ({ type: "assistant_message", payload: { content, deliveryKind: "progress" } })),
    );
    expect(clock.monotonic() - begun).toBe(90_500);
    expect(outcome).toMatchObject({ kind: "finish", content: expect.stringContaining("You wrote: Tell me about owls") });
    expect(await answerOf("[[say one]]")).toBe("Done.");
  });

  test("fail ends the turn there", async () => {
    const { events, outcome } = await turnOf("[[say one]] [[fail content_policy | Not this]] [[say two]]");
    expect(events).toHaveLength(1);
    expect(outcome).toEqual({ kind: "fail", errorType: "content_policy", content: "Not this" });
  });

  test("crash abandons the first run of a turn, and a later run passes over it", async () => {
    expect(await turnOf("[[say one]] [[crash]] [[say two]]")).toMatchObject({ events: [{}], outcome: { kind: "abandon" } });
    expect(await turnOf("[[say one]] [[crash]] [[say two]] [[crash]]", { claim: 2 })).toMatchObject({
      events: [{}, {}],
      outcome: { kind: "finish" },
    });
  });

  test("forever ends with its signal", async () => {
    const abort = new AbortController();
    const clock: Clock = {
      ...movableClock(),
      async sleep(_ms, signal) {
        abort.abort(new Error("enough"));
        signal?.throwIfAborted();
      },
    };
    await expect(turnOf("[[forever]]", { clock, signal: abort.signal })).rejects.toThrow("enough");
  });
});

describeOnEach("the offline agent at work", (database) => {
  const rig = taskRig({ database });
  const told = async (id: string): Promise<string[]> =>
    (await rig.events(id)).map((event) => `${event["type"]} ${Object.values(event[event["type"]])[0] ?? ""}`);

  test("gives the same events for the same message", async () => {
    const [one, two] = [await rig.finished("Compare tea and coffee. Why?"), await rig.finished("Compare tea and coffee. Why?")];
    const payloads = async (id: string) =>
      JSON.stringify((await rig.events(id)).map((event) => event[event["type"]])).replace(/_at":\d+/g, "");
    expect(await payloads(one)).toBe(await payloads(two));
  });

  test("fail ends the task in error, with its type and text", async () => {
    const id = await rig.create("[[fail quota_limit | No credits left]]");
    await rig.reach(id, "error");
    expect((await rig.events(id)).slice(2)).toMatchObject([
      { type: "error_message", error_message: { error_type: "quota_limit", content: "No credits left" } },
      { type: "status_update", status_update: { agent_status: "error" } },
    ]);
  });

  test("a malformed directive ends the task in error, and the next message goes on", async () => {
    const id = await rig.create("Please [[jump 3]]");
    await rig.reach(id, "error");
    expect((await rig.events(id))[2]).toMatchObject({
      error_message: { error_type: "invalid_directive", content: expect.stringMatching(/^at position 7: jump/) },
    });
    await rig.send(id, "Then say hello");
    await rig.reach(id, "stopped");
  });

  test("crash loses the run once: it is taken up again and finished, with nothing doubled", async () => {
    const id = await rig.create("[[say one]] [[crash]] [[say two]]");
    expect(await rig.reach(id, "stopped")).toMatchObject({ claims: 2 });
    expect(await told(id)).toEqual([
      "user_message [[say one]] [[crash]] [[say two]]",
      "status_update running",
      "assistant_message one",
      "assistant_message two",
      "assistant_message Done.",
      "status_update stopped",
    ]);
  });

  test("crash works once in each turn", async () => {
    const id = await rig.create("[[crash]]");
    await rig.reach(id, "stopped");
    await rig.send(id, "[[crash]]");
    expect(await rig.reach(id, "stopped")).toMatchObject({ claims: 2 });
  });

  test("forever runs until it is stopped", async () => {
    const id = await rig.create("[[say one]] [[forever]] [[say never]]");
    await rig.finished("[[sleep 0.01]]");
    await rig.ann.v2("task.stop", { task_id: id });
    await rig.finished();
    expect((await told(id)).slice(2)).toEqual(["assistant_message one", "user_stop ", "status_update stopped"]);
  });
});
