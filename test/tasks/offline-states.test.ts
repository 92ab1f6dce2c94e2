import { describe, expect, test } from "vitest";
import { isQuestion, type KindName, kindOf, kinds } from "../../src/core/actions/kind.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { insertOnline } from "../browsers/online-row.ts";
import { describeOnOne } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { taskRig } from "../support/task-rig.ts";
import { untilSeq } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";

/** An input that accepts, with a member that its schema requires. */
const acceptingInputs: Readonly<Record<string, JsonObject>> = {
  accept: { accept: true },
  action: { action: "accept" },
  choice: { choice: "premium" },
};
const refusingInputs: Readonly<Record<string, JsonObject>> = {
  accept: { accept: false },
  action: { action: "reject" },
};

/** Every confirmed kind with its variants, and inputs that accept and refuse it. */
const approvals = Object.keys(kinds)
  // The keys of the table are the kinds.
  .map((kind) => kind as KindName)
  .filter((kind) => !isQuestion(kind))
  .flatMap((kind) =>
    Object.entries(kindOf(kind).inputs).map(([variant, schema]) => ({ kind, variant, schema })),
  )
  .map(({ kind, variant, schema }) => {
    const [member = ""] = schema["required"] as string[];
    const browser = kind === "needConnectMyBrowser";
    return {
      ...{ kind, variant, schema, directive: `[[confirm ${kind}${variant && ` | ${variant}`}]]` },
      accept: browser ? { action: "select", client_id: "b" } : acceptingInputs[member],
      refuse: browser ? { action: "skip" } : refusingInputs[member],
    };
  });

describeOnOne("over v2, the offline agent leads a task to the state", (database) => {
  const rig = taskRig({ database });

  /** A line for each event except the first two, which every task has. */
  const eventLines = async (id: string): Promise<string[]> => (await rig.events(id)).slice(2).map(lineOf);
  const lineOf = (event: V2Body): string => {
    const payload = event[event["type"]];
    const text = payload?.content ?? payload?.agent_status ?? payload?.status ?? payload?.title;
    return [event["type"], text].filter(Boolean).join(" ");
  };
  const detail = async (id: string): Promise<V2Body> =>
    (await rig.ann.v2("task.detail", { task_id: id })).body["task"];

  /** The action of a waiting task, from its last event. */
  async function waitOf(id: string): Promise<V2Body> {
    await rig.reach(id, "waiting");
    return (await rig.events(id)).at(-1)?.["status_update"].status_detail;
  }
  async function decide(id: string, input: unknown): Promise<V2Body> {
    const { waiting_for_event_id } = await waitOf(id);
    return (await rig.ann.v2("task.confirmAction", { task_id: id, event_id: waiting_for_event_id, input }))
      .body;
  }

  describe("running", () => {
    test("until it is stopped, by forever: the remaining directives are not resumed", async () => {
      const id = await rig.create("[[say one]] [[forever]] [[say never]]");
      await untilSeq(rig.service.store, id, 3);
      expect(await detail(id)).toMatchObject({ status: "running" });
      await rig.ann.v2("task.stop", { task_id: id });
      await rig.send(id, "[[say two]]");
      await rig.reach(id, "stopped");
      expect(await eventLines(id)).toEqual([
        ...["assistant_message one", "user_stop", "status_update stopped"],
        ...[
          "user_message [[say two]]",
          "status_update running",
          "assistant_message two",
          "status_update stopped",
        ],
      ]);
    });

    test("again after a crash, without repeated events, once in each turn", async () => {
      const id = await rig.create("[[plan A]] [[step]] [[crash]] [[say two]]");
      expect(await rig.reach(id, "stopped")).toMatchObject({ claims: 2 });
      expect(await eventLines(id)).toEqual([
        ...[
          "plan_update",
          "plan_update",
          "new_plan_step A",
          "plan_update",
          "assistant_message two",
          "status_update stopped",
        ],
      ]);
      await rig.send(id, "[[crash]]");
      expect(await rig.reach(id, "stopped")).toMatchObject({ claims: 2 });
    });
  });

  describe("stopped", () => {
    test("with every type of event that an agent writes", async () => {
      const text =
        "[[plan A | B]] [[step]] [[think Hm]] [[say One]] [[progress Half]] [[tool browser | rollback]] [[step]]";
      const id = await rig.runToEnd(text);
      expect(await eventLines(id)).toEqual([
        ...["plan_update", "plan_update", "new_plan_step A", "explanation Hm", "assistant_message Half"],
        ...[
          "tool_used rollback",
          "plan_update",
          "new_plan_step B",
          "plan_update",
          "assistant_message One",
          "status_update stopped",
        ],
      ]);
      const messages = (await rig.events(id)).flatMap((event) => event["assistant_message"] ?? []);
      expect(messages).toMatchObject([
        { delivery_kind: "progress" },
        { content: "One", delivery_kind: "result" },
      ]);
      const last = (await rig.events(id)).filter(({ type }) => type === "plan_update").at(-1);
      expect(last).toMatchObject({
        plan_update: {
          steps: [
            { title: "A", status: "done", started_at: expect.any(Number), end_at: expect.any(Number) },
            { title: "B", status: "done", started_at: expect.any(Number), end_at: expect.any(Number) },
          ],
        },
      });
    });

    test("with the same events for the same message", async () => {
      const [one, two] = [
        await rig.runToEnd("Compare tea and coffee. Why?"),
        await rig.runToEnd("Compare tea and coffee. Why?"),
      ];
      const payloads = async (id: string) =>
        JSON.stringify((await rig.events(id)).map((event) => event[event["type"]])).replace(/_at":\d+/g, "");
      expect(await payloads(one)).toBe(await payloads(two));
    });

    test("with credits spent", async () => {
      expect(await detail(await rig.runToEnd("[[credits 30]] [[credits 12]]"))).toMatchObject({
        credit_usage: 42,
      });
    });

    const total = {
      structured_output_schema: {
        type: "object",
        properties: { total: { type: "number" } },
        required: ["total"],
        additionalProperties: false,
      },
    };
    test.each([
      ['[[value {"total": 7}]]', { success: true, value: { total: 7 }, error: null }],
      [
        '[[value {"total": "seven"}]]',
        { success: false, value: { total: 0 }, error: expect.stringContaining("does not conform") },
      ],
      [
        "[[value [[]]]]",
        { success: false, value: { total: 0 }, error: expect.stringContaining("does not conform") },
      ],
    ])("with the structured output %s", async (text, result) => {
      const id = await rig.runToEnd(text, total);
      expect((await rig.events(id)).at(-1)).toMatchObject({
        type: "structured_output_result",
        structured_output_result: result,
      });
    });

    test("with the value set before a question", async () => {
      const id = await rig.create('[[value {"total": 7}]] [[ask Sure?]]', total);
      await rig.reach(id, "waiting");
      await rig.send(id, "Yes");
      await rig.reach(id, "stopped");
      expect((await rig.events(id)).at(-1)).toMatchObject({
        structured_output_result: { success: true, value: { total: 7 } },
      });
    });
  });

  describe("in error", () => {
    test("by fail, with its type and text, and a failed current step", async () => {
      const id = await rig.create("[[plan A]] [[step]] [[fail quota_limit | No credits left]]");
      await rig.reach(id, "error");
      expect((await rig.events(id)).slice(-3)).toMatchObject([
        { type: "plan_update", plan_update: { steps: [{ status: "failed" }] } },
        { type: "error_message", error_message: { error_type: "quota_limit", content: "No credits left" } },
        { type: "status_update", status_update: { agent_status: "error" } },
      ]);
    });

    test("by a malformed directive, and the next message continues", async () => {
      const id = await rig.create("[[say one]] [[jump 3]]");
      await rig.reach(id, "error");
      expect((await rig.events(id))[2]).toMatchObject({
        error_message: {
          error_type: "invalid_directive",
          content: expect.stringMatching(/^at position 12: jump/),
        },
      });
      await rig.send(id, "Then say hello");
      await rig.reach(id, "stopped");
    });
  });

  describe("waiting on a question", () => {
    test("whose answer first resumes the remaining directives, then its own", async () => {
      const id = await rig.create("[[say one]] [[ask Which? | Red | Blue]] [[say two]]", {
        interactive_mode: false,
      });
      const { waiting_for_event_id, ...wait } = await waitOf(id);
      expect(wait).toStrictEqual({ waiting_for_event_type: "messageAskUser", waiting_description: "Which?" });
      const question = (await rig.events(id)).at(-2);
      expect(question).toMatchObject({
        id: waiting_for_event_id,
        assistant_message: {
          delivery_kind: "question",
          question_expectation: {
            response_method: "send_message",
            options: ["Red", "Blue"],
            selection_mode: "single",
          },
        },
      });
      await rig.send(id, "Red [[say three]]");
      await rig.reach(id, "stopped");
      expect((await eventLines(id)).slice(3)).toMatchObject([
        ...[
          "user_message Red [[say three]]",
          "status_update running",
          "assistant_message two",
          "assistant_message three",
        ],
        "status_update stopped",
      ]);
    });

    test("which a stop drops, with the remaining directives", async () => {
      const id = await rig.create("[[ask Which?]] [[say two]]");
      await rig.reach(id, "waiting");
      await rig.ann.v2("task.stop", { task_id: id });
      await rig.send(id, "[[say three]]");
      await rig.reach(id, "stopped");
      expect((await eventLines(id)).filter((line) => line.startsWith("assistant"))).toEqual([
        ...["assistant_message Which?", "assistant_message three"],
      ]);
    });

    test("by the agent's choice, where a vague request may cause a question", async () => {
      const id = await rig.create("Tea", { interactive_mode: true });
      expect(await waitOf(id)).toMatchObject({ waiting_for_event_type: "messageAskUser" });
      await rig.send(id, "Compare green and black.");
      await rig.reach(id, "stopped");
      expect((await eventLines(id)).at(-2)).toContain("You wrote: Tea Compare green and black.");
      expect(await detail(await rig.runToEnd("Tea"))).toMatchObject({ status: "stopped" });
    });
  });

  describe("waiting on an approval", () => {
    test.each(share(approvals, 0, 4))("$kind $variant, which is accepted", async ({
      kind,
      schema,
      directive,
      accept,
    }) => {
      if (kind === "needConnectMyBrowser") await insertOnline(rig.service, rig.ann, "b");
      const id = await rig.create(`[[say one]] ${directive} [[say two]]`);
      expect(await waitOf(id)).toMatchObject({
        waiting_for_event_type: kind,
        waiting_description: expect.stringMatching(/./),
        confirm_input_schema: schema,
      });
      expect(await decide(id, accept)).toMatchObject({ ok: true, confirmed: true });
      await rig.reach(id, "stopped");
      const { tool } = kindOf(kind);
      const uses = (await rig.events(id))
        .filter(({ type }) => type === "tool_used")
        .map((event) => event["tool_used"]);
      expect(uses).toMatchObject([
        { tool, status: "pending_confirmation", params: expect.any(Object) },
        { tool, status: "success", action_id: uses[0].action_id },
      ]);
      expect(await eventLines(id)).toEqual([
        ...["assistant_message one", "tool_used pending_confirmation", "status_update waiting"],
        ...["tool_used success", "status_update running"],
        // The agent reports the browser it uses.
        ...(kind === "needConnectMyBrowser" ? ["explanation Works in the browser b."] : []),
        ...["assistant_message two", "status_update stopped"],
      ]);
    });

    test.each(
      share(
        approvals.filter(({ kind }) => kindOf(kind).cancels),
        0,
        4,
      ),
    )("$kind $variant, which is refused", async ({ directive, refuse }) => {
      const id = await rig.create(`${directive} [[say two]]`);
      expect(await decide(id, refuse)).toMatchObject({ confirmed: true });
      await rig.reach(id, "stopped");
      expect((await eventLines(id)).slice(2)).toEqual([
        ...["tool_used error", "status_update running", "assistant_message two", "status_update stopped"],
      ]);
    });

    test("again for each one in the message, and the plan continues with its times", async () => {
      const id = await rig.create(
        "[[plan A | B]] [[step]] [[confirm deployAction]] [[step]] [[confirm webdevRunAction | deploy]]",
      );
      await decide(id, { accept: true });
      const plan = async () =>
        (await rig.events(id))
          .filter(({ type }) => type === "plan_update")
          .map((event) => event["plan_update"].steps);
      await rig.reach(id, "waiting");
      expect((await plan()).at(-1)).toMatchObject([
        { status: "done", started_at: (await plan())[1][0].started_at },
        { status: "doing" },
      ]);
      expect(await decide(id, { accept: true, visibility: "team" })).toMatchObject({ confirmed: true });
      await rig.reach(id, "stopped");
      expect(await plan()).toHaveLength(4);
    });

    test("only once, if it was allowed permanently (spec/decisions.md 15)", async () => {
      const id = await rig.create(
        "[[confirm terminalExecute]] [[say one]] [[confirm terminalExecute]] [[say two]]",
      );
      await decide(id, { accept: true, always_allow: true });
      await rig.reach(id, "stopped");
      expect((await eventLines(id)).slice(3)).toEqual([
        ...["status_update running", "assistant_message one", "tool_used success", "assistant_message two"],
        "status_update stopped",
      ]);
    });

    test("which a message overrides, with the remaining directives", async () => {
      const id = await rig.create("[[confirm deployAction]] [[say two]]");
      await rig.reach(id, "waiting");
      await rig.send(id, "[[say three]]");
      await rig.reach(id, "stopped");
      expect((await eventLines(id)).filter((line) => line.startsWith("assistant"))).toEqual([
        "assistant_message three",
      ]);
    });
  });
});
