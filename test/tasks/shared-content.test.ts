import { toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EventPayloads, type EventType, eventTypes, type NewEvent } from "../../src/core/tasks/event.ts";
import {
  GetSharedTaskResponseSchema,
  ListSharedEventsResponseSchema,
  SharedTaskService,
} from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { type FilePlatform, openFilePlatform } from "../files/files-rig.ts";
import { stillClock } from "../support/still-clock.ts";
import { clientOf, rpcWires } from "../support/wires.ts";
import { sharedRig } from "./shared-rig.ts";

const attachment = (of: string) => ({
  ...{
    fileId: "f1",
    type: "file" as const,
    filename: `<${of}.filename>`,
    contentType: `<${of}.contentType>`,
    bytes: 424_242,
  },
  future: `<${of}.future>`,
});

/**
 * A payload of each type with a text in every member that can hold one, and a member that a later release
 * could add.
 */
const payloads: { readonly [T in EventType]: EventPayloads[T] & { readonly future: string } } = {
  user_message: {
    content: "<user.content>",
    messageType: "voice",
    attachments: [attachment("user")],
    future: "<user.future>",
  },
  assistant_message: {
    ...{ content: "<agent.content>", attachments: [attachment("agent")], deliveryKind: "question" },
    questionExpectation: {
      responseMethod: "send_message",
      options: ["<agent.option>"],
      selectionMode: "single",
    },
    future: "<agent.future>",
  },
  error_message: { errorType: "<error.type>", content: "<error.content>", future: "<error.future>" },
  status_update: {
    ...{
      agentStatus: "waiting",
      brief: "<status.brief>",
      description: "<status.description>",
      future: "<status.future>",
    },
    statusDetail: {
      ...{ waitingForEventType: "<status.waitingType>", waitingDescription: "<status.waiting>" },
      confirmInputSchema: { title: "<status.schema>" },
    },
  },
  user_stop: { future: "<stop.future>" } as EventPayloads["user_stop"] & { readonly future: string },
  structured_output_result: {
    success: true,
    value: { secret: "<output.value>" },
    error: "<output.error>",
    future: "<output.future>",
  },
  tool_used: {
    ...{
      tool: "<tool.name>",
      actionId: "<tool.action>",
      status: "pending_confirmation",
      brief: "<tool.brief>",
    },
    ...{ description: "<tool.description>", message: { action: "<tool.message>", param: "<tool.param>" } },
    ...{ params: { command: "<tool.params>" }, result: "<tool.result>", future: "<tool.future>" },
  },
  plan_update: {
    steps: [
      {
        status: "doing",
        title: "<plan.title>",
        startedAt: 11,
        endAt: 12,
        ...{ future: "<plan.stepFuture>" },
      },
    ],
    future: "<plan.future>",
  },
  new_plan_step: { stepId: "<step.id>", title: "<step.title>", future: "<step.future>" },
  explanation: { content: "<thought.content>", future: "<thought.future>" },
};

/** The texts that visitors see, by type. All others are hidden. */
const shownTexts: Readonly<Partial<Record<EventType, readonly string[]>>> = {
  user_message: ["<user.content>", "<user.contentType>", "<user.filename>"],
  assistant_message: ["<agent.content>", "<agent.contentType>", "<agent.filename>"],
  status_update: [],
  plan_update: ["<plan.title>"],
};

/** Every text of the form `<x.y>` in an answer, and every member's name. */
const textsIn = (json: unknown): string[] =>
  [...new Set(JSON.stringify(json).match(/<\w+\.\w+>/g))].toSorted();
function membersIn(json: unknown): string[] {
  if (typeof json !== "object" || json === null) return [];
  const own = Array.isArray(json) ? [] : Object.keys(json);
  return [...own, ...Object.values(json).flatMap(membersIn)];
}

/** The type and its payload were taken from one table. */
const eventOf = (type: EventType) => ({ type, payload: payloads[type] }) as NewEvent;

describe.each(rpcWires)("a visitor over %s", (wire) => {
  const rig = sharedRig();

  test.each(eventTypes)("sees of %s only the members that are listed", async (type) => {
    const id = await rig.share("public");
    const before = await rig.visitor({}, wire).listSharedEvents({ taskId: id });
    await rig.advance(id, [eventOf(type)], {
      status: "stopped",
      ...(type === "user_message" ? { addsMessage: true } : {}),
    });
    const after = { taskId: id, afterSeq: before.nextAfterSeq };
    const listed = await rig.visitor({}, wire).listSharedEvents(after);
    const watched = await Array.fromAsync(
      rig.visitor({}, wire).watchSharedTask({ ...after, untilSettled: true }),
    );
    expect(watched.map(({ event }) => event)).toEqual(listed.data);
    expect(listed.data.length).toBe(shownTexts[type] === undefined ? 0 : 1);
    expect(textsIn(toJson(ListSharedEventsResponseSchema, listed))).toEqual(shownTexts[type] ?? []);
  });

  test("sees only these members of all answers", async () => {
    const id = await rig.share("public");
    for (const type of eventTypes)
      await rig.advance(id, [eventOf(type)], type === "user_message" ? { addsMessage: true } : {});
    const visitor = rig.visitor({}, wire);
    const task = toJson(GetSharedTaskResponseSchema, await visitor.getSharedTask({ taskId: id }));
    const events = toJson(ListSharedEventsResponseSchema, await visitor.listSharedEvents({ taskId: id }));
    expect([...new Set([...membersIn(task), ...membersIn(events)])].toSorted()).toEqual(
      [
        ...[
          "assistantMessage",
          "attachments",
          "content",
          "contentType",
          "createdAt",
          "data",
          "endAt",
          "filename",
          "nextAfterSeq",
          "plan",
        ],
        ...[
          "seq",
          "startedAt",
          "status",
          "steps",
          "task",
          "timestamp",
          "title",
          "type",
          "updatedAt",
          "url",
          "userMessage",
        ],
      ].toSorted(),
    );
  });

  test("sees nothing about the people, the account, the key and the project of a task", async () => {
    const { body } = await rig.ann.v2("project.create", {
      name: "<project.name>",
      instruction: "<project.instruction>",
    });
    const created = await rig.ann.v2("task.create", {
      ...{
        message: { content: "Hello" },
        share_visibility: "public",
        project_id: body["project"].id,
        title: "Shared",
      },
    });
    const id = created.body["task_id"];
    await rig.advance(id, [], { addCredits: 4242 });
    const answers = [
      await rig.visitor({}, wire).getSharedTask({ taskId: id }),
      await rig.visitor({}, wire).listSharedEvents({ taskId: id }),
    ];
    const text = JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? `${value}` : value));
    const { accountId, spaceId, keyId } = rig.ann;
    for (const hidden of [
      accountId,
      spaceId,
      keyId,
      body["project"].id,
      "<project",
      "4242",
      "@example.com",
      "manus-",
    ])
      expect(text).not.toContain(hidden);
  });
});

describe("a file of a shared task", () => {
  const clock = stillClock();
  let platform: FilePlatform;
  beforeAll(async () => {
    platform = await openFilePlatform("sqlite", { clock });
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  test("has a new link in each answer, which is valid for ten minutes", async () => {
    const ann = await platform.service.person();
    const file = {
      type: "file",
      file_data: `data:text/csv;base64,${Buffer.from("a,b").toString("base64")}`,
      filename: "a.csv",
    };
    const { body } = await ann.v2("task.create", {
      message: { content: [file] },
      share_visibility: "public",
    });
    const visitor = clientOf(SharedTaskService, "connect-json", platform.service.url, {});
    async function link(): Promise<string> {
      const { data } = await visitor.listSharedEvents({ taskId: body["task_id"] });
      const [first] = data;
      return platform.reach(
        (first?.content.case === "userMessage" && first.content.value.attachments[0]?.url) || "none",
      );
    }
    const [first, until] = [await link(), clock.now() + 600_000];
    const status = async () => (await fetch(first)).status;
    expect(await (await fetch(first)).text()).toBe("a,b");
    expect(first).toContain(`/${Math.floor(until / 1000)}/`);
    await clock.leap(599_000);
    expect([await status(), (await link()) === first]).toEqual([200, false]);
    await clock.leap(1_000);
    expect(await status()).toBe(403);
  });
});
