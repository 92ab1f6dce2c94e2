import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { ShareVisibility } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { invalid, taskRig } from "../support/task-rig.ts";

const shortId = /^[2-9A-HJ-NP-Za-km-z]{22}$/;
const ref = (n: number): string => `${"A".repeat(19)}${100 + n}`;
const refs = (count: number): string[] => Array.from({ length: count }, (_, n) => ref(n));

describeOnOne("task.create", (database) => {
  const rig = taskRig({ database });
  const create = async (body: unknown) => (await rig.ann.v2("task.create", body)).body;

  test("returns only the task's id, title, page and visibility", async () => {
    const body = await create({ message: { content: "Say hello" } });
    expect(body).toStrictEqual({
      ok: true,
      request_id: expect.stringMatching(/^req_/),
      task_id: expect.stringMatching(shortId),
      task_title: "Say hello",
      task_url: `https://platform.test/app/${body["task_id"]}`,
      share_visibility: "private",
    });
  });

  test.each([
    "team",
    "public",
  ])("share_visibility %s takes effect and returns a share_url", async (visibility) => {
    const body = await create({ message: { content: "hi" }, share_visibility: visibility });
    expect(body).toMatchObject({
      share_visibility: visibility,
      share_url: `https://platform.test/share/${body["task_id"]}`,
    });
  });

  test("share_visibility team takes effect as private without a team", async () => {
    const solo = await rig.service.person({ personal: true });
    const { body } = await solo.v2("task.create", { message: { content: "hi" }, share_visibility: "team" });
    expect(body).toMatchObject({ share_visibility: "private" });
    expect(body).not.toHaveProperty("share_url");
    const { body: open } = await solo.v2("task.create", {
      message: { content: "hi" },
      share_visibility: "public",
    });
    expect(open).toMatchObject({ share_visibility: "public" });
  });

  test("omitted members have the specified defaults", async () => {
    const row = await rig.row(await rig.create("[[forever]]"));
    expect(row).toMatchObject({
      status: "running",
      type: "standard",
      shareVisibility: "private",
      agentProfile: "manus-1.6",
      locale: "en",
      interactive: false,
      hidden: false,
      projectId: null,
      references: [],
      apiKeyId: rig.ann.keyId,
      clientId: null,
    });
  });

  test("stores the input", async () => {
    const more = {
      locale: "zh-cn",
      interactive_mode: true,
      hide_in_task_list: true,
      agent_profile: "1.6-max",
      title: "Mine",
      share_visibility: "public",
    };
    const row = await rig.row(await rig.create("hi", more));
    const kept = {
      locale: "zh-CN",
      interactive: true,
      hidden: true,
      agentProfile: "manus-1.6-max",
      title: "Mine",
      shareVisibility: "public",
    };
    expect(row).toMatchObject(kept);
  });

  test("a locale that is not a language tag falls back to the account's", async () => {
    expect(await rig.row(await rig.create("hi", { locale: "no tag" }))).toMatchObject({ locale: "en" });
  });

  test.each([
    ["a title of 255 characters", "t".repeat(255), "t".repeat(255)],
    ["a trimmed title", "  Report ", "Report"],
    ["the message's first line for a blank title", "  ", "Say this"],
    ["the message's first line for an empty title", "", "Say this"],
  ])("keeps %s", async (_what, title, kept) => {
    expect(await create({ message: { content: "Say this\nand that" }, title })).toMatchObject({
      task_title: kept,
    });
  });

  test("the next call sees the task: running, listed, with its first two events", async () => {
    const id = await rig.create("[[forever]]");
    const { body: detail } = await rig.ann.v2("task.detail", { task_id: id });
    expect(detail["task"]).toMatchObject({ id, status: "running" });
    const { body: list } = await rig.ann.v2("task.list", { limit: 1 });
    expect(list["data"]).toMatchObject([{ id }]);
    expect(await rig.events(id)).toMatchObject([
      {
        seq: 1,
        type: "user_message",
        user_message: { content: "[[forever]]", message_type: "text", attachments: [] },
      },
      {
        seq: 2,
        type: "status_update",
        status_update: { agent_status: "running", brief: expect.stringMatching(/./) },
      },
    ]);
  });

  test("the same call twice makes two tasks", async () => {
    expect(await rig.create("hi")).not.toBe(await rig.create("hi"));
  });

  test.each([
    ["a string", "Say this", "Say this"],
    ["one text part", [{ type: "text", text: "Say this" }], "Say this"],
    [
      "several, a line feed between them",
      [
        { type: "text", text: "Say" },
        { type: "text", text: "this" },
      ],
      "Say\nthis",
    ],
    ["parts with members of null", [{ type: "text", text: "Say this", file_id: null }], "Say this"],
    ["20,000 ASCII characters", "y".repeat(20_000), "y".repeat(20_000)],
  ])("content may be %s", async (_what, content, text) => {
    const [message] = await rig.events(await rig.create(content));
    expect(message).toMatchObject({ user_message: { content: text } });
  });

  test("ignores unknown members, and treats null as absent", async () => {
    const message = { content: "hi", role: "user", connectors: null, task_references: null };
    expect(
      await create({ message, metadata: {}, title: null, project_id: null, hide_in_task_list: null }),
    ).toMatchObject({ ok: true });
  });

  test("an explicit empty list of connectors is accepted", async () => {
    expect(
      await create({ message: { content: "hi", connectors: [], enable_skills: [], force_skills: [] } }),
    ).toMatchObject({ ok: true });
  });

  test("references keep their order, repeats count once, up to 20", async () => {
    const all = refs(20);
    const id = await rig.create([{ type: "text", text: "hi" }]);
    const [one = "", two = ""] = all;
    const twice = await create({ message: { content: "hi", task_references: [one, two, one, id, two] } });
    expect(await rig.row(twice["task_id"])).toMatchObject({ references: [one, two, id] });
    const full = await create({ message: { content: "hi", task_references: all } });
    expect(await rig.row(full["task_id"])).toMatchObject({ references: all });
  });

  test("a project's task has its type and uses its instruction", async () => {
    const { body } = await rig.ann.v2("project.create", {
      name: "Post",
      instruction: "Always mention the weather.",
    });
    const id = await rig.runToEnd("Sort the post", { project_id: body["project"].id });
    const { body: detail } = await rig.ann.v2("task.detail", { task_id: id });
    expect(detail["task"]).toMatchObject({ task_type: "project" });
    const answer = (await rig.events(id)).find(({ type }) => type === "assistant_message");
    expect(answer?.["assistant_message"].content).toContain("Always mention the weather.");
  });

  test("an unknown project and another account's project are both not found", async () => {
    const stranger = await rig.service.person();
    const { body } = await stranger.v2("project.create", { name: "Theirs" });
    for (const project_id of ["2qVhnKc3KXbJHDPYYoRNSk", "nonsense", body["project"].id]) {
      const reply = await rig.ann.v2("task.create", { message: { content: "hi" }, project_id });
      expect(reply).toMatchObject({
        status: 404,
        body: { ok: false, error: { code: "not_found", message: "project_id: project not found" } },
      });
    }
  });

  describe("refuses, without creating anything:", () => {
    const part = (more: object) => ({ message: { content: [{ type: "text", text: "hi" }, more] } });
    const message = (more: object) => ({ message: { content: "hi", ...more } });
    const rest = (more: object) => ({ message: { content: "hi" }, ...more });

    test.each<[why: string, body: unknown, named: string]>([
      ["no message", {}, "message"],
      ["a message that is text", { message: "hi" }, "message"],
      ["no content", { message: {} }, "message.content"],
      ["null content", { message: { content: null } }, "message.content"],
      ["content of a wrong type", { message: { content: 5 } }, "message.content"],
      [
        "content that is an object",
        { message: { content: { type: "text", text: "hi" } } },
        "message.content",
      ],
      ["empty content", { message: { content: "" } }, "message.content"],
      ["blank content", { message: { content: " \n\t" } }, "message.content"],
      ["no part", { message: { content: [] } }, "message.content"],
      ["an empty text part", { message: { content: [{ type: "text", text: "" }] } }, "message.content"],
      ["a text part without text", part({ type: "text" }), "message.content[1].text"],
      ["a part without a type", part({ text: "hi" }), "message.content[1].type"],
      ["a part of an unknown type", part({ type: "poem", text: "hi" }), "message.content[1].type"],
      ["text of a wrong type", part({ type: "text", text: 5 }), "message.content[1].text"],
      ["a file part without a source", part({ type: "file", filename: "a.txt" }), "message.content[1]"],
      [
        "a file part with two sources",
        part({ type: "file", file_id: "f", file_url: "https://files.example/a" }),
        "message.content[1]",
      ],
      [
        "file_data of a forbidden kind, without a filename",
        part({ type: "file", file_data: "data:application/x-sh;base64,aGk=" }),
        "message.content[1].mime_type",
      ],
      ["20,001 ASCII characters", { message: { content: "y".repeat(20_001) } }, "message.content"],
      ["5,001 other characters", { message: { content: "ü".repeat(5_001) } }, "message.content"],
      [
        "too much text in all parts together",
        part({ type: "text", text: "y".repeat(20_000) }),
        "message.content",
      ],
      ["U+0000 in the text", { message: { content: "a\u0000b" } }, "message.content[0].text"],
      [
        "a connector that is not installed",
        message({ connectors: ["9444d960-ab7e-450f-9cb9-b9467fb0adda"] }),
        "9444d960-ab7e-450f-9cb9-b9467fb0adda",
      ],
      ["a skill that is unknown", message({ enable_skills: ["skill-17"] }), "skill-17"],
      ["a forced skill that is unknown", message({ force_skills: ["skill-18"] }), "skill-18"],
      [
        "a reference that is not an id",
        message({ task_references: [ref(0), "short"] }),
        "message.task_references[1]",
      ],
      [
        "a reference by URL",
        message({ task_references: [`https://platform.test/app/${ref(0)}`] }),
        "message.task_references[0]",
      ],
      [
        "the shortcut as a reference",
        message({ task_references: ["agent-default-main_task"] }),
        "message.task_references[0]",
      ],
      ["21 references", message({ task_references: refs(21) }), "message.task_references"],
      [
        "21 references, repeats counted",
        message({ task_references: Array(21).fill(ref(0)) }),
        "message.task_references",
      ],
      ["references of a wrong type", message({ task_references: ref(0) }), "message.task_references"],
      ["an unknown visibility", rest({ share_visibility: "everyone" }), "share_visibility"],
      ["a visibility in capitals", rest({ share_visibility: "PRIVATE" }), "share_visibility"],
      ["a visibility of a wrong type", rest({ share_visibility: 1 }), "share_visibility"],
      ["an unknown profile", rest({ agent_profile: "quality" }), "agent_profile"],
      ["a title of 256 characters", rest({ title: "t".repeat(256) }), "title"],
      ["a title of a wrong type", rest({ title: ["t"] }), "title"],
      ["a locale of a wrong type", rest({ locale: 1 }), "locale"],
      ["a boolean as text", rest({ interactive_mode: "true" }), "interactive_mode"],
      ["a boolean as a number", rest({ hide_in_task_list: 1 }), "hide_in_task_list"],
      ["a project of a wrong type", rest({ project_id: {} }), "project_id"],
      ["a schema of a wrong type", rest({ structured_output_schema: "{}" }), "structured_output_schema"],
      [
        "a schema outside the subset",
        rest({ structured_output_schema: { type: "object" } }),
        "structured_output_schema",
      ],
    ])("%s", async (_why, body, named) => {
      const author = await rig.service.person();
      const reply = await author.v2("task.create", body);
      expect(reply).toMatchObject(invalid(named));
      expect((await author.v2("task.list")).body["data"]).toEqual([]);
    });
  });
});

describeOnOne("CreateTask", (database) => {
  const rig = taskRig({ database });
  const text = (words: string) => ({ content: [{ type: ContentPartType.TEXT, text: words }] });

  test.each(["connect-json", "grpc"] as const)("gives the same answer on %s as on v2", async (wire) => {
    const client = rig.ann.client(TaskService, wire);
    const made = await client.createTask({
      message: { ...text("Say hello"), noConnectors: true },
      shareVisibility: ShareVisibility.TEAM,
    });
    expect(made).toMatchObject({
      taskId: expect.stringMatching(shortId),
      taskTitle: "Say hello",
      taskUrl: `https://platform.test/app/${made.taskId}`,
      shareUrl: `https://platform.test/share/${made.taskId}`,
      shareVisibility: ShareVisibility.TEAM,
    });
    const { shareUrl, shareVisibility } = await client.createTask({
      message: text("hi"),
      shareVisibility: ShareVisibility.UNSPECIFIED,
    });
    expect({ shareUrl, shareVisibility }).toEqual({
      shareUrl: undefined,
      shareVisibility: ShareVisibility.PRIVATE,
    });
  });

  test.each([
    "connect-json",
    "grpc",
  ] as const)("refuses on %s no_connectors together with connectors, and creates nothing", async (wire) => {
    const who = await rig.service.person();
    const message = {
      ...text("Say hello"),
      noConnectors: true,
      connectors: ["9444d960-ab7e-450f-9cb9-b9467fb0adda"],
    };
    await expect(who.client(TaskService, wire).createTask({ message })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: "message.no_connectors: cannot be given with connectors",
    });
    expect((await who.v2("task.list")).body["data"]).toEqual([]);
  });

  test.each(["connect-binary", "grpc-web"] as const)("refuses on %s what v2 refuses", async (wire) => {
    const client = rig.ann.client(TaskService, wire);
    const file = { type: ContentPartType.FILE, fileId: "f_1" };
    const refused = (code: Code) => expect.objectContaining({ code });
    await expect(client.createTask({})).rejects.toEqual(refused(Code.InvalidArgument));
    await expect(client.createTask({ message: text(" ") })).rejects.toEqual(refused(Code.InvalidArgument));
    await expect(client.createTask({ message: { content: [{ text: "hi" }] } })).rejects.toEqual(
      refused(Code.InvalidArgument),
    );
    await expect(client.createTask({ message: text("hi"), agentProfile: "best" })).rejects.toEqual(
      refused(Code.InvalidArgument),
    );
    await expect(
      client.createTask({ message: text("hi"), projectId: "2qVhnKc3KXbJHDPYYoRNSk" }),
    ).rejects.toEqual(refused(Code.NotFound));
    await expect(client.createTask({ message: { content: [file] } })).rejects.toEqual(
      refused(Code.InvalidArgument),
    );
    await expect(client.createTask({ message: text("hi"), structuredOutputSchema: {} })).rejects.toEqual(
      refused(Code.InvalidArgument),
    );
  });
});

describe("task.create when all runners are busy", () => {
  const rig = taskRig({ env: { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "2" } });

  test("refuses new tasks once QUEUE_DEPTH tasks wait, and a running task still accepts messages", async () => {
    const running = await rig.create("[[forever]]");
    const call = () => rig.ann.v2("task.create", { message: { content: "[[forever]]" } });
    const replies = await Promise.all([call(), call(), call(), call()]);
    const refused = replies.find(({ status }) => status !== 200);
    expect(refused).toMatchObject({
      status: 503,
      body: {
        ok: false,
        error: { code: "unavailable", message: expect.stringContaining("the server is busy") },
      },
    });
    expect(refused?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(
      await rig.ann.v2("task.sendMessage", { task_id: running, message: { content: "hi" } }),
    ).toMatchObject({ status: 200 });
  });
});
