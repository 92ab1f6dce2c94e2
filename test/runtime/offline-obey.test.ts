import { describe, expect, test } from "vitest";
import { inputSchema } from "../../src/core/actions/kind.ts";
import type { Clock } from "../../src/core/clock.ts";
import { movableClock } from "../support/clock.ts";
import { accepted, answerOf, confirmable, plansIn, saidIn, turnOf } from "./offline-turn.ts";

describe("a directive that tells", () => {
  test.each([
    ["[[progress half]]", { type: "assistant_message", payload: { content: "half", deliveryKind: "progress" } }],
    ["[[think hm]]", { type: "explanation", payload: { content: "hm" } }],
    [
      "[[plan A | B]]",
      {
        type: "plan_update",
        payload: {
          steps: [
            { status: "todo", title: "A" },
            { status: "todo", title: "B" },
          ],
        },
      },
    ],
    [
      "[[tool browser | error]]",
      {
        type: "tool_used",
        payload: {
          tool: "browser",
          actionId: expect.stringMatching(/^[2-9A-HJ-NP-Za-km-z]{22}$/),
          status: "error",
          brief: "It failed",
          message: { action: "Using", param: "browser" },
        },
      },
    ],
    ["[[credits 30]]", { type: "explanation", payload: { content: "Spent 30 credits." } }],
  ])("%s is one event", async (text, event) => {
    const { events, outcome } = await turnOf(text);
    expect(events).toStrictEqual([event]);
    expect(outcome).toStrictEqual({ kind: "finish", content: "Done." });
  });

  test("is obeyed in order, and the text around all of them is answered at the end", async () => {
    const { events, outcome } = await turnOf(["[[say one]] Tell me about owls [[progress two]]", "[[say three]] and cats"]);
    expect(saidIn(events)).toEqual(["one", "two", "three"]);
    expect(outcome).toMatchObject({ kind: "finish", content: expect.stringContaining("1. Tell me about owls\n2. and cats") });
  });

  test("spends the credits that it says", async () => {
    expect(await turnOf("[[credits 30]] [[say one]] [[credits 12]]")).toMatchObject({
      credits: 42,
      events: [{}, {}],
      outcome: { content: "one" },
    });
  });

  test("has a tool's id: another for each use and each turn, the same again for the same turn", async () => {
    const ids = async (more = {}) => (await turnOf("[[tool a]] [[tool a]]", more)).events.map((event) => JSON.stringify(event.payload));
    const earlier = [{ role: "user", content: "[[tool a]] [[tool a]]" }] as const;
    const [one, again, later, other] = [await ids(), await ids({ claim: 2 }), await ids({ earlier }), await ids({ taskId: "u" })];
    expect(one).toEqual(again);
    expect(new Set([...one, ...later, ...other]).size).toBe(6);
  });
});

describe("the last say of a turn of directives alone", () => {
  const file = { filename: "tea", content: [Buffer.from("time.csv | a,b\n1 | 2")] };

  test.each<[text: string, said: readonly string[], result: string, files: readonly object[]]>([
    ["[[say one]]", [], "one", []],
    ["[[say one]] [[say two]]", ["one"], "two", []],
    ["[[say one]] [[value 1]] [[sleep 1]]", [], "one", []],
    ["[[say one]] [[progress half]]", ["half"], "one", []],
    ["[[say one]] [[think hm]] [[tool look]]", [], "one", []],
    ["[[plan A]] [[say one]] [[step]]", [], "one", []],
    ["[[say one]] [[file tea | time.csv | a,b\n1 | 2]]", ["Here is tea."], "one", [file]],
    ["[[file tea | time.csv | a,b\n1 | 2]] [[tool look]]", [], "Here is tea.", [file]],
    ["[[file tea | time.csv | a,b\n1 | 2]]", [], "Here is tea.", [file]],
    ["[[file tea | time.csv | a,b\n1 | 2]] [[say one]]", ["Here is tea."], "one", [file]],
    ["[[say one]] [[sleep 1]]", [], "one", []],
    ["[[progress half]]", ["half"], "Done.", []],
    ["[[think it over]]", [], "Done.", []],
  ])("is its result, with the turn's files: %s", async (text, said, result, files) => {
    const { events, outcome } = await turnOf(text);
    expect(saidIn(events)).toEqual(said);
    expect(outcome).toMatchObject({ kind: "finish", content: result });
    expect(outcome.kind === "finish" ? (outcome.files ?? []) : []).toEqual(files);
  });

  test("is told before an approval that comes after it, and is the result all the same", async () => {
    const text = "[[say one]] [[confirm deployAction]]";
    expect(saidIn((await turnOf(text)).events)).toEqual(["one"]);
    const { events, outcome } = await turnOf(text, { decisions: [accepted], claim: 2 });
    expect([saidIn(events), outcome]).toMatchObject([["one"], { kind: "finish", content: "one" }]);
  });
});

describe("a plan", () => {
  /** A clock on which a second passes with each look. */
  function ticking(): Clock {
    const clock = movableClock();
    return {
      ...clock,
      now() {
        clock.pass(1_000);
        return clock.now();
      },
    };
  }

  test("is worked through step by step, each snapshot whole, each time in its place", async () => {
    const { events } = await turnOf("[[plan A | B]] [[step]] [[step]] [[step]]", { clock: movableClock(1_790_000_000_999) });
    const at = 1_790_000_000;
    const [a, b] = [{ title: "A" }, { title: "B" }];
    expect(events).toStrictEqual([
      {
        type: "plan_update",
        payload: {
          steps: [
            { ...a, status: "todo" },
            { ...b, status: "todo" },
          ],
        },
      },
      {
        type: "plan_update",
        payload: {
          steps: [
            { ...a, status: "doing", startedAt: at },
            { ...b, status: "todo" },
          ],
        },
      },
      { type: "new_plan_step", payload: { stepId: "step_1", title: "A" } },
      {
        type: "plan_update",
        payload: {
          steps: [
            { ...a, status: "done", startedAt: at, endAt: at },
            { ...b, status: "doing", startedAt: at },
          ],
        },
      },
      { type: "new_plan_step", payload: { stepId: "step_2", title: "B" } },
      {
        type: "plan_update",
        payload: {
          steps: [
            { ...a, status: "done", startedAt: at, endAt: at },
            { ...b, status: "done", startedAt: at, endAt: at },
          ],
        },
      },
    ]);
  });

  test.each([
    ["finishes", "", { kind: "finish" }, ["done", "todo"]],
    ["fails", "[[fail internal]]", { kind: "fail" }, ["failed", "todo"]],
  ])("whose turn %s has its step under way ended, and those not begun left", async (_, last, outcome, statuses) => {
    const played = await turnOf(`[[plan A | B]] [[step]] [[say one]] ${last}`, { clock: ticking() });
    expect(played.outcome).toMatchObject(outcome);
    expect(
      plansIn(played.events)
        .at(-1)
        ?.map(({ status }) => status),
    ).toEqual(statuses);
    expect(played.events.at(-1)).toMatchObject({ type: "plan_update", payload: { steps: [{ endAt: expect.any(Number) }, {}] } });
  });

  test.each([
    ["no step was begun", "[[plan A]]", 1],
    ["all steps ended", "[[plan A]] [[step]] [[step]]", 3],
    ["it failed with none under way", "[[plan A]] [[fail internal]]", 1],
  ])("is not told once more where %s", async (_, text, snapshots) => {
    expect(plansIn((await turnOf(text)).events)).toHaveLength(snapshots);
  });

  test("gives way to a second one, whose steps have other ids", async () => {
    const { events } = await turnOf("[[plan A | B]] [[step]] [[plan C]] [[step]]");
    const begun = events.flatMap((event) => (event.type === "new_plan_step" ? [event.payload] : []));
    expect(begun).toEqual([
      { stepId: "step_1", title: "A" },
      { stepId: "step_2", title: "C" },
    ]);
    expect(plansIn(events).map((steps) => steps.map(({ title, status }) => `${title} ${status}`).join())).toEqual([
      "A todo,B todo",
      "A doing,B todo",
      "C todo",
      "C doing",
      "C done",
    ]);
  });
});

describe("a value", () => {
  const outputSchema = { type: "object" };

  test("is the output of the finish, and the last one wins", async () => {
    const { outcome } = await turnOf('[[value {"total": 1}]] [[value {"total": 7}]] [[say one]]', { outputSchema });
    expect(outcome).toStrictEqual({ kind: "finish", content: "one", files: [], output: { total: 7 } });
  });

  test("may be any JSON, null too: whether it fits is another's matter", async () => {
    expect((await turnOf("[[value null]]", { outputSchema })).outcome).toStrictEqual({ kind: "finish", content: "Done.", output: null });
  });

  test("is nothing to a turn that fails", async () => {
    expect((await turnOf("[[value 1]] [[fail internal]]")).outcome).not.toHaveProperty("output");
  });
});

describe("a directive that waits", () => {
  test("sleep goes by the clock", async () => {
    const clock = movableClock();
    const begun = clock.monotonic();
    await turnOf("[[say one]] [[sleep 90.5]] [[say two]]", { clock });
    expect(clock.monotonic() - begun).toBe(90_500);
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

describe("a directive that ends the turn", () => {
  test("fail fails it, and nothing after it is done", async () => {
    const { events, outcome } = await turnOf("[[say one]] [[fail content_policy | Not this]] [[say two]]");
    expect(saidIn(events)).toEqual(["one"]);
    expect(outcome).toEqual({ kind: "fail", errorType: "content_policy", content: "Not this" });
  });

  test("crash abandons the first run of a turn, and a later run passes over it", async () => {
    expect(await turnOf("[[say one]] [[crash]] [[say two]]")).toMatchObject({ events: [{}], outcome: { kind: "abandon" } });
    const { events, outcome } = await turnOf("[[say one]] [[crash]] [[say two]] [[crash]]", { claim: 2 });
    expect([saidIn(events), outcome]).toMatchObject([["one"], { kind: "finish", content: "two" }]);
  });

  test("ask asks, whether or not somebody is there to answer", async () => {
    const { events, outcome } = await turnOf("[[say one]] [[ask Which? | Red | Blue]] [[say two]]");
    expect(saidIn(events)).toEqual(["one"]);
    expect(outcome).toMatchObject({ kind: "ask", content: "Which?", options: ["Red", "Blue"] });
  });

  test.each(confirmable)("confirm %s %s asks for approval of something definite", async (kind, variant) => {
    const { outcome } = await turnOf(`[[confirm ${kind}${variant && ` | ${variant}`}]]`);
    expect(outcome).toMatchObject({
      kind: "confirm",
      action: kind,
      variant,
      description: expect.stringMatching(/^.{8,80}$/),
      params: expect.any(Object),
    });
    expect(inputSchema(kind, variant)).toBeDefined();
  });

  test.each(["gmailSendAction", "outlookSendMailsAction"])("confirm %s shows mails that a decision can point at", async (kind) => {
    const mail = { to: expect.any(Array), subject: expect.stringMatching(/./), body: expect.stringMatching(/./) };
    expect((await turnOf(`[[confirm ${kind}]]`)).outcome).toMatchObject({ params: { messages: [mail, mail] } });
  });

  test("confirm is passed over once it is decided, either way, and one decision counts for one of them", async () => {
    const text = "[[say one]] [[confirm deployAction]] [[say two]] [[confirm gmailSendAction]] [[say three]]";
    const refused = { ...accepted, accepted: false };
    for (const decision of [accepted, refused]) {
      const { events, outcome } = await turnOf(text, { decisions: [decision], claim: 2 });
      expect(saidIn(events)).toEqual(["one", "two"]);
      expect(outcome).toMatchObject({ kind: "confirm", action: "gmailSendAction" });
    }
    expect(await answerOf(text, { decisions: [accepted, refused], claim: 3 })).toBe("three");
  });
});
