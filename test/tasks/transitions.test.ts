import { describe, expect, test } from "vitest";
import type { TaskStatus } from "../../src/core/tasks/task.ts";
import { describeOnOne } from "../support/database.ts";
import { notifyRig } from "../webhooks/notify-rig.ts";

interface Transition {
  readonly trigger: string;
  /** The task is created with this content, or with the content and other members. */
  readonly content: string;
  readonly schema?: object;
  /** The state in which the call is made. Without a call the agent causes the transition. */
  readonly from?: TaskStatus;
  readonly call?: readonly [operation: string, body: object];
  readonly to: TaskStatus;
  /** What is added: types of events, with the status that they name. */
  readonly adds: readonly string[];
  readonly notifies: readonly string[];
}

const created = ["user_message", "status_update running"];
const message: Transition["call"] = ["task.sendMessage", { message: { content: "[[forever]]" } }];
const stop: Transition["call"] = ["task.stop", {}];
const stopped = ["user_stop", "status_update stopped"];
const schema = {
  type: "object",
  properties: { n: { type: "number" } },
  required: ["n"],
  additionalProperties: false,
};

/** The rows of spec/api.md 9.1, in their order. */
const transitions: readonly Transition[] = [
  { trigger: "a creation", content: "[[forever]]", to: "running", adds: [], notifies: [] },
  {
    ...{ trigger: "a finish", content: "[[say Hello]]", to: "stopped" },
    ...{ adds: ["assistant_message", "status_update stopped"], notifies: ["task_stopped"] },
  },
  {
    ...{ trigger: "a finish with a schema", content: '[[value {"n": 1}]]', schema, to: "stopped" },
    ...{
      adds: ["assistant_message", "status_update stopped", "structured_output_result"],
      notifies: ["task_stopped"],
    },
  },
  {
    ...{ trigger: "a question", content: "[[ask Which?]]", to: "waiting" },
    ...{ adds: ["assistant_message", "status_update waiting"], notifies: ["task_stopped"] },
  },
  {
    ...{ trigger: "a need of approval", content: "[[confirm deployAction]]", to: "waiting" },
    ...{ adds: ["tool_used pending_confirmation", "status_update waiting"], notifies: ["task_stopped"] },
  },
  {
    ...{ trigger: "a failure", content: "[[fail timeout]]", to: "error" },
    ...{ adds: ["error_message", "status_update error"], notifies: ["task_failed"] },
  },
  {
    trigger: "a stop",
    content: "[[forever]]",
    from: "running",
    call: stop,
    to: "stopped",
    adds: stopped,
    notifies: ["task_cancelled"],
  },
  {
    ...{
      trigger: "a stop of a question",
      content: "[[ask Which?]]",
      from: "waiting",
      call: stop,
      to: "stopped",
    },
    ...{ adds: stopped, notifies: ["task_cancelled"] },
  },
  {
    trigger: "a message",
    content: "[[forever]]",
    from: "running",
    call: message,
    to: "running",
    adds: ["user_message"],
    notifies: [],
  },
  {
    trigger: "an answer",
    content: "[[ask Which?]]",
    from: "waiting",
    call: message,
    to: "running",
    adds: created,
    notifies: [],
  },
  {
    ...{
      trigger: "a message instead of an approval",
      content: "[[confirm deployAction]]",
      from: "waiting",
      call: message,
    },
    ...{ to: "running", adds: created, notifies: [] },
  },
  {
    trigger: "a message after the end",
    content: "[[say Hello]]",
    from: "stopped",
    call: message,
    to: "running",
    adds: created,
    notifies: [],
  },
  {
    trigger: "a message after a failure",
    content: "[[fail timeout]]",
    from: "error",
    call: message,
    to: "running",
    adds: created,
    notifies: [],
  },
];

describeOnOne("each row of the table of states (spec/api.md 9.1)", (database) => {
  const rig = notifyRig(database);

  async function eventsOf(task_id: string): Promise<string[]> {
    const { body } = await rig.ann.v2("task.listMessages", { task_id, order: "asc", verbose: true });
    return body["messages"].map(
      ({ type, ...payload }: { type: string } & Record<string, { agent_status?: string; status?: string }>) =>
        [type, payload[type]?.agent_status ?? payload[type]?.status]
          .filter((word) => word !== undefined)
          .join(" "),
    );
  }
  const typesOf = async (id: string) => (await rig.notified(id)).map(({ type }) => type);

  test.each(
    transitions,
  )("$trigger leads from $from to $to with its events, and notifies webhooks of nothing else", async (row) => {
    const id = await rig.create(row.content, row.schema ? { structured_output_schema: row.schema } : {});
    if (row.from) await rig.reach(id, row.from);
    const before = row.from ? await eventsOf(id) : created;
    const notified = row.from ? await typesOf(id) : ["task_created"];
    if (row.call) await rig.call(row.call[0], id, row.call[1]);
    await rig.reach(id, row.to);
    const events = await eventsOf(id);
    expect(events).toEqual([...before, ...row.adds]);
    expect(await typesOf(id)).toEqual([...notified, ...row.notifies]);
  });

  describe("a decision", () => {
    test.each([
      ["accepts", "deployAction", true, "success"],
      ["refuses", "gmailSendAction", false, "error"],
    ])("that %s a %s leads from waiting to running: the tool's end, then the status", async (_what, kind, accept, status) => {
      const id = await rig.create(`[[confirm ${kind}]] [[forever]]`);
      await rig.reach(id, "waiting");
      const before = await eventsOf(id);
      const { body } = await rig.ann.v2("task.listMessages", { task_id: id, limit: 1 });
      const { waiting_for_event_id: event_id } = body["messages"][0].status_update.status_detail;
      const notified = await typesOf(id);
      await rig.call("task.confirmAction", id, { event_id, input: { accept } });
      expect(await eventsOf(id)).toEqual([...before, `tool_used ${status}`, "status_update running"]);
      expect(await typesOf(id)).toEqual(notified);
    });
  });

  test.each([
    ["stopped", "[[say Hello]]"],
    ["waiting", "[[ask Which?]]"],
    ["error", "[[fail timeout]]"],
  ] as const)("a deletion in the state %s is allowed, and notifies no webhook", async (status, content) => {
    const id = await rig.create(content);
    await rig.reach(id, status);
    const notified = await typesOf(id);
    await rig.call("task.delete", id);
    expect(await typesOf(id)).toEqual(notified);
    expect((await rig.ann.v2("task.detail", { task_id: id })).status).toBe(404);
  });
});
