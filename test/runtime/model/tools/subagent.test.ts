import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/core/json.ts";
import { installConnector } from "../../../connectors/approval-rig.ts";
import { describeOnEach } from "../../../support/database.ts";
import { openMcpServer } from "../../../support/mcp-server.ts";
import { modelsFile } from "../../../support/model/rig.ts";
import { openModelServer } from "../../../support/model/server.ts";
import { taskRig } from "../../../support/task-rig.ts";
import type { V2Body } from "../../../support/wires.ts";

const server = await openModelServer("openai");
const garden = await openMcpServer();
const file = modelsFile("openai", server, { context_tokens: 200_000, without_tools: ["web_fetch", "grep"] });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await garden[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});

const use = (name: string, input: JsonObject = {}) => ({ name, input });
type Use = ReturnType<typeof use>;

describeOnEach("a subtask of the model", (kind) => {
  const env = { ...file.env, CONNECTOR_ALLOW: "loopback" };
  const rig = taskRig({
    database: kind,
    env: { ...env, AGENT_PROFILES: `${file.env["AGENT_PROFILES"]},plain=offline` },
  });

  /** Plays the uses of each task by the beginning of its first message, and then its answer. */
  function plays(scripts: Readonly<Record<string, readonly (Use | string)[]>>): void {
    server.play(({ messages }) => {
      const first = messages.find(({ role }) => role === "user")?.text ?? "";
      const script = Object.entries(scripts).find(([start]) => first.startsWith(start))?.[1] ?? [];
      const next = script[messages.filter(({ role }) => role === "assistant").length] ?? "Done.";
      return typeof next === "string" ? { text: next } : { calls: [next] };
    });
  }
  const usesOf = async (id: string): Promise<readonly V2Body[]> =>
    (await rig.events(id)).flatMap(({ tool_used: used }) => used ?? []);
  const subtaskOf = async (id: string): Promise<string> =>
    (await usesOf(id)).find(({ tool }) => tool === "subagent")?.["result"]["task_id"];
  const requestOf = (start: string) =>
    server.requests.findLast(({ messages }) =>
      messages.some(({ role, text }) => role === "user" && text.startsWith(start)),
    );

  test("has its title and its files, and its answer, value and files are in the answer of wait", async () => {
    const schema = {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
      additionalProperties: false,
    };
    const title = "Größe der Straße prüfen";
    plays({
      Parent: [
        use("write", { path: "data/a.txt", content: "one" }),
        use("subagent", { prompt: "Child", title, files: ["data/a.txt"], schema }),
        use("write", { path: "data/a.txt", content: "changed" }),
        use("wait"),
        use("wait", { timeout_seconds: 0 }),
      ],
      Child: [
        use("read", { path: "inputs/data/a.txt" }),
        use("write", { path: "out.md", content: "Drei" }),
        use("deliver", { files: [{ path: "out.md", name: "Prüfung.md" }] }),
        "There are 3.",
        '{"count": 3}',
      ],
    });
    const id = await rig.runToEnd("Parent");
    const child = await subtaskOf(id);
    expect((await rig.ann.v2("task.detail", { task_id: child })).body["task"]).toMatchObject({ title });
    expect((await usesOf(child))[0]).toMatchObject({ result: { text: "one" } });
    expect(requestOf("Child")?.messages.find(({ role }) => role === "user")?.text).toContain(
      "inputs/data/a.txt",
    );
    const path = `subtasks/${child}/Prüfung.md`;
    expect((await usesOf(id)).find(({ tool }) => tool === "wait")?.["result"]).toEqual({
      reason: "ended",
      subtasks: [
        {
          ...{ task_id: child, title, status: "stopped", said_last: "There are 3." },
          ...{ output: { count: 3 }, files: [path] },
        },
      ],
    });
    const { store } = rig.service;
    const [copy] = (await store.workspace.list(id)).filter((entry) => entry.path === path);
    const { files } = await store.files.list(rig.ann, { taskId: child }, { limit: 9 }, Date.now());
    expect(copy, "by reference").toMatchObject({ blobId: files[0]?.blobId });
    await rig.ann.v2("task.delete", { task_id: child });
    plays({ Parent: [...Array.from<string>({ length: 6 }).fill(""), use("read", { path })] });
    await rig.send(id, "And?");
    await rig.reach(id, "stopped");
    expect((await usesOf(id)).at(-1)).toMatchObject({ result: { text: "Drei" } });
  });

  test("gives the reason when it has failed", async () => {
    server.play(({ messages }) => {
      if (messages.some(({ text }) => text.startsWith("Failing"))) return { status: 401 };
      const uses = [use("subagent", { prompt: "Failing" }), use("wait")];
      const next = uses[messages.filter(({ role }) => role === "assistant").length];
      return next ? { calls: [next] } : { text: "It failed." };
    });
    const id = await rig.runToEnd("Parent");
    expect((await usesOf(id)).at(-1)?.["result"]["subtasks"]).toEqual([
      {
        ...{ task_id: await subtaskOf(id), title: "Failing", status: "error" },
        error: expect.stringMatching(/\w/),
      },
    ]);
  });

  test.each([
    ["a path out of the workspace", { files: ["subtasks/../x"] }, "must not contain .."],
    ["a file that is not there", { files: ["a.txt", "none.txt"] }, "files[1]: none.txt is not a file"],
    ["a file that is not stored", { files: [".results/1"] }, "files[0]: .results/1 is not a file"],
    ["two files of one path", { files: ["a.txt", "inputs/a.txt"] }, "files[1]: inputs/a.txt would be"],
    ["a profile that there is not", { profile: "admin" }, "agent_profile: must be one of"],
    ["a tool that the model is without", { tools: ["read", "web_fetch"] }, "tools[1]: web_fetch is not one"],
    ["a tool that there is not", { tools: ["sudo"] }, "tools[0]: sudo is not one of your tools"],
    ["a connector of somebody else", { connectors: ["Our garden"] }, "connectors[0]: Our garden is not"],
    ["a schema that is none", { schema: { type: "string" } }, "structured_output_schema"],
    ["a blank prompt", { prompt: " " }, "must not be empty"],
  ])("is refused with %s", async (_, input, why) => {
    await installConnector(rig, garden, { name: "Another garden" });
    plays({
      Parent: [
        use("write", { path: "a.txt", content: "a" }),
        use("write", { path: "inputs/a.txt", content: "a" }),
        use("subagent", { prompt: "Child", ...input }),
      ],
    });
    const id = await rig.runToEnd("Parent");
    expect((await usesOf(id)).at(-1)).toMatchObject({
      status: "error",
      result: expect.stringContaining(why),
    });
    expect(await rig.row(id)).toMatchObject({ subtasks: 0 });
  });

  describe("has at most the tools of its parent", () => {
    const toolsOf = (start: string) => new Set(requestOf(start)?.tools);

    test("or those that it names, and so have its own subtasks", async () => {
      plays({
        Parent: [use("subagent", { prompt: "Child", tools: ["read", "subagent", "wait"] }), use("wait")],
        Child: [
          use("subagent", { prompt: "Grandchild" }),
          use("wait"),
          use("write", { path: "a", content: "" }),
        ],
        Grandchild: [use("subagent", { prompt: "Deeper", tools: ["write"] })],
      });
      const id = await rig.runToEnd("Parent");
      const child = await subtaskOf(id);
      const few = new Set(["plan", "read", "subagent", "wait"]);
      expect([toolsOf("Child"), toolsOf("Grandchild")]).toEqual([few, few]);
      expect((await usesOf(child)).at(-1)).toMatchObject({ tool: "write", status: "error" });
      expect((await usesOf(await subtaskOf(child))).at(-1)).toMatchObject({
        result: "tools[0]: write is not one of your tools",
      });
    });

    test("also with another profile, where it asks about addresses too", async () => {
      plays({ Parent: [use("subagent", { prompt: "Child", profile: "lite" }), use("wait")] });
      const permissions = [{ tool: "web_fetch", pattern: "*.example", decision: "deny" }];
      const id = await rig.runToEnd("Parent", { permissions });
      const child = await rig.row(await subtaskOf(id));
      expect(child).toMatchObject({ agentProfile: "manus-1.6-lite" });
      expect(child.permissions).toMatchObject([...permissions, { tool: "web_fetch", decision: "ask" }]);
      const { tools } = (await rig.service.store.taskResources.find(child.id)) ?? {};
      expect(tools).toEqual(expect.arrayContaining(["read", "subagent"]));
      expect(tools).not.toContain("web_fetch");
    });
  });

  describe("of a task with connectors", () => {
    let uid = "";
    beforeAll(async () => {
      ({ uid } = await installConnector(rig, garden, { name: "My garden" }));
    });
    const content = (text: string) => ({ message: { content: text, connectors: [uid] } });

    test("has those that it names, of its parent, and none by default", async () => {
      plays({
        Parent: [
          use("subagent", { prompt: "Garden", connectors: ["My garden"] }),
          use("subagent", { prompt: "Bare" }),
          use("wait"),
        ],
      });
      const { body } = await rig.ann.v2("task.create", content("Parent"));
      await rig.reach(String(body["task_id"]), "stopped");
      expect(requestOf("Garden")?.tools).toContain("my_garden_water");
      expect(requestOf("Bare")?.tools).not.toContain("my_garden_water");
    });
  });
});
