import { beforeAll, expect, test } from "vitest";
import { describeOnOne } from "../../support/database.ts";
import { taskRig } from "../../support/task-rig.ts";
import { type CallV1, refusal, v1Of } from "./caller.ts";

const made = {
  task_id: expect.stringMatching(/^[A-Za-z0-9]{22}$/),
  task_title: expect.any(String),
  task_url: expect.stringMatching(/^http.*\/app\/[A-Za-z0-9]{22}$/),
};

describeOnOne("POST /v1/tasks", (database) => {
  const rig = taskRig({ database });
  let call: CallV1;
  beforeAll(() => {
    call = v1Of(rig.service, rig.ann);
  });
  const create = async (body: object) => (await call("POST /v1/tasks", body)).body.task_id as string;

  test("accepts a prompt alone, and the task can be read at once, as running or later", async () => {
    const { status, body } = await call("POST /v1/tasks", { prompt: "[[forever]] Sort the post" });
    expect(status).toBe(200);
    expect(body).toEqual({ ...made, task_title: "[[forever]] Sort the post" });
    const read = await call(`GET /v1/tasks/${body.task_id}`);
    expect(read).toMatchObject({
      status: 200,
      body: { id: body.task_id, status: "running", model: "manus-1.6-agent" },
    });
  });

  test.each([
    [
      "snake_case",
      {
        agent_profile: "manus-1.6-lite",
        interactive_mode: true,
        hide_in_task_list: true,
        locale: "zh-CN",
        task_mode: "chat",
      },
    ],
    [
      "camelCase",
      {
        agentProfile: "manus-1.6-lite",
        interactiveMode: true,
        hideInTaskList: true,
        locale: "zh-CN",
        taskMode: "agent",
      },
    ],
  ])("accepts every option in %s", async (_, options) => {
    const id = await create({ prompt: "[[forever]]", ...options });
    expect(await rig.row(id)).toMatchObject({
      agentProfile: "manus-1.6-lite",
      interactive: true,
      hidden: true,
      locale: "zh-CN",
    });
  });

  test("defaults to the standard profile, without questions, listed and private", async () => {
    const id = await create({ prompt: "[[forever]]" });
    const bare = {
      agentProfile: "manus-1.6",
      interactive: false,
      hidden: false,
      shareVisibility: "private",
      projectId: null,
      locale: "en",
    };
    expect(await rig.row(id)).toMatchObject(bare);
  });

  test.each([
    [{ agent_profile: "manus-1.6" }, "manus-1.6"],
    [{ agent_profile: "manus-1.6-lite" }, "manus-1.6-lite"],
    [{ agent_profile: "manus-1.6-max" }, "manus-1.6-max"],
    [{ agent_profile: "manus-1.5" }, "manus-1.6"],
    [{ agent_profile: "manus-1.5-lite" }, "manus-1.6-lite"],
    [{ agentProfile: "speed" }, "manus-1.6-lite"],
    [{ agentProfile: "quality" }, "manus-1.6"],
    [{ mode: "speed" }, "manus-1.6-lite"],
    [{ mode: "quality" }, "manus-1.6"],
    [{ mode: "speed", agent_profile: "manus-1.6-max" }, "manus-1.6-max"],
    [{ agent_profile: "" }, "manus-1.6"],
  ])("maps the profile of %j", async (named, profile) => {
    expect(await rig.row(await create({ prompt: "[[forever]]", ...named }))).toMatchObject({
      agentProfile: profile,
    });
  });

  test.each([
    "create_shareable_link",
    "createShareableLink",
  ])("shares the task by a link with %s", async (member) => {
    const { body } = await call("POST /v1/tasks", { prompt: "[[forever]]", [member]: true });
    expect(body).toEqual({
      ...made,
      task_title: "[[forever]]",
      share_url: body.task_url.replace("/app/", "/share/"),
    });
    expect(await rig.row(body.task_id)).toMatchObject({ shareVisibility: "public" });
  });

  test.each(["project_id", "projectId"])("puts the task into a project by %s", async (member) => {
    const { body: project } = await call("POST /v1/projects", { name: "Post" });
    expect(await rig.row(await create({ prompt: "[[forever]]", [member]: project.id }))).toMatchObject({
      projectId: project.id,
    });
  });

  test.each([
    "task_id",
    "taskId",
  ])("continues a task by %s: the same id, the profile of the new turn, and no other project", async (member) => {
    const { body: project } = await call("POST /v1/projects", { name: "Post" });
    const id = await rig.runToEnd("[[say One]]", { title: "Letters" });
    const { status, body } = await call("POST /v1/tasks", {
      prompt: "[[forever]]",
      [member]: id,
      agent_profile: "lite",
      project_id: project.id,
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: { ...made, task_id: id, task_title: "Letters", warnings: ['member "project_id" has no effect'] },
    });
    expect(await rig.row(id)).toMatchObject({
      status: "running",
      agentProfile: "manus-1.6-lite",
      projectId: null,
    });
    const read = await call(`GET /v1/tasks/${id}`);
    expect(read.body.output.at(-1)).toMatchObject({
      role: "user",
      content: [{ type: "output_text", text: "[[forever]]" }],
    });
  });

  test("a follow-up keeps the profile unless it names one, and reaches a running task", async () => {
    const id = await create({ prompt: "[[forever]]", agent_profile: "max" });
    expect(await create({ prompt: "And sort it", task_id: id })).toBe(id);
    expect(await rig.row(id)).toMatchObject({ status: "running", agentProfile: "manus-1.6-max" });
    expect((await call(`GET /v1/tasks/${id}`)).body.output.map(({ role }: { role: string }) => role)).toEqual(
      ["user", "user"],
    );
  });

  test("a follow-up returns the link of a shared task, and creates one when requested", async () => {
    const id = await create({ prompt: "[[forever]]" });
    const shared = await call("POST /v1/tasks", { prompt: "More", task_id: id, create_shareable_link: true });
    expect(shared.body.share_url).toMatch(new RegExp(`/share/${id}$`));
    const later = await call("POST /v1/tasks", { prompt: "More", task_id: id });
    expect(later.body).toEqual(shared.body);
  });

  test("unknown members are ignored, and null equals absent", async () => {
    const strange = {
      webhook_url: "https://a.example",
      metadata: { a: 1 },
      file_ids: [],
      timeout_seconds: 5,
      title: "Mine",
    };
    const { status, body } = await call("POST /v1/tasks", {
      prompt: "[[forever]]",
      ...strange,
      project_id: null,
      taskId: null,
      connectors: null,
    });
    const warnings = Object.keys(strange).map((name) => expect.stringContaining(`unknown member "${name}"`));
    expect({ status, body }).toEqual({ status: 200, body: { ...made, task_title: "[[forever]]", warnings } });
  });

  test("the same Idempotency-Key creates one task, and says so", async () => {
    const key = { "Idempotency-Key": "once-and-for-all" };
    const first = await call("POST /v1/tasks", { prompt: "[[forever]]" }, key);
    const second = await call("POST /v1/tasks", { prompt: "[[forever]]" }, key);
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    const turn = { "Idempotency-Key": "one-turn" };
    for (const _ of [1, 2])
      await call("POST /v1/tasks", { prompt: "More", task_id: first.body.task_id }, turn);
    expect((await call(`GET /v1/tasks/${first.body.task_id}`)).body.output).toHaveLength(2);
  });

  test.each([
    ["no prompt", {}, 400, 3, /^prompt: is required/],
    ["a prompt that is not text", { prompt: 5 }, 400, 3, /^prompt: must be a string/],
    ["an empty prompt", { prompt: " " }, 400, 3, /^prompt: must not be empty/],
    [
      "a prompt over the limit",
      { prompt: "a".repeat(20_001) },
      400,
      3,
      /^prompt: must be at most 5000 estimated tokens$/,
    ],
    ["U+0000 in the prompt", { prompt: "a\0" }, 400, 3, /^prompt: must not contain U\+0000/],
    ["an unknown profile", { prompt: "x", agentProfile: "huge" }, 400, 3, /^agentProfile: must be one of/],
    ["an unknown mode", { prompt: "x", mode: "fast" }, 400, 3, /^mode: must be one of speed, quality/],
    [
      "a flag as text",
      { prompt: "x", interactive_mode: "true" },
      400,
      3,
      /^interactive_mode: must be true or false/,
    ],
    [
      "attachments that are not a list",
      { prompt: "x", attachments: {} },
      400,
      3,
      /^attachments: must be an array/,
    ],
    [
      "an attachment that is not an object",
      { prompt: "x", attachments: ["f"] },
      400,
      3,
      /^attachments\[0\]: must be an object/,
    ],
    [
      "an attachment without a source",
      { prompt: "x", attachments: [{ filename: "a.txt" }] },
      400,
      3,
      /^attachments\[0\]: /,
    ],
    [
      "an attachment with two sources",
      { prompt: "x", attachments: [{ filename: "a.txt", file_id: "f", url: "https://a.example/b" }] },
      ...([400, 3, /^attachments\[0\]: must have exactly one of file_id, url and file_data$/] as const),
    ],
    [
      "a name over the limit",
      { prompt: "x", attachments: [{ fileId: "f", filename: "a".repeat(256) }] },
      400,
      3,
      /^attachments\[0\]\.filename: /,
    ],
    [
      "a url over the limit",
      { prompt: "x", attachments: [{ url: `https://${"a".repeat(2048)}` }] },
      400,
      3,
      /^attachments\[0\]\.url: /,
    ],
    [
      "U+0000 in an attachment",
      { prompt: "x", attachments: [{ url: "a" }, { fileId: "f\0" }] },
      400,
      3,
      /^attachments\[1\]\.file_id: /,
    ],
    ["a connector that is not installed", { prompt: "x", connectors: ["c"] }, 400, 3, /^connectors\[0\]: /],
    ["an unknown project", { prompt: "x", project_id: "p" }, 404, 5, /^project_id: project not found$/],
    ["an unknown task", { prompt: "x", task_id: "t" }, 404, 5, /^task not found/],
  ])("refuses %s", async (_, body, status, code, named) => {
    expect(await call("POST /v1/tasks", body)).toMatchObject({ status, body: refusal(code, named) });
  });

  test("another account's task and project are reported like unknown ones", async () => {
    const other = await rig.service.person();
    const { body: project } = await v1Of(rig.service, other)("POST /v1/projects", { name: "Post" });
    const id = await rig.create("[[forever]]", {}, other);
    expect(await call("POST /v1/tasks", { prompt: "x", task_id: id })).toMatchObject({
      status: 404,
      body: refusal(5, /^task not found/),
    });
    const inProject = await call("POST /v1/tasks", { prompt: "x", project_id: project.id });
    expect(inProject).toMatchObject({ status: 404, body: refusal(5, /^project_id: project not found$/) });
  });

  test.each([
    ["no JSON", "{", /JSON/i],
    ["a list", "[]", /must be a JSON object/],
    ["bytes that are not UTF-8", new Uint8Array([0xff]), /UTF-8/],
  ])("refuses a body that is %s", async (_, raw, named) => {
    const reply = await fetch(`${rig.service.url}/v1/tasks`, {
      method: "POST",
      headers: { API_KEY: rig.ann.key },
      body: raw,
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toEqual(refusal(3, named));
  });
});
