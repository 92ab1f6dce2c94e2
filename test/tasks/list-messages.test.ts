import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { type NewEvent, verboseTypes } from "../../src/core/tasks/event.ts";
import { listings } from "../../src/core/tasks/listings.ts";
import { type TaskEvent, TaskEventTypeSchema } from "../../src/gen/proto/task/v2/task_event_pb.ts";
import { SortOrder } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import type { V2Body } from "../support/wires.ts";

const idsOf = (events: readonly V2Body[]): string[] => events.map((event) => event["id"]);
const seqsOf = (events: readonly V2Body[]): number[] => events.map((event) => event["seq"]);
const isVerbose = (event: V2Body): boolean => (verboseTypes as ReadonlySet<string>).has(event["type"]);

/** A message's event without its payload, with the type as in v2. */
const headOf = ({ id, type, seq, timestamp }: TaskEvent) => ({
  id,
  type: TaskEventTypeSchema.value[type]?.localName.toLowerCase(),
  seq,
  timestamp,
});

/** One event of each type except the user's own, with every possible member. */
const everyKind: readonly NewEvent[] = [
  { type: "assistant_message", payload: { content: "Half way", deliveryKind: "progress" } },
  { type: "assistant_message", payload: { content: "No kind" } },
  { type: "error_message", payload: { errorType: "quota_limit", content: "No credits left" } },
  { type: "status_update", payload: { agentStatus: "error", brief: "Failed", description: "It failed." } },
  { type: "user_stop", payload: {} },
  { type: "structured_output_result", payload: { success: true, value: { total: 7, none: null } } },
  { type: "structured_output_result", payload: { success: false, value: {}, error: "no such thing" } },
  {
    type: "tool_used",
    payload: {
      tool: "browser",
      actionId: "a1",
      status: "pending_confirmation",
      brief: "Opens a page",
      description: "…",
    },
  },
  {
    type: "plan_update",
    payload: {
      steps: [
        { status: "failed", title: "One", startedAt: 1_790_000_000, endAt: 1_790_000_001 },
        { status: "todo", title: "Two" },
      ],
    },
  },
  { type: "new_plan_step", payload: { stepId: "step_1", title: "One" } },
  { type: "explanation", payload: { content: "Because." } },
];

describeOnOne("task.listMessages", (database) => {
  const rig = taskRig({ database });
  const list = async (id: string, query: object = {}) =>
    (await rig.ann.v2("task.listMessages", { task_id: id, ...query })).body;

  async function pages(
    id: string,
    query: object,
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<V2Body[][]> {
    const found: V2Body[][] = [];
    for (let cursor: string | undefined; ; ) {
      const body = await list(id, { ...query, ...(cursor ? { cursor } : {}) });
      found.push(body["messages"]);
      expect(body["has_more"]).toBe(body["next_cursor"] !== undefined);
      if (!body["has_more"]) return found;
      cursor = body["next_cursor"];
      await between();
    }
  }

  describe("of a task of two turns", () => {
    let id: string;
    let all: V2Body[];
    let sent: number;
    beforeAll(async () => {
      sent = Date.now();
      id = await rig.runToEnd("Compare tea and coffee. Then choose one.");
      await rig.send(id, "Why?");
      await rig.reach(id, "stopped");
      all = await rig.events(id);
    });

    test("seq counts from 1 without gaps, verbose events included, and last_seq is the last one", async () => {
      expect(seqsOf(all)).toEqual(all.map((_, i) => i + 1));
      expect(all.some(isVerbose)).toBe(true);
      for (const query of [{}, { verbose: true }, { limit: 1 }, { order: "asc", limit: 1 }]) {
        expect(await list(id, query)).toMatchObject({ task_id: id, last_seq: all.length });
      }
    });

    test("times increase strictly, and are later than the request", () => {
      const times = all.map((event) => event["timestamp"]);
      expect(times.every((time, i) => time > (i === 0 ? sent : times[i - 1]))).toBe(true);
    });

    test("ids are unique over the turns", () => expect(new Set(idsOf(all)).size).toBe(all.length));

    test("a listed event never changes when more are added", async () => {
      await rig.send(id, "And then?");
      await rig.reach(id, "stopped");
      const now = await rig.events(id);
      expect(now.slice(0, all.length)).toEqual(all);
      expect(now.length).toBeGreaterThan(all.length);
      all = now;
    });

    test("every event has exactly one payload, named like its type", () => {
      for (const event of all)
        expect(Object.keys(event)).toEqual(["id", "type", "timestamp", "seq", event["type"]]);
    });

    test("newest first by default, the exact reverse of asc", async () => {
      for (const verbose of [true, false]) {
        const asc = await list(id, { order: "asc", verbose });
        const desc = await list(id, { verbose });
        expect(desc["messages"]).toEqual(asc["messages"].toReversed());
        expect(await list(id, { order: "desc", verbose })).toMatchObject({ messages: desc["messages"] });
      }
    });

    test("verbose adds the agent's internal steps, and nothing else is omitted", async () => {
      const { messages } = await list(id, { order: "asc" });
      expect(messages).toEqual(all.filter((event) => !isVerbose(event)));
      expect(await list(id, { order: "asc", verbose: false })).toMatchObject({ messages });
      expect((await list(id, { order: "asc", verbose: true }))["messages"]).toEqual(all);
    });

    test.each(["asc", "desc"])("pages of any size together contain the complete list, %s", async (order) => {
      for (const verbose of [true, false]) {
        const shown = verbose ? all : all.filter((event) => !isVerbose(event));
        const expected = order === "asc" ? shown : shown.toReversed();
        for (const limit of [1, 3, shown.length - 1, shown.length, 200]) {
          expect((await pages(id, { order, verbose, limit })).flat()).toEqual(expected);
        }
      }
    });

    test.each(["asc", "desc"])("start_event_id begins there, inclusive, %s", async (order) => {
      const expected = order === "asc" ? all : all.toReversed();
      for (const at of [0, 3, all.length - 1]) {
        const body = await list(id, { order, verbose: true, start_event_id: idsOf(expected)[at] });
        expect(body["messages"]).toEqual(expected.slice(at));
      }
    });

    test("start_event_id may name an event that the list omits", async () => {
      const hidden = all.findIndex(isVerbose);
      const shown = all.slice(hidden).filter((event) => !isVerbose(event));
      expect((await list(id, { order: "asc", start_event_id: idsOf(all)[hidden] }))["messages"]).toEqual(
        shown,
      );
    });

    test("a cursor takes precedence over start_event_id, because clients send both for later pages", async () => {
      const start_event_id = idsOf(all)[2];
      const found = await pages(id, { order: "asc", verbose: true, limit: 3, start_event_id });
      expect(found.flat()).toEqual(all.slice(2));
    });

    test("GET returns the same as POST, with booleans and numbers as text", async () => {
      const query = { task_id: id, order: "asc", verbose: "true", limit: "200" };
      expect((await rig.ann.v2("task.listMessages", query, { method: "GET" })).body["messages"]).toEqual(all);
      const notVerbose = { ...query, verbose: "false" };
      expect((await rig.ann.v2("task.listMessages", notVerbose, { method: "GET" })).body["messages"]).toEqual(
        all.filter((event) => !isVerbose(event)),
      );
    });

    test.each(["connect-json", "grpc"] as const)("returns on %s the same as on v2", async (wire) => {
      const client = rig.ann.client(TaskService, wire);
      const first = await client.listMessages({ taskId: id, order: SortOrder.ASC, verbose: true, limit: 5 });
      const second = await client.listMessages({
        taskId: id,
        order: SortOrder.ASC,
        verbose: true,
        limit: 200,
        cursor: first.nextCursor ?? "",
      });
      const both = [...first.messages, ...second.messages];
      expect(both.map(headOf)).toEqual(
        all.map(({ id, type, seq, timestamp }) => ({ id, type, seq, timestamp: BigInt(timestamp) })),
      );
      expect([first.hasMore, second.hasMore, second.nextCursor, second.lastSeq]).toEqual([
        true,
        false,
        undefined,
        all.length,
      ]);
      expect(both[0]?.payload).toMatchObject({
        case: "userMessage",
        value: { content: "Compare tea and coffee. Then choose one." },
      });
      await expect(client.listMessages({ taskId: id, cursor: "nonsense" })).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
      await expect(client.listMessages({ taskId: id, startEventId: "nonsense" })).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
    });

    test.each<[why: string, query: object, named: string]>([
      ["limit 0", { limit: 0 }, "limit"],
      ["limit 201", { limit: 201 }, "limit"],
      ["a limit as text", { limit: "5" }, "limit"],
      ["an unknown order", { order: "newest" }, "order"],
      ["verbose as text", { verbose: "yes" }, "verbose"],
      ["an unknown slides_format", { slides_format: "pdf" }, "slides_format"],
      ["an invalid cursor", { cursor: "nonsense" }, "cursor"],
      ["an invalid start_event_id", { start_event_id: "nonsense" }, "start_event_id"],
      ["an empty task_id", { task_id: "" }, "task_id"],
      ["a task_id of a wrong type", { task_id: {} }, "task_id"],
      ["a task_id of 129 characters", { task_id: "a".repeat(129) }, "task_id"],
      ["after_seq below 0", { after_seq: -1 }, "after_seq"],
      ["wait_seconds above 60", { wait_seconds: 61 }, "wait_seconds"],
    ])("refuses %s", async (_why, query, named) => {
      const reply = await rig.ann.v2("task.listMessages", { task_id: id, ...query });
      expect(reply).toMatchObject(invalid(named));
    });

    test("refuses a start_event_id of another task, of a missing event, or with a mistake", async () => {
      const other = idsOf(await rig.events(await rig.runToEnd()))[0];
      const last = idsOf(all).at(-1) ?? "";
      for (const start_event_id of [
        other,
        `ev_${id}_0`,
        `ev_${id}_01`,
        `ev_${id}_${all.length + 1}`,
        `ev_${id}_`,
        `${last} `,
        `x${last}`,
      ]) {
        const reply = await rig.ann.v2("task.listMessages", { task_id: id, start_event_id });
        expect(reply).toMatchObject(invalid("start_event_id"));
      }
    });

    test("refuses a cursor of another task, order, verbosity or list", async () => {
      const other = await rig.runToEnd();
      const { next_cursor: cursor } = await list(id, { limit: 1 });
      const { next_cursor: ofTasks } = (await rig.ann.v2("task.list", { limit: 1 })).body;
      const foreign: [string, object][] = [
        [other, { cursor }],
        [id, { cursor, order: "asc" }],
        [id, { cursor, verbose: true }],
        [id, { cursor: ofTasks }],
        [id, { cursor: `${cursor}A` }],
      ];
      for (const [task, query] of foreign) {
        const reply = await rig.ann.v2("task.listMessages", { task_id: task, ...query });
        expect(reply).toMatchObject(invalid("cursor"));
      }
      expect(
        await list(id, { cursor, order: "desc", verbose: false, slides_format: "pptx", limit: 2 }),
      ).toMatchObject({ ok: true });
    });

    test("slides_format is accepted", async () => {
      for (const slides_format of ["html", "pptx", null])
        expect(await list(id, { slides_format })).toMatchObject({ ok: true });
    });
  });

  test("shows 50 events by default, and at most 200", async () => {
    const id = await rig.runToEnd();
    const said: NewEvent[] = Array.from({ length: 210 }, (_, n) => ({
      type: "assistant_message",
      payload: { content: `${n}` },
    }));
    await rig.service.store.change((tx) => tx.tasks.advance(id, { now: Date.now(), events: said }));
    expect((await list(id))["messages"]).toHaveLength(50);
    expect((await list(id, { limit: 200 }))["messages"]).toHaveLength(200);
    expect((await pages(id, { verbose: true, limit: 200 })).flat()).toHaveLength((await rig.row(id)).lastSeq);
  });

  test.each([
    "asc",
    "desc",
  ])("no event is repeated or skipped while others are written, %s", async (order) => {
    const id = await rig.runToEnd("One. Two.");
    const before = idsOf(await rig.events(id));
    let more = 3;
    const between = async () => {
      if (more-- > 0)
        await rig.service.store.change((tx) =>
          tx.tasks.advance(id, {
            now: Date.now(),
            events: [{ type: "explanation", payload: { content: "more" } }],
          }),
        );
    };
    const found = idsOf((await pages(id, { order, verbose: true, limit: 2 }, between)).flat());
    const after = idsOf(await rig.events(id));
    expect(found).toEqual(order === "asc" ? after : before.toReversed());
  });

  test("last_seq and the list are from one moment, also if an event is written between their reads", async () => {
    const { store } = rig.service;
    const id = await rig.runToEnd();
    const task = await store.tasks.find(rig.ann, id);
    await store.change((tx) =>
      tx.tasks.advance(id, {
        now: Date.now(),
        events: [{ type: "explanation", payload: { content: "late" } }],
      }),
    );
    const tx = { ...store, tasks: { ...store.tasks, find: async () => task } };
    const caller = {
      ...rig.ann,
      role: "owner",
      locale: "en",
      credential: { kind: "key", keyKind: "general", id: rig.ann.keyId, scopes: null },
    } as const;
    for (const order of ["asc", "desc"] as const) {
      const expected = { limit: 200, order, cursor: undefined, verbose: true, startEventId: undefined };
      const { items } = await listings.messages(tx, caller, id, expected);
      expect(Math.max(...items.map(({ seq }) => seq))).toBe(task?.lastSeq);
    }
  });

  test("each type of event has the specified members", async () => {
    const id = await rig.runToEnd();
    const { lastSeq } = await rig.row(id);
    await rig.service.store.change((tx) => tx.tasks.advance(id, { now: Date.now(), events: everyKind }));
    const shown = (await rig.events(id)).slice(lastSeq);
    expect(shown.map((event) => ({ type: event["type"], payload: event[event["type"]] }))).toStrictEqual([
      {
        type: "assistant_message",
        payload: { content: "Half way", attachments: [], delivery_kind: "progress" },
      },
      { type: "assistant_message", payload: { content: "No kind", attachments: [] } },
      { type: "error_message", payload: { error_type: "quota_limit", content: "No credits left" } },
      {
        type: "status_update",
        payload: { agent_status: "error", brief: "Failed", description: "It failed." },
      },
      { type: "user_stop", payload: {} },
      {
        type: "structured_output_result",
        payload: { success: true, value: { total: 7, none: null }, error: null },
      },
      { type: "structured_output_result", payload: { success: false, value: {}, error: "no such thing" } },
      {
        type: "tool_used",
        payload: {
          tool: "browser",
          action_id: "a1",
          status: "pending_confirmation",
          brief: "Opens a page",
          description: "…",
        },
      },
      {
        type: "plan_update",
        payload: {
          steps: [
            { status: "failed", title: "One", started_at: 1_790_000_000, end_at: 1_790_000_001 },
            { status: "todo", title: "Two", started_at: null, end_at: null },
          ],
        },
      },
      { type: "new_plan_step", payload: { step_id: "step_1", title: "One" } },
      { type: "explanation", payload: { content: "Because." } },
    ]);
    const { messages } = await rig.ann
      .client(TaskService, "grpc")
      .listMessages({ taskId: id, order: SortOrder.ASC, verbose: true, limit: 200 });
    expect(messages.slice(lastSeq).map(({ payload }) => payload.case)).toEqual([
      ...[
        "assistantMessage",
        "assistantMessage",
        "errorMessage",
        "statusUpdate",
        "userStop",
        "structuredOutputResult",
        "structuredOutputResult",
      ],
      ...["toolUsed", "planUpdate", "newPlanStep", "explanation"],
    ]);
  });
});
