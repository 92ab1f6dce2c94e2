import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { taskRig } from "../support/task-rig.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { createWorker, remoteEnv } from "../workers/worker-rig.ts";
import { decide, installConnector, usesIn, waitForAction } from "./approval-rig.ts";

const github = "bbb0df76-66bd-4a24-ae4f-2aac4750d90b";
const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const server = await openMcpServer();
const model = await openModelServer("openai");
const file = modelsFile("openai", model);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});
const allow = { CONNECTOR_ALLOW: "loopback" };

type Rig = ReturnType<typeof taskRig>;
const install = (rig: Rig, more: object = {}) => installConnector(rig, server, more);
const named = (uid: string) => ({ message: { content: "Water the roses", connectors: [uid] } });

describe("a task's connectors", () => {
  const rig = taskRig({ env: allow });
  const answer = async (id: string) =>
    (await rig.events(id))
      .filter(({ type }) => type === "assistant_message")
      .map((event) => event["assistant_message"].content);
  const of = async (id: string) => (await rig.service.store.taskResources.find(id))?.connectors ?? [];
  let uid = "";
  beforeAll(async () => {
    uid = (await install(rig, { isDefault: true })).uid;
  });

  test("are named by the offline agent, which uses none", async () => {
    const id = await rig.runToEnd("Hello");
    expect((await answer(id)).join()).toContain("Connectors of this task: Our garden.");
    expect(server.calls).toEqual([]);
  });

  test("must be installed, or 400; for an app an ungranted one is 403 first", async () => {
    expect(await rig.ann.v2("task.create", named(github))).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_argument" } },
    });
    const token = await tokenOf(rig.service, rig.ann, {
      scopes: ["create_task", "use_connectors"],
      connectorUids: [gmail],
    });
    expect(await token.v2("task.create", named(github))).toMatchObject({
      status: 403,
      body: { error: { message: `insufficient_scope: connector ${github} not granted` } },
    });
    expect(await token.v2("task.create", named(gmail))).toMatchObject({ status: 400 });
  });

  test("stay with it and are replaced or cleared by messages, never both", async () => {
    const id = await rig.runToEnd("Hello");
    expect(await of(id)).toEqual([uid]);
    const both = { task_id: id, ...named(uid), clear_connectors: true };
    expect(await rig.ann.v2("task.sendMessage", both)).toMatchObject({ status: 400 });
    expect(await rig.ann.v2("task.sendMessage", { task_id: id, ...named(github) })).toMatchObject({
      status: 400,
    });
    await rig.send(id, "Go on", { clear_connectors: true });
    expect(await of(id)).toEqual([]);
    await rig.reach(id, "stopped");
    expect((await answer(id)).at(-1)).not.toContain("Connectors");
  });

  test("leave out those that an app was not granted, silently, and those removed or withdrawn later", async () => {
    const app = await newApp(rig.service, rig.ann, [uid, gmail]);
    const without = await tokenOf(rig.service, rig.ann, {
      of: app,
      scopes: ["create_task", "use_connectors"],
      connectorUids: [gmail],
    });
    const { body } = await without.v2("task.create", { message: { content: "Hello" } });
    await rig.reach(String(body["task_id"]), "stopped");
    expect(await of(String(body["task_id"]))).toEqual([]);
    const token = await tokenOf(rig.service, rig.ann, {
      of: app,
      scopes: ["create_task", "use_connectors"],
      connectorUids: [uid],
    });
    const made = await token.v2("task.create", named(uid));
    const id = String(made.body["task_id"]);
    await rig.reach(id, "stopped");
    expect((await answer(id)).join()).toContain("Our garden");
    const [grant] = await rig.service.store.grants.list(rig.ann.accountId, rig.ann.spaceId);
    if (!grant) throw new Error("none");
    const found = await rig.service.store.grants.find({
      accountId: rig.ann.accountId,
      spaceId: rig.ann.spaceId,
      clientId: app.app.clientId,
    });
    if (found) await rig.service.store.change((tx) => tx.grants.update({ ...found, connectorUids: [] }));
    await rig.send(id, "Again");
    await rig.reach(id, "stopped");
    expect((await answer(id)).at(-1)).not.toContain("Our garden");
  });

  test("of a project apply independently of the account's defaults", async () => {
    const { body } = await rig.ann.v2("project.create", { name: "Bare" });
    const id = await rig.runToEnd("Hello", { project_id: body["project"]["id"] });
    expect(await of(id)).toEqual([]);
  });
});

describe("the model agent", () => {
  const rig = taskRig({ env: { ...allow, ...file.env } });
  const uses = async (id: string) =>
    (await rig.events(id)).filter(({ type }) => type === "tool_used").map((event) => event["tool_used"]);
  const call = { name: "our_garden_water", input: { bed: "roses" } };

  test("uses allowed tools, asks for others, and never sees denied ones; descriptions are data", async () => {
    const { client, id, uid } = await install(rig);
    await client.setConnectorPolicy({
      id,
      policies: [
        { tool: "water", policy: "allow" },
        { tool: "fail", policy: "deny" },
      ],
    });
    const before = server.calls.length;
    model.play([{ calls: [call] }, { text: "Done" }]);
    const asked = model.requests.length;
    const task = await rig.create("Water", { message: { content: "Water", connectors: [uid] } });
    await rig.reach(task, "stopped");
    expect(server.calls.slice(before)).toEqual([
      { tool: "water", input: { bed: "roses" }, authorization: "Bearer s3cret" },
    ]);
    expect(model.requests[asked]?.tools.filter((name) => name.startsWith("our_garden"))).toEqual([
      "our_garden_water",
    ]);
    expect(await uses(task)).toMatchObject([{ tool: "our_garden_water", status: "success" }]);
    expect(JSON.stringify(await rig.events(task))).not.toContain("s3cret");
    await client.removeConnector({ id });
  });

  test("waits for the user where the policy is to ask, uses the tool once when accepted and never when refused", async () => {
    const { client, id, uid } = await install(rig);
    for (const accept of [true, false]) {
      const before = server.calls.length;
      model.play([{ calls: [call] }, { text: "Done" }]);
      const task = await rig.create("Water", { message: { content: "Water", connectors: [uid] } });
      await rig.reach(task, "waiting");
      expect(server.calls).toHaveLength(before);
      expect(await decide(rig, task, { accept })).toMatchObject({ confirmed: true });
      await rig.reach(task, "stopped");
      expect(server.calls).toHaveLength(before + (accept ? 1 : 0));
    }
    await client.removeConnector({ id });
  });
});

describe("the model agent with more than 30 tools", () => {
  const rig = taskRig({ env: { ...allow, ...file.env } });
  const names = Array.from({ length: 40 }, (_, at) => `prune_${at}`);
  const useTool = (name: string, input?: JsonObject) => ({
    name: "use_tool",
    input: { name, ...(input && { input }) },
  });
  const roses = { bed: "roses" };
  const water = useTool("our_garden_water", roses);
  afterAll(() => server.more.splice(0));
  async function start(tools: readonly string[], more: object = {}) {
    server.more.splice(0, server.more.length, ...tools);
    const installed = await install(rig);
    const { client, id, uid } = installed;
    await client.setConnectorPolicy({ id, policies: [{ tool: "prune_7", policy: "allow" }] });
    const asked = model.requests.length;
    const task = await rig.create("Water", { message: { content: "Water", connectors: [uid] }, ...more });
    return { ...installed, task, request: () => model.requests[asked] };
  }

  test("gets two tools for those of all connectors, the same when a connector has more", async () => {
    const definitions: unknown[] = [];
    for (const more of [names, [...names, "weed"]]) {
      model.play([{ text: "Done" }]);
      const { client, id, task, request } = await start(more);
      await rig.reach(task, "stopped");
      definitions.push(request()?.body["tools"]);
      expect(request()?.tools.filter((name) => /our_garden|_tool$/.test(name))).toEqual([
        "find_tool",
        "use_tool",
      ]);
      expect(JSON.stringify(request()?.body)).toContain("Connectors whose tools find_tool finds");
      await client.removeConnector({ id });
    }
    expect(definitions[1]).toEqual(definitions[0]);
  });

  test("finds tools by their words, and a wrong input is answered with the schema", async () => {
    const finds = (query: string) => ({ calls: [{ name: "find_tool", input: { query } }] });
    model.play([
      finds("water a bed"),
      finds("prune"),
      finds("zebra"),
      { calls: [useTool("our_garden_water", { pond: 1 }), useTool("mow"), { name: "use_tool", input: {} }] },
      { text: "Done" },
    ]);
    const { client, id, task } = await start(names);
    await rig.reach(task, "stopped");
    const [first, prune, none, wrong, missing, unfit] = await usesIn(rig, task);
    expect(first?.["result"]).toMatchObject({
      tools: [{ name: "our_garden_water", inputSchema: { required: ["bed"] } }],
    });
    expect(prune?.["result"]).toMatchObject({ tools: { length: 10 }, more: 30 });
    expect(none?.["result"]).toMatchObject({
      tools: [],
      names: expect.arrayContaining(["our_garden_water"]),
    });
    expect(wrong).toMatchObject({ tool: "our_garden_water", status: "error" });
    expect(wrong?.["result"]).toMatch(/The input does not fit: .*Its schema: .*"bed"/);
    expect(missing).toMatchObject({
      tool: "use_tool",
      result: "There is no tool mow. Find it with find_tool.",
    });
    expect(unfit).toMatchObject({ tool: "use_tool", status: "error" });
    await client.removeConnector({ id });
  });

  test("is asked, allowed, refused and marked for the tool that is used, and one approval is for one use", async () => {
    const calls = [water, useTool("our_garden_prune_7"), useTool("our_garden_prune_8")];
    model.play([{ calls }, { text: "Done" }]);
    const before = server.calls.length;
    const permissions = [{ tool: "connector.our_garden", pattern: "prune_8", decision: "deny" }];
    const { client, id, uid, task, request } = await start(names, { permissions });
    const { used, waiting_for_event_type: kind } = await waitForAction(rig, task);
    expect([kind, used]).toMatchObject(["connectorAction", { tool: "connector" }]);
    expect(used["params"]).toMatchObject({ connector: uid, tool: "water", input: roses });
    await decide(rig, task, { accept: true });
    await rig.reach(task, "stopped");
    expect(server.calls.slice(before)).toMatchObject([{ tool: "water", input: roses }]);
    const ended = (await usesIn(rig, task)).filter(
      ({ tool, status }) => /garden/.test(tool) && !/pend/.test(status),
    );
    expect(ended.map(({ tool, status }) => [tool, status]).toSorted()).toEqual([
      ["our_garden_prune_7", "success"],
      ["our_garden_prune_8", "error"],
      ["our_garden_water", "success"],
    ]);
    expect((await rig.row(task)).untrusted).toBe(true);
    // The calls and results of the model have the names that it was offered.
    expect(JSON.stringify(model.requests.at(-1)?.body["messages"])).not.toContain('"name":"our_garden');
    expect(request()?.tools).toContain("use_tool");
    await client.removeConnector({ id });
  });
});

describe("a remote worker", () => {
  const rig = taskRig({ env: { ...allow, ...remoteEnv } });

  test("has tools called by the platform, requests approvals, and never receives the credential", async () => {
    const { client, id, uid } = await install(rig);
    const worker = await createWorker(rig.service, rig.ann);
    await rig.create("Water", { message: { content: "Water", connectors: [uid] } });
    const run = await worker.pollUntilRun();
    expect(run.connectors).toMatchObject([
      {
        id: uid,
        name: "Our garden",
        tools: [
          { name: "water", asks: true },
          { name: "fail", asks: true },
        ],
      },
    ]);
    expect(JSON.stringify(run)).not.toContain("s3cret");
    const of = (more: object) => ({
      taskId: run.taskId,
      fence: run.fence,
      connectorId: uid,
      tool: "water",
      input: { bed: "roses" },
      ...more,
    });
    const refused = await worker.call("CallTool", of({}));
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "failed_precondition", message: expect.stringContaining("tool: ") },
    });
    expect(await worker.call("CallTool", of({ tool: "other" }))).toMatchObject({
      body: { code: "not_found" },
    });
    expect(await worker.call("CallTool", of({ connectorId: github }))).toMatchObject({
      body: { code: "not_found" },
    });
    expect(await worker.call("CallTool", of({ fence: run.fence + 1 }))).toMatchObject({
      body: { code: "failed_precondition", message: expect.stringContaining("fence") },
    });
    const outsider = await createWorker(rig.service, await rig.service.person());
    expect(await outsider.call("CallTool", of({}))).toMatchObject({ body: { code: "not_found" } });

    await worker.finish(run, {
      confirm: {
        kind: "connectorAction",
        params: { connector: uid, tool: "water", input: { bed: "roses" } },
      },
    });
    await decide(rig, run.taskId, { accept: true });
    const next = await worker.pollUntilRun();
    const again = (input: object) =>
      worker.call("CallTool", {
        taskId: next.taskId,
        fence: next.fence,
        connectorId: uid,
        tool: "water",
        input,
      });
    expect(await again({ bed: "roses" })).toMatchObject({ status: 200, body: { result: "Watered roses." } });
    expect(await again({ bed: "thorns" })).toMatchObject({ body: { code: "failed_precondition" } });

    await client.setConnectorPolicy({ id, policies: [{ tool: "water", policy: "allow" }] });
    expect(await again({ bed: "thorns" })).toMatchObject({ status: 200 });
    await client.removeConnector({ id });
    expect(await again({ bed: "roses" })).toMatchObject({ body: { code: "not_found" } });
  });
});
