import { describe, expect, test } from "vitest";
import { inputSchema } from "../../src/core/actions/kind.ts";
import type { Clock } from "../../src/core/clock.ts";
import { movableClock } from "../support/clock.ts";
import { acceptance, answerOf, confirmable, plansIn, playTurn, textsIn } from "./offline-turn.ts";

describe("a reporting directive", () => {
  test.each([
    [
      "[[progress half]]",
      { type: "assistant_message", payload: { content: "half", deliveryKind: "progress" } },
    ],
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
    const { events, outcome } = await playTurn(text);
    expect(events).toStrictEqual([event]);
    expect(outcome).toStrictEqual({ kind: "finish", content: "Done." });
  });

  test("is obeyed in order, and the remaining text is answered at the end", async () => {
    const { events, outcome } = await playTurn([
      "[[say one]] Tell me about owls [[progress two]]",
      "[[say three]] and cats",
    ]);
    expect(textsIn(events)).toEqual(["one", "two", "three"]);
    expect(outcome).toMatchObject({
      kind: "finish",
      content: expect.stringContaining("You wrote: Tell me about owls and cats"),
    });
  });

  test("spends the given credits", async () => {
    expect(await playTurn("[[credits 30]] [[say one]] [[credits 12]]")).toMatchObject({
      credits: 42,
      events: [{}, {}],
      outcome: { content: "one" },
    });
  });

  test("has a tool's id that differs per use and turn, and is stable for the same turn", async () => {
    const ids = async (more = {}) =>
      (await playTurn("[[tool a]] [[tool a]]", more)).events.map((event) => JSON.stringify(event.payload));
    const earlier = [{ role: "user", content: "[[tool a]] [[tool a]]" }] as const;
    const [one, again, later, other] = [
      await ids(),
      await ids({ claim: 2 }),
      await ids({ earlier }),
      await ids({ taskId: "u" }),
    ];
    expect(one).toEqual(again);
    expect(new Set([...one, ...later, ...other]).size).toBe(6);
  });
});

describe("the last say of a turn of only directives", () => {
  const file = { filename: "tea", content: [Buffer.from("time.csv | a,b\n1 | 2")] };

  test.each<[text: string, expectedTexts: readonly string[], result: string, files: readonly object[]]>([
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
  ])("is its result, with the turn's files: %s", async (text, expectedTexts, result, files) => {
    const { events, outcome } = await playTurn(text);
    expect(textsIn(events)).toEqual(expectedTexts);
    expect(outcome).toMatchObject({ kind: "finish", content: result });
    expect(outcome.kind === "finish" ? (outcome.files ?? []) : []).toEqual(files);
  });

  test("is sent before a later approval, and is still the result", async () => {
    const text = "[[say one]] [[confirm deployAction]]";
    expect(textsIn((await playTurn(text)).events)).toEqual(["one"]);
    const { events, outcome } = await playTurn(text, { decisions: [acceptance], claim: 2 });
    expect([textsIn(events), outcome]).toMatchObject([["one"], { kind: "finish", content: "one" }]);
  });
});

describe("a plan", () => {
  /** A clock that advances by a second with each read. */
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

  test("is done step by step, with complete snapshots in order", async () => {
    const { events } = await playTurn("[[plan A | B]] [[step]] [[step]] [[step]]", {
      clock: movableClock(1_790_000_000_999),
    });
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
  ])("whose turn %s has its current step ended, and later steps left", async (_, last, outcome, statuses) => {
    const run = await playTurn(`[[plan A | B]] [[step]] [[say one]] ${last}`, { clock: ticking() });
    expect(run.outcome).toMatchObject(outcome);
    expect(
      plansIn(run.events)
        .at(-1)
        ?.map(({ status }) => status),
    ).toEqual(statuses);
    expect(run.events.at(-1)).toMatchObject({
      type: "plan_update",
      payload: { steps: [{ endAt: expect.any(Number) }, {}] },
    });
  });

  test.each([
    ["no step was begun", "[[plan A]]", 1],
    ["all steps ended", "[[plan A]] [[step]] [[step]]", 3],
    ["it failed with no current step", "[[plan A]] [[fail internal]]", 1],
  ])("is not repeated where %s", async (_, text, snapshots) => {
    expect(plansIn((await playTurn(text)).events)).toHaveLength(snapshots);
  });

  test("is replaced by a second one, whose steps have other ids", async () => {
    const { events } = await playTurn("[[plan A | B]] [[step]] [[plan C]] [[step]]");
    const begun = events.flatMap((event) => (event.type === "new_plan_step" ? [event.payload] : []));
    expect(begun).toEqual([
      { stepId: "step_1", title: "A" },
      { stepId: "step_2", title: "C" },
    ]);
    expect(
      plansIn(events).map((steps) => steps.map(({ title, status }) => `${title} ${status}`).join()),
    ).toEqual(["A todo,B todo", "A doing,B todo", "C todo", "C doing", "C done"]);
  });
});

describe("a value", () => {
  const outputSchema = { type: "object" };

  test("is the output of the finish, and the last one wins", async () => {
    const { outcome } = await playTurn('[[value {"total": 1}]] [[value {"total": 7}]] [[say one]]', {
      outputSchema,
    });
    expect(outcome).toStrictEqual({ kind: "finish", content: "one", files: [], output: { total: 7 } });
  });

  test("may be any JSON, also null; others check it against the schema", async () => {
    expect((await playTurn("[[value null]]", { outputSchema })).outcome).toStrictEqual({
      kind: "finish",
      content: "Done.",
      output: null,
    });
  });

  test("is ignored in a turn that fails", async () => {
    expect((await playTurn("[[value 1]] [[fail internal]]")).outcome).not.toHaveProperty("output");
  });
});

describe("a waiting directive", () => {
  test("sleep uses the clock", async () => {
    const clock = movableClock();
    const begun = clock.monotonic();
    await playTurn("[[say one]] [[sleep 90.5]] [[say two]]", { clock });
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
    await expect(playTurn("[[forever]]", { clock, signal: abort.signal })).rejects.toThrow("enough");
  });
});

describe("a directive that ends the turn", () => {
  test("fail fails it, and nothing after it is done", async () => {
    const { events, outcome } = await playTurn("[[say one]] [[fail content_policy | Not this]] [[say two]]");
    expect(textsIn(events)).toEqual(["one"]);
    expect(outcome).toEqual({ kind: "fail", errorType: "content_policy", content: "Not this" });
  });

  test("crash abandons the first run of a turn, and a later run passes over it", async () => {
    expect(await playTurn("[[say one]] [[crash]] [[say two]]")).toMatchObject({
      events: [{}],
      outcome: { kind: "abandon" },
    });
    const { events, outcome } = await playTurn("[[say one]] [[crash]] [[say two]] [[crash]]", { claim: 2 });
    expect([textsIn(events), outcome]).toMatchObject([["one"], { kind: "finish", content: "two" }]);
  });

  test("ask asks, with or without an interactive user", async () => {
    const { events, outcome } = await playTurn("[[say one]] [[ask Which? | Red | Blue]] [[say two]]");
    expect(textsIn(events)).toEqual(["one"]);
    expect(outcome).toMatchObject({ kind: "ask", content: "Which?", options: ["Red", "Blue"] });
  });

  test.each(confirmable)("confirm %s %s asks for approval of a specific action", async (kind, variant) => {
    const { outcome } = await playTurn(`[[confirm ${kind}${variant && ` | ${variant}`}]]`);
    expect(outcome).toMatchObject({
      kind: "confirm",
      action: kind,
      variant,
      description: expect.stringMatching(/^.{7,200}$/),
      params: expect.any(Object),
    });
    expect(inputSchema(kind, variant)).toBeDefined();
  });

  test.each([
    "gmailSendAction",
    "outlookSendMailsAction",
  ])("confirm %s has mails that a decision can select", async (kind) => {
    const mail = {
      to: expect.any(Array),
      subject: expect.stringMatching(/./),
      body: expect.stringMatching(/./),
    };
    expect((await playTurn(`[[confirm ${kind}]]`)).outcome).toMatchObject({
      params: { messages: [mail, mail] },
    });
  });

  test("confirm is skipped once it is decided, either way, and one decision counts for one of them", async () => {
    const text = "[[say one]] [[confirm deployAction]] [[say two]] [[confirm gmailSendAction]] [[say three]]";
    const refused = { ...acceptance, accepted: false };
    for (const decision of [acceptance, refused]) {
      const { events, outcome } = await playTurn(text, { decisions: [decision], claim: 2 });
      expect(textsIn(events)).toEqual(["one", "two"]);
      expect(outcome).toMatchObject({ kind: "confirm", action: "gmailSendAction" });
    }
    expect(await answerOf(text, { decisions: [acceptance, refused], claim: 3 })).toBe("three");
  });
});

describe("a fault of the run", () => {
  const lost = { kind: "abandon" };
  const text = (fault: string) => `[[say one]] [[fault ${fault}]] [[say two]] [[think hm]] [[say three]]`;
  const textsAt = async (fault: string, more = {}) => {
    const { events, outcome } = await playTurn(text(fault), more);
    return [textsIn(events).join(" "), outcome.kind];
  };

  test.each<[fault: string, texts: string]>([
    ["reset", "one"],
    ["cut-event=0", "one"],
    ["cut-event=1", "one two"],
    ["cut-event=2; times=2", "one two"],
    ["after-commit", "one two"],
    ["delay=1; reset", "one"],
  ])("%s loses it there, and the next run is whole", async (fault, texts) => {
    expect(await textsAt(fault)).toEqual([texts, "abandon"]);
    expect(await textsAt(fault, { claim: fault.includes("times=2") ? 3 : 2 })).toEqual(["one two", "finish"]);
  });

  test("is for the number of runs of the turn that it has, after those that pass; a decision counts as none", async () => {
    const lostRuns = async (fault: string, more = {}) => {
      const runs = await Promise.all([1, 2, 3, 4].map((claim) => textsAt(fault, { ...more, claim })));
      return runs.map(([, kind]) => kind === "abandon");
    };
    expect(await lostRuns("reset; times=2")).toEqual([true, true, false, false]);
    expect(await lostRuns("reset; skip=1; times=2")).toEqual([false, true, true, false]);
    const decided = await playTurn("[[confirm deployAction]] [[fault reset]]", {
      claim: 2,
      decisions: [acceptance],
    });
    expect(decided.outcome).toEqual(lost);
  });

  test("status ends it in the error of that status", async () => {
    expect((await playTurn(text("status=503"))).outcome).toEqual({
      ...{ kind: "fail", errorType: "internal", content: "A fault of the test: status 503." },
    });
    expect((await playTurn(text("status=429"))).outcome).toMatchObject({ errorType: "quota_limit" });
    expect((await playTurn(text("status=504"))).outcome).toMatchObject({ errorType: "timeout" });
  });

  test("delay makes it wait", async () => {
    const clock = movableClock();
    const begun = clock.monotonic();
    await playTurn(text("delay=1.5"), { clock });
    expect(clock.monotonic() - begun).toBe(1_500);
  });

  test("cut loses it within a streamed text", async () => {
    const shown: string[] = [];
    const live = { begin: () => undefined, write: (part: string) => void shown.push(part) };
    const { outcome } = await playTurn("[[fault cut=8]] [[stream One two three]]", { live });
    expect([shown, outcome]).toEqual([["One", " two"], lost]);
  });

  test("after-commit writes an answer, but not the end of its turn", async () => {
    expect((await playTurn("[[fault after-commit]] [[fail internal]]")).outcome).toEqual(lost);
    expect((await playTurn("[[fault after-commit]] [[ask Which?]]")).outcome).toEqual(lost);
  });
});
