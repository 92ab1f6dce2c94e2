import { describe, expect, test } from "vitest";
import { taskRig } from "../../support/task-rig.ts";
import { ofCall } from "../v1/caller.ts";
import { type Answer, call, prefixes } from "./facade-rig.ts";

describe.each(prefixes)("POST %s/responses", (prefix) => {
  const rig = taskRig({ idle: true });
  const post = (body: unknown): Promise<Answer> =>
    call(rig.service.url, rig.ann, "POST", `${prefix}/responses`, body);

  /** The agent's input. */
  async function inputOfAgent(body: object): Promise<string> {
    const answer = await post(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const events = await rig.events(answer.body.id);
    return String(events.findLast(({ type }) => type === "user_message")?.["user_message"].content);
  }

  test("answers at once with the complete object", async () => {
    const { status, headers, body } = await post({ input: "Hello" });
    expect(status).toBe(200);
    expect(headers.get("x-request-id")).not.toBeNull();
    expect(body).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9]{22}$/),
      object: "response",
      created_at: expect.any(Number),
      createdAt: String(body.created_at),
      status: "running",
      error: null,
      incomplete_details: null,
      model: "manus-1.6-agent",
      metadata: { task_title: "Hello", task_url: expect.stringMatching(/\/app\/[A-Za-z0-9]{22}$/) },
      output: [
        {
          id: expect.any(String),
          type: "message",
          role: "user",
          status: "completed",
          content: [{ type: "input_text", text: "Hello" }],
        },
      ],
      max_output_tokens: null,
      usage: null,
      instructions: null,
      parallel_tool_calls: false,
      temperature: null,
      tool_choice: "auto",
      tools: [],
      top_p: null,
    });
  });

  test.each([
    { why: "a text", body: { input: "Hello" }, text: "Hello" },
    {
      why: "a message whose content is a text",
      body: { input: [{ role: "user", content: "Hello" }] },
      text: "Hello",
    },
    {
      why: "a message in parts",
      body: { input: [{ type: "message", role: "user", content: [part("One"), part("Two")] }] },
      text: "One\nTwo",
    },
    { why: "several of the user's, in order", body: { input: [user("One"), user("Two")] }, text: "One\nTwo" },
    {
      why: "instructions, which go before it",
      body: { instructions: "Be brief", input: "Hello" },
      text: "Be brief\nHello",
    },
    {
      why: "system and developer messages, which go before it at any position",
      body: {
        instructions: "1",
        input: [user("4"), { role: "system", content: "2" }, { role: "developer", content: [part("3")] }],
      },
      text: "1\n2\n3\n4",
    },
    {
      why: "an earlier answer, which is said to be one, and whose files the task has",
      body: {
        input: [
          user("2+2?"),
          {
            role: "assistant",
            content: [
              { type: "output_text", text: "4" },
              { type: "output_file", fileUrl: "https://x.test/a" },
            ],
          },
          user("And 3+3?"),
        ],
      },
      text: "2+2?\nAssistant: 4\nAnd 3+3?",
    },
    {
      why: "members that mean nothing here",
      body: {
        input: "Hello",
        model: "gpt-5",
        task_mode: "agent",
        background: true,
        timeout_seconds: 5,
        store: true,
        temperature: 1,
        tools: [{ type: "web_search" }],
        tool_choice: "auto",
        metadata: { a: "b" },
        text: { format: { type: "text" } },
        stream: null,
      },
      text: "Hello",
    },
  ])("takes $why", async ({ body, text }) => {
    expect(await inputOfAgent(body)).toBe(text);
  });

  test.each([
    [{}, "manus-1.6"],
    [{ agent_profile: "manus-1.6-lite" }, "manus-1.6-lite"],
    [{ agentProfile: "max" }, "manus-1.6-max"],
    [{ agent_profile: "speed" }, "manus-1.6-lite"],
    [{ agent_profile: "quality" }, "manus-1.6"],
    [{ agent_profile: "manus-1.5-lite" }, "manus-1.6-lite"],
    [{ model: "manus-1.6-max" }, "manus-1.6-max"],
    [{ model: "manus-1.6-lite-agent" }, "manus-1.6-lite"],
    [{ model: "manus-1.6-lite", agent_profile: "max" }, "manus-1.6-max"],
    [{ model: "gpt-5" }, "manus-1.6"],
    [{ model: "manus-unheard-of" }, "manus-1.6"],
  ])("runs %j with %s", async (body, profile) => {
    expect((await post({ input: "Hello", ...body })).body.model).toBe(`${profile}-agent`);
  });

  test("creates a link that can be shared, hides from the list, asks back and answers in the requested language", async () => {
    const { body } = await post({
      input: "Hi",
      create_shareable_link: true,
      hideInTaskList: true,
      interactive_mode: true,
      locale: "zh-CN",
    });
    expect(body.metadata.share_url).toMatch(new RegExp(`/share/${body.id}$`));
    const plain = await post({ input: "Hi" });
    expect(plain.body.metadata).not.toHaveProperty("share_url");
    expect(await rig.row(body.id)).toMatchObject({
      hidden: true,
      interactive: true,
      locale: "zh-CN",
      shareVisibility: "public",
    });
  });

  test("puts it into a project", async () => {
    const { body: made } = await rig.ann.v2("project.create", { name: "Garden" });
    const { id: project_id } = made["project"];
    expect(await rig.row((await post({ input: "Hi", project_id })).body.id)).toMatchObject({
      projectId: project_id,
    });
    expect(await post({ input: "Hi", projectId: "nobody" })).toMatchObject({
      status: 404,
      body: { message: "project_id: project not found", error: { param: "project_id" } },
    });
  });

  test.each([
    "previous_response_id",
    "task_id",
    "taskId",
  ])("continues the task of %s, under another profile if one is named", async (member) => {
    const { body: first } = await post({ input: "One" });
    const { body: again } = await post({
      input: "Two",
      [member]: first.id,
      agent_profile: "lite",
      project_id: "passed over",
    });
    expect(again).toMatchObject({ id: first.id, model: "manus-1.6-lite-agent" });
    expect(again.output.map(({ content }: { content: { text: string }[] }) => content[0]?.text)).toEqual([
      "One",
      "Two",
    ]);
  });

  test("refuses to continue a task of another team or an unknown one", async () => {
    const bo = await rig.service.person();
    const { body: other } = await call(rig.service.url, bo, "POST", `${prefix}/responses`, { input: "Hi" });
    for (const param of ["previous_response_id", "task_id"]) {
      for (const id of [other.id, "nobody"]) {
        const { status, body } = await post({ input: "Hi", [param]: id });
        expect({ status, body }).toMatchObject({
          status: 404,
          body: { code: 5, message: "task not found", error: { param } },
        });
      }
    }
  });

  test.each([
    { body: {}, param: "input" },
    { body: { input: 5 }, param: "input" },
    { body: { input: [] }, param: "input" },
    { body: { input: "  " }, param: "input" },
    { body: { input: "x".repeat(20_001) }, param: "input" },
    { body: { input: [{ content: "Hi" }] }, param: "input[0].role" },
    { body: { input: [{ role: "tool", content: "Hi" }] }, param: "input[0].role" },
    {
      body: { input: [{ type: "function_call_output", call_id: "a", output: "b" }] },
      param: "input[0].type",
    },
    { body: { input: [{ role: "user" }] }, param: "input[0].content" },
    {
      body: { input: [user("Hi"), { role: "user", content: [{ type: "input_text" }] }] },
      param: "input[1].content[0].text",
    },
    { body: { input: [{ role: "user", content: [part("a\0b")] }] }, param: "input[0].content[0].text" },
    {
      body: { input: [{ role: "user", content: [{ type: "input_audio" }] }] },
      param: "input[0].content[0].type",
    },
    { body: { input: [file({})] }, param: "input[0].content[0]" },
    { body: { input: [file({ file_id: "a", file_url: "https://x.test/a" })] }, param: "input[0].content[0]" },
    {
      body: { input: [file({ filename: "run.sh", file_data: "data:text/plain;base64,aGk=" })] },
      param: "input[0].content[0].filename",
    },
    { body: { input: [{ role: "user", content: [{ type: "input_image" }] }] }, param: "input[0].content[0]" },
    { body: { input: [file({ file_id: "x".repeat(129) })] }, param: "input[0].content[0].file_id" },
    {
      body: {
        input: [
          {
            role: "user",
            content: [{ type: "input_image", image_url: `https://x.test/${"x".repeat(2048)}` }],
          },
        ],
      },
      param: "input[0].content[0].image_url",
    },
    { body: { input: "Hi", instructions: 5 }, param: "instructions" },
    { body: { input: "Hi", instructions: "a\0b" }, param: "instructions" },
    { body: { input: "Hi", agent_profile: "enormous" }, param: "agent_profile" },
    { body: { input: "Hi", connectors: ["nobody"] }, param: "connectors[0]" },
    { body: { input: "Hi", connectors: "nobody" }, param: "connectors" },
    { body: { input: "Hi", stream: "yes" }, param: "stream" },
    { body: { input: "Hi", interactive_mode: "true" }, param: "interactive_mode" },
    { body: { input: "Hi", locale: "x".repeat(65) }, param: "locale" },
    { body: { input: "Hi", previous_response_id: "a", task_id: "b" }, param: "previous_response_id" },
  ])("refuses $body, naming $param, and creates nothing", async ({ body, param }) => {
    const before = (await rig.ann.v2("task.list", { limit: 100 })).body["data"].length;
    const answer = await post(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(answer.body).toEqual({
      code: 3,
      message: expect.stringMatching(/^\S+: ./),
      details: [],
      ...ofCall,
      error: { message: answer.body.message, type: "invalid_request_error", param, code: "invalid_argument" },
    });
    expect((await rig.ann.v2("task.list", { limit: 100 })).body["data"]).toHaveLength(before);
  });
});

function part(text: string) {
  return { type: "input_text", text };
}

function user(content: string) {
  return { role: "user", content };
}

function file(source: object) {
  return { role: "user", content: [{ type: "input_file", ...source }] };
}
