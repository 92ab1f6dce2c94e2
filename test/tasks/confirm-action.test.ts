import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  inputSchema,
  isKind,
  isQuestion,
  type KindName,
  kindOf,
  kinds,
  variantsOf,
} from "../../src/core/actions/kind.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { insertOnline } from "../browsers/online-row.ts";
import { describeOnOne, halfFor, nodesOf } from "../support/database.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { rpcWires } from "../support/wires.ts";

/** An input that each kind accepts. */
const accepted: Partial<Record<KindName, object>> = {
  needConnectMyBrowser: { action: "select", client_id: "b1" },
  videoGenerate: { choice: "premium" },
  apiHighCreditNotice: { action: "accept" },
};
const acceptInput = (kind: KindName): object => accepted[kind] ?? { accept: true };
const rows = Object.keys(kinds)
  .filter((name): name is KindName => isKind(name) && !isQuestion(name))
  .flatMap((kind) =>
    (variantsOf(kind).length > 0 ? variantsOf(kind) : [""]).map((variant) => ({ kind, variant })),
  );

describeOnOne("task.confirmAction (spec/api.md 8.9, 9.3)", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database) });

  /** A waiting task, and the status_detail of its wait. */
  async function createWaitingTask(text: string, more: object = {}) {
    const id = await rig.create(text, more);
    await rig.reach(id, "waiting");
    return { id, detail: await detailOf(id) };
  }
  async function detailOf(id: string) {
    const [status] = (await rig.events(id, { order: "desc", limit: 1 })) ?? [];
    expect(status).toMatchObject({ type: "status_update", status_update: { agent_status: "waiting" } });
    return status?.["status_update"].status_detail;
  }
  const confirm = (task_id: string, event_id: string, input?: unknown) =>
    rig.ann.v2("task.confirmAction", { task_id, event_id, ...(input === undefined ? {} : { input }) });
  const refused = (status: number, code: string) => ({ status, body: { ok: false, error: { code } } });

  test.each([
    { wire: "v2, absent", send: (task_id: string, event_id: string) => confirm(task_id, event_id) },
    { wire: "v2, null", send: (task_id: string, event_id: string) => confirm(task_id, event_id, null) },
    ...rpcWires.map((wire) => ({
      wire,
      send: (taskId: string, eventId: string) =>
        rig.ann.client(TaskService, wire).confirmAction({ taskId, eventId }),
    })),
  ])("a missing input means yes if only accept is required: $wire", async ({ send }) => {
    const { id, detail } = await createWaitingTask(
      "[[confirm terminalExecute]] [[say After]] [[confirm terminalExecute]]",
    );
    await send(id, detail.waiting_for_event_id);
    // It allows only this action.
    await rig.reach(id, "waiting");
    const events = await rig.events(id);
    expect(
      events.filter(({ type }) => type === "tool_used").map((event) => event["tool_used"].status),
    ).toEqual(["pending_confirmation", "success", "pending_confirmation"]);
  });

  test.each(
    halfFor(database, rows),
  )("$kind $variant: waits with its schema, refuses invalid input, and continues when accepted", async ({
    kind,
    variant,
  }) => {
    if (kind === "needConnectMyBrowser") await insertOnline(rig.service, rig.ann, "b1");
    const { id, detail } = await createWaitingTask(
      `[[confirm ${kind}${variant && ` | ${variant}`}]] [[say After]]`,
    );
    expect(detail).toMatchObject({
      waiting_for_event_type: kind,
      waiting_description: expect.stringMatching(/./),
    });
    expect(detail.confirm_input_schema).toEqual(inputSchema(kind, variant));
    if (String(detail.confirm_input_schema.required) !== "accept")
      for (const nothing of [undefined, null])
        expect(await confirm(id, detail.waiting_for_event_id, nothing)).toMatchObject(
          invalid("input: is required"),
        );
    expect(await confirm(id, detail.waiting_for_event_id, { other: 1 })).toMatchObject(invalid("input"));
    expect(await confirm(id, detail.waiting_for_event_id, "yes")).toMatchObject(invalid("input"));
    expect((await rig.row(id)).status).toBe("waiting");
    expect(await confirm(id, detail.waiting_for_event_id, acceptInput(kind))).toMatchObject({
      status: 200,
      body: { ok: true, task_id: id, confirmed: true },
    });
    await rig.reach(id, "stopped");
    const events = await rig.events(id);
    const uses = events.filter(({ type }) => type === "tool_used").map((event) => event["tool_used"]);
    expect(uses).toMatchObject([
      { status: "pending_confirmation", tool: kindOf(kind).tool },
      { status: "success", tool: kindOf(kind).tool },
    ]);
    expect(uses[1].action_id).toBe(uses[0].action_id);
    expect(events.find(({ id: event }) => event === detail.waiting_for_event_id)).toMatchObject({
      type: "tool_used",
    });
    expect(events.filter(({ type }) => type === "assistant_message")[0]).toMatchObject({
      assistant_message: { content: "After" },
    });
    expect(await confirm(id, detail.waiting_for_event_id, acceptInput(kind)), "once").toMatchObject(
      refused(412, "failed_precondition"),
    );
  });

  describe("accept: false", () => {
    test.each([
      "gmailSendAction",
      "outlookSendMailsAction",
      "webdevRequestSecrets",
    ])("cancels a %s, and the task continues", async (kind) => {
      const { id, detail } = await createWaitingTask(`[[confirm ${kind}]] [[say After]]`);
      const { body } = await confirm(id, detail.waiting_for_event_id, { accept: false });
      expect(body).toMatchObject({ ok: true, confirmed: true });
      await rig.reach(id, "stopped");
      const uses = (await rig.events(id)).flatMap((event) => event["tool_used"] ?? []);
      expect(uses).toMatchObject([
        { status: "pending_confirmation" },
        { status: "error", result: { accept: false } },
      ]);
    });

    test.each([
      "deployAction",
      "terminalExecute",
      "webdevRunAction",
      "shopifyAction",
    ])("decides nothing on a %s: 200, confirmed false, no event, and the task keeps waiting", async (kind) => {
      const { id, detail } = await createWaitingTask(`[[confirm ${kind}]]`);
      const before = await rig.row(id);
      const reply = await confirm(id, detail.waiting_for_event_id, { accept: false });
      expect(reply).toMatchObject({ status: 200, body: { ok: true, task_id: id, confirmed: false } });
      expect(await rig.row(id)).toEqual(before);
      expect((await confirm(id, detail.waiting_for_event_id, { accept: true })).body).toMatchObject({
        confirmed: true,
      });
    });
  });

  describe("refuses", () => {
    test("a question: a message answers it", async () => {
      const { id, detail } = await createWaitingTask("[[ask Which? | This | That]]");
      expect(detail).toEqual({
        waiting_for_event_id: expect.any(String),
        waiting_for_event_type: "messageAskUser",
        waiting_description: "Which?",
      });
      const reply = await confirm(id, detail.waiting_for_event_id, { accept: true });
      expect(reply).toMatchObject(invalid("task.sendMessage"));
    });

    test("an unknown event of the task: 404, in every state", async () => {
      const { id, detail } = await createWaitingTask("[[confirm deployAction]]");
      const { lastSeq } = await rig.row(id);
      const unknownEvents = [
        `ev_${id}_${lastSeq + 1}`,
        `ev_${id}_0`,
        "ev_1",
        "x",
        detail.waiting_for_event_id.replace(id, rig.ann.accountId),
      ];
      for (const event of unknownEvents)
        expect(await confirm(id, event, { accept: true })).toMatchObject(refused(404, "not_found"));
      expect(await confirm(await rig.runToEnd(), "ev_1", { accept: true })).toMatchObject(
        refused(404, "not_found"),
      );
    });

    test("an event without a wait: 412, before the input is checked", async () => {
      const { id } = await createWaitingTask("[[confirm deployAction]]");
      expect(await confirm(id, `ev_${id}_1`, "nonsense")).toMatchObject(invalid("input"));
      expect(await confirm(id, `ev_${id}_1`, { nonsense: true })).toMatchObject(
        refused(412, "failed_precondition"),
      );
      expect(await confirm(id, `ev_${id}_1`)).toMatchObject(refused(412, "failed_precondition"));
    });

    test("a wait that a message or a stop has ended: 412", async () => {
      const overridden = await createWaitingTask("[[confirm deployAction]]");
      await rig.send(overridden.id, "[[forever]]");
      const stopped = await createWaitingTask("[[confirm deployAction]]");
      await rig.ann.v2("task.stop", { task_id: stopped.id });
      for (const { id, detail } of [overridden, stopped]) {
        expect(await confirm(id, detail.waiting_for_event_id, { accept: true })).toMatchObject(
          refused(412, "failed_precondition"),
        );
      }
    });

    test("invalid positions of mails: they count the waiting tool's messages", async () => {
      const { id, detail } = await createWaitingTask("[[confirm gmailSendAction]]");
      const [use] = (await rig.events(id)).flatMap((event) => event["tool_used"] ?? []);
      const count = use.params.messages.length;
      expect(count).toBeGreaterThan(0);
      const beyond = { accept: true, indices: [0, count] };
      expect(await confirm(id, detail.waiting_for_event_id, beyond)).toMatchObject(
        invalid("input.indices[1]"),
      );
      const { body } = await confirm(id, detail.waiting_for_event_id, { accept: true, indices: [count - 1] });
      expect(body).toMatchObject({ confirmed: true });
    });

    test("a request without its task or event", async () => {
      expect(await rig.ann.v2("task.confirmAction", { task_id: "t" })).toMatchObject(invalid("event_id"));
      expect(await rig.ann.v2("task.confirmAction", { event_id: "e" })).toMatchObject(invalid("task_id"));
    });
  });

  test("gives the same answers over gRPC, with the codes of that wire", async () => {
    const client = rig.ann.client(TaskService, "grpc");
    const { id, detail } = await createWaitingTask("[[confirm terminalExecute]]");
    const ask = { taskId: id, eventId: String(detail.waiting_for_event_id) };
    await expect(client.confirmAction({ ...ask, input: { accept: "yes" } })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    await expect(client.confirmAction({ ...ask, eventId: `ev_${id}_1` })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
    await expect(client.confirmAction({ ...ask, eventId: "ev_1" })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    expect(await client.confirmAction({ ...ask, input: { accept: false } })).toMatchObject({
      taskId: id,
      confirmed: false,
    });
    expect(await client.confirmAction({ ...ask, input: { accept: true } })).toMatchObject({
      taskId: id,
      confirmed: true,
    });
  });

  test("a repeat with the same Idempotency-Key returns the same answer, and decides nothing twice", async () => {
    const { id, detail } = await createWaitingTask("[[confirm terminalExecute]] [[forever]]");
    const body = { task_id: id, event_id: detail.waiting_for_event_id, input: { accept: true } };
    const call = () => rig.ann.v2("task.confirmAction", body, { headers: { "idempotency-key": "decide" } });
    const [first, second] = [await call(), await call()];
    expect([first, second]).toMatchObject([
      { status: 200, body: { confirmed: true } },
      { status: 200, body: { confirmed: true } },
    ]);
    const uses = (await rig.events(id)).filter(({ type }) => type === "tool_used");
    expect(uses).toHaveLength(2);
  });

  describe("always_allow and global_allow (spec/decisions.md 15)", () => {
    test.each([
      ["terminalExecute", { accept: true, always_allow: true }],
      ["deployAction", { accept: true, global_allow: true }],
      ["apiHighCreditNotice", { action: "do_not_show_again" }],
    ])("%s: does not ask again in the same task, also in a later turn, and asks in another task", async (kind, input) => {
      const { id, detail } = await createWaitingTask(`[[confirm ${kind}]] [[confirm ${kind}]]`);
      expect((await confirm(id, detail.waiting_for_event_id, input)).body).toMatchObject({ confirmed: true });
      await rig.reach(id, "stopped");
      await rig.send(id, `[[confirm ${kind}]]`);
      await rig.reach(id, "stopped");
      const statuses = (await rig.events(id)).flatMap((event) => event["tool_used"]?.status ?? []);
      expect(statuses).toEqual(["pending_confirmation", "success", "success", "success"]);
      await createWaitingTask(`[[confirm ${kind}]]`);
    });

    test("without accept: true nothing is allowed", async () => {
      const { id, detail } = await createWaitingTask(
        "[[confirm terminalExecute]] [[confirm terminalExecute]]",
      );
      const denied = { accept: false, always_allow: true };
      expect((await confirm(id, detail.waiting_for_event_id, denied)).body).toMatchObject({
        confirmed: false,
      });
      await confirm(id, detail.waiting_for_event_id, { accept: true });
      await rig.reach(id, "waiting");
      expect((await rig.row(id)).allowed).toEqual([]);
    });
  });

  test("a deleted task deletes its waiting action (spec/decisions.md 14)", async () => {
    const { id } = await createWaitingTask("[[confirm deployAction]]");
    expect((await rig.ann.v2("task.delete", { task_id: id })).status).toBe(200);
    expect(await rig.service.store.actions.after(id, 0)).toEqual([]);
  });
});
