import { describe, expect, test } from "vitest";
import type { TaskStatus } from "../../src/core/tasks/task.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { tokenOf } from "../support/token.ts";
import { putWebhook } from "../support/webhooks.ts";
import { notifyRig } from "./notify-rig.ts";

/** The ways in which a task can leave `running`, and the event of each. */
const ways: readonly {
  readonly why: string;
  readonly content: string;
  /** Called on the task while it runs. */
  readonly call?: string;
  readonly status: TaskStatus;
  readonly type: string;
  readonly detail: object;
}[] = [
  {
    why: "finishes",
    content: "[[say Hello]]",
    status: "stopped",
    type: "task_stopped",
    detail: { stop_reason: "finish", attachments: [] },
  },
  {
    why: "asks",
    content: "[[ask Which?]]",
    status: "waiting",
    type: "task_stopped",
    detail: { stop_reason: "ask", message: "Which?" },
  },
  {
    why: "needs an approval",
    content: "[[confirm deployAction]]",
    status: "waiting",
    type: "task_stopped",
    detail: { stop_reason: "ask", message: "Deploy “demo”." },
  },
  {
    why: "fails",
    content: "[[fail model_error | Oops]]",
    status: "error",
    type: "task_failed",
    detail: { message: "Oops" },
  },
  {
    why: "is stopped",
    content: "[[forever]]",
    call: "task.stop",
    status: "stopped",
    type: "task_cancelled",
    detail: { message: "Stopped by the user" },
  },
];

describeOnOne("webhooks are notified", (kind) => {
  const rig = notifyRig(kind);
  const typesOf = async (id: string, webhookId?: string) =>
    (await rig.notified(id, webhookId)).map(({ type }) => type);

  test.each(ways)("once about a task that $why", async ({ content, call, status, type, detail }) => {
    const id = await rig.create(content, { title: "Greet" });
    if (call) await rig.call(call, id);
    const { lastSeq } = await rig.reach(id, status);
    const [created, ended, ...more] = await rig.notified(id);
    expect(more).toEqual([]);
    const about = { task_id: id, task_title: "Greet", task_url: `https://platform.test/app/${id}` };
    const createdBody = {
      event_id: created?.id,
      event_type: "task_created",
      task_detail: { ...about, task_event_id: `ev_${id}_1` },
    };
    expect(JSON.parse(created?.body ?? "")).toEqual(createdBody);
    expect(ended).toMatchObject({
      type,
      seq: lastSeq,
      state: "pending",
      id: expect.stringMatching(`^${type}_${id}_[0-9]{10}$`),
    });
    const endedBody = {
      event_id: ended?.id,
      event_type: type,
      task_detail: { ...about, ...detail, task_event_id: `ev_${id}_${lastSeq}` },
    };
    expect(JSON.parse(ended?.body ?? "")).toMatchObject(endedBody);
  });

  test("about each step of a plan, with different ids even within one second", async () => {
    const id = await rig.create("[[plan Sow | Water | Reap]] [[step]] [[step]] [[step]]");
    await rig.reach(id, "stopped");
    const steps = (await rig.notified(id)).filter(({ type }) => type === "task_progress");
    expect(new Set(steps.map((step) => step.id)).size).toBe(3);
    expect(steps.map(({ body }) => JSON.parse(body).progress_detail)).toEqual(
      ["Sow", "Water", "Reap"].map((message) => ({ task_id: id, progress_type: "plan_update", message })),
    );
  });

  test("again when a task that was answered, or continues, stops again", async () => {
    const id = await rig.create("[[ask Which?]]");
    await rig.reach(id, "waiting");
    await rig.call("task.sendMessage", id, { message: { content: "[[confirm deployAction]]" } });
    const { lastSeq } = await rig.reach(id, "waiting");
    await rig.call("task.confirmAction", id, {
      event_id: `ev_${id}_${lastSeq - 1}`,
      input: { accept: true },
    });
    await rig.reach(id, "stopped");
    await rig.call("task.sendMessage", id, { message: { content: "Thanks" } });
    await rig.reach(id, "stopped");
    const notified = await rig.notified(id);
    const stops = notified.filter(({ type }) => type === "task_stopped");
    expect(stops.map(({ body }) => JSON.parse(body).task_detail.stop_reason)).toEqual([
      "ask",
      "ask",
      "finish",
      "finish",
    ]);
    expect(new Set(notified.map((event) => event.id)).size).toBe(notified.length);
  });

  test("about a waiting task that is stopped, and not about one that is deleted", async () => {
    const [stopped, deleted] = await Promise.all([
      rig.create("[[ask Which?]]"),
      rig.create("[[ask Which?]]"),
    ]);
    for (const id of [stopped, deleted]) await rig.reach(id, "waiting");
    await rig.call("task.stop", stopped);
    await rig.call("task.stop", stopped);
    await rig.call("task.delete", deleted);
    expect(await typesOf(stopped)).toEqual(["task_created", "task_stopped", "task_cancelled"]);
    expect(await typesOf(deleted)).toEqual(["task_created", "task_stopped"]);
  });

  test("about a task that is deleted in the meantime, while the delivered bodies are erased (spec/decisions.md 14)", async () => {
    const id = await rig.create("[[say Hello]]");
    await rig.reach(id, "stopped");
    await runDirectly(
      rig.db,
      `UPDATE delivery SET state = 'delivered' WHERE task_id = '${id}' AND type = 'task_created' RETURNING id`,
    );
    await rig.call("task.delete", id);
    const [created, stopped] = await rig.notified(id);
    expect(created).toMatchObject({ body: "", state: "delivered" });
    expect(stopped).toMatchObject({
      body: expect.stringContaining('"stop_reason":"finish"'),
      state: "pending",
    });
  });

  test("and the sender is woken for each task", async () => {
    const woken = Promise.withResolvers<void>();
    const forget = rig.db.store.feed.onJob((job) => job === "deliver" && woken.resolve());
    await rig.reach(await rig.create("[[ask Which?]]"), "waiting");
    await woken.promise;
    forget();
  });

  describe("about a requested value", () => {
    const schema = {
      type: "object",
      properties: { total: { type: "number" } },
      required: ["total"],
      additionalProperties: false,
    };
    const outputs = async (id: string) =>
      (await rig.notified(id)).flatMap(({ type, body }) => {
        const { structured_output: output = "none" } = JSON.parse(body).task_detail ?? {};
        return type === "task_stopped" ? [output] : [];
      });

    test("at the finish, not at a question before it, and once", async () => {
      const id = await rig.create("[[ask Which?]] The total: 7", { structured_output_schema: schema });
      await rig.reach(id, "waiting");
      await rig.call("task.sendMessage", id, { message: { content: '[[value {"total": 7}]]' } });
      await rig.reach(id, "stopped");
      await rig.call("task.sendMessage", id, { message: { content: "Thanks" } });
      await rig.reach(id, "stopped");
      expect(await outputs(id)).toEqual([
        "none",
        { success: true, value: { total: 7 }, error: null },
        "none",
      ]);
    });

    test("also when there is none", async () => {
      const id = await rig.create('[[value {"total": "many"}]]', { structured_output_schema: schema });
      await rig.reach(id, "stopped");
      expect(await outputs(id)).toMatchObject([
        { success: false, value: { total: 0 }, error: expect.any(String) },
      ]);
    });
  });

  describe("their types:", () => {
    const plan = "[[plan Sow]] [[step]] [[say Done]]";
    test.each([
      { why: "the documented types", more: {}, types: ["task_created", "task_progress", "task_stopped"] },
      {
        why: "the types that they name, and no others",
        more: { eventTypes: ["task_stopped"] },
        types: ["task_stopped"],
      },
      { why: "nothing while they are inactive", more: { status: "inactive" }, types: [] },
      { why: "nothing once they are deleted", more: { deletedAt: 2000 }, types: [] },
    ] as const)("$why", async ({ more, types }) => {
      const bo = await rig.service.person();
      const webhookId = await putWebhook(rig.db.store, { ...bo, ...more });
      const id = await rig.create(plan, {}, bo);
      await rig.reach(id, "stopped");
      expect(await typesOf(id, webhookId)).toEqual(types);
    });

    test("a failure and a stop have only a name", async () => {
      const bo = await rig.service.person();
      const plain = await putWebhook(rig.db.store, bo);
      const named = await putWebhook(rig.db.store, { ...bo, eventTypes: ["task_failed"] });
      const failed = await rig.create("[[fail model_error | Oops]]", {}, bo);
      await rig.reach(failed, "error");
      expect([await typesOf(failed, plain), await typesOf(failed, named)]).toEqual([
        ["task_created"],
        ["task_failed"],
      ]);
    });

    test("all webhooks of an account get the same event, each with a separate delivery", async () => {
      const bo = await rig.service.person();
      const webhooks = await Promise.all([putWebhook(rig.db.store, bo), putWebhook(rig.db.store, bo)]);
      const id = await rig.create("[[say Hello]]", {}, bo);
      await rig.reach(id, "stopped");
      const [one, other] = await Promise.all(webhooks.map((webhookId) => rig.notified(id, webhookId)));
      expect(one).toHaveLength(2);
      expect(one).toEqual(other);
    });
  });

  describe("only about the user's tasks:", () => {
    test("not about a colleague's, or the same account's in another space", async () => {
      const colleague = await rig.service.person({ with: rig.ann });
      const elsewhere = await rig.service.person({ as: rig.ann });
      for (const member of [colleague, elsewhere]) {
        const webhookId = await putWebhook(rig.db.store, member);
        const id = await rig.create("[[say Hello]]", {}, member);
        await rig.reach(id, "stopped");
        expect(await typesOf(id)).toEqual([]);
        expect(await typesOf(id, webhookId)).toEqual(["task_created", "task_stopped"]);
      }
    });

    test("an app's webhook gets the tasks that it created for any user in its team, and no others", async () => {
      const colleague = await rig.service.person({ with: rig.ann });
      const token = await tokenOf(rig.service, colleague);
      const other = await tokenOf(rig.service, colleague);
      const { spaceId } = rig.ann;
      const ofApp = await putWebhook(rig.db.store, { ...rig.ann, clientId: token.clientId });
      const ofOther = await putWebhook(rig.db.store, { ...rig.ann, clientId: other.clientId });
      const stray = await putWebhook(rig.db.store, {
        accountId: rig.ann.accountId,
        spaceId: `${spaceId}x`,
        clientId: `${token.clientId}x`,
      });
      const own = await putWebhook(rig.db.store, colleague);
      const byApp = await rig.create("[[say Hello]]", {}, token);
      const byKey = await rig.create("[[say Hello]]", {}, colleague);
      const anns = await rig.create("[[say Hello]]");
      for (const id of [byApp, byKey, anns]) await rig.reach(id, "stopped");
      const all = ["task_created", "task_stopped"];
      const notified = async (id: string) =>
        Promise.all([ofApp, ofOther, stray, own, rig.webhookId].map((webhookId) => typesOf(id, webhookId)));
      expect(await notified(byApp)).toEqual([all, [], [], all, []]);
      expect(await notified(byKey)).toEqual([[], [], [], all, []]);
      expect(await notified(anns)).toEqual([[], [], [], [], all]);
    });
  });

  test("nothing about an agent's main task, which no call has created", async () => {
    await rig.call("task.sendMessage", "agent-default-main_task", { message: { content: "[[say Hello]]" } });
    const { body } = await rig.ann.v2("task.detail", { task_id: "agent-default-main_task" });
    const id = body["task"].id;
    await rig.reach(id, "stopped");
    expect(await rig.notified(id)).toEqual([]);
  });

  test("nothing about a subtask in any state, under any agent (spec/webhooks.md 11)", async () => {
    const { ann } = rig;
    await rig.call("task.sendMessage", "agent-default-main_task", {
      message: { content: "[[subtask Count]]" },
    });
    await rig.reach(
      (await ann.v2("task.detail", { task_id: "agent-default-main_task" })).body["task"].id,
      "stopped",
    );
    const { body } = await ann.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default" });
    const [{ id }] = body["data"];
    await rig.reach(id, "stopped");
    for (const [content, status] of [
      ["[[plan A | B]] [[step]] [[ask Which?]]", "waiting"],
      ["[[fail internal | No]]", "error"],
      ["[[say Done]]", "stopped"],
    ] as const) {
      await rig.call("task.sendMessage", id, { message: { content } });
      await rig.reach(id, status);
    }
    await rig.call("task.sendMessage", id, { message: { content: "[[forever]]" } });
    await rig.call("task.stop", id);
    expect(await rig.notified(id)).toEqual([]);
    // A task from a call has its events by then: the webhook gets them.
    const plain = await rig.create("[[say Hello]]");
    await rig.reach(plain, "stopped");
    expect((await rig.notified(plain)).length).toBeGreaterThan(0);
  });
});
