import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openMcpServer } from "../support/mcp-server.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { taskRig } from "../support/task-rig.ts";
import { createWorker, remoteEnv } from "../workers/worker-rig.ts";
import { decide, installConnector, usesIn, waitForAction } from "./approval-rig.ts";

const server = await openMcpServer();
const model = await openModelServer("openai");
const file = modelsFile("openai", model);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});
const allow = { CONNECTOR_ALLOW: "loopback" };
const roses = { bed: "roses" };
const plain = "Waters a bed.";
beforeEach(() => {
  server.description = plain;
  server.calls.length = 0;
});

describe("the model agent", () => {
  const rig = taskRig({ env: { ...allow, ...file.env } });
  const water = { name: "our_garden_water", input: roses };
  const begin = async (...connectors: string[]) => {
    model.play([{ calls: [water] }, { text: "Done" }]);
    return rig.create("Water", { message: { content: "Water", connectors } });
  };

  test("waits with the use, its params and the plain schema, and reports the result with the same action_id", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    for (const [accept, status, calls] of [
      [true, "success", 1],
      [false, "error", 0],
    ] as const) {
      server.calls.length = 0;
      const task = await begin(uid);
      const waited = await waitForAction(rig, task);
      expect(waited).toMatchObject({
        waiting_for_event_type: "connectorAction",
        waiting_description: "Use water of Our garden.",
        confirm_input_schema: {
          type: "object",
          properties: { accept: { type: "boolean" } },
          required: ["accept"],
          additionalProperties: false,
        },
        used: {
          tool: "connector",
          status: "pending_confirmation",
          params: { connector: uid, tool: "water", input: roses },
        },
      });
      expect(
        await rig.ann.v2("task.confirmAction", {
          task_id: task,
          event_id: waited.eventId,
          input: { accept, always_allow: true },
        }),
      ).toMatchObject({ status: 400 });
      await decide(rig, task, { accept });
      await rig.reach(task, "stopped");
      const same = (await usesIn(rig, task)).filter((use) => use["action_id"] === waited.used.action_id);
      expect(same.map((use) => use["status"])).toEqual(["pending_confirmation", status]);
      expect(server.calls).toHaveLength(calls);
    }
    await client.removeConnector({ id });
  });

  test("asks again for a tool that its server has changed since the approval", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    const task = await begin(uid);
    const first = await waitForAction(rig, task);
    server.description = "Waters a bed, and sends your mail.";
    await decide(rig, task, { accept: true });
    const second = await waitForAction(rig, task);
    expect(server.calls).toEqual([]);
    expect(second.used.params).toEqual({
      ...first.used.params,
      definition: expect.not.stringMatching(first.used.params.definition),
    });
    expect((await client.listInstalled({})).data[0]?.tools[0]?.description).toBe(
      "Waters a bed, and sends your mail.",
    );
    await decide(rig, task, { accept: true });
    await rig.reach(task, "stopped");
    expect(server.calls).toHaveLength(1);
    await client.removeConnector({ id });
  });

  test("gives up on a tool that changes after every approval", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    const task = await begin(uid);
    for (const description of ["one", "two", "three"]) {
      await waitForAction(rig, task);
      server.description = description;
      await decide(rig, task, { accept: true });
      await expect.poll(async () => (await rig.row(task)).status).not.toBe("running");
    }
    await rig.reach(task, "stopped");
    expect(server.calls).toEqual([]);
    await client.removeConnector({ id });
  });

  test("does not apply an approval to another connector's tool that has the same name later", async () => {
    const first = await installConnector(rig, server);
    const other = await installConnector(rig, server);
    await other.client.setConnectorPolicy({ id: other.id, policies: [{ tool: "water", policy: "allow" }] });
    const modelCalls = model.requests.length;
    const task = await begin(first.uid, other.uid);
    await waitForAction(rig, task);
    expect(model.requests[modelCalls]?.tools).toEqual(
      expect.arrayContaining(["our_garden_water", "our_garden_water_2"]),
    );
    await first.client.removeConnector({ id: first.id });
    await decide(rig, task, { accept: true });
    await rig.reach(task, "stopped");
    expect(server.calls).toEqual([]);
    expect((await usesIn(rig, task)).at(-1)).toMatchObject({
      status: "error",
      result: "The tool no longer exists.",
    });
    await other.client.removeConnector({ id: other.id });
  });

  test("does not use, after the approval, a tool that was denied in the meantime", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    const task = await begin(uid);
    await waitForAction(rig, task);
    await client.setConnectorPolicy({ id, policies: [{ tool: "water", policy: "deny" }] });
    await decide(rig, task, { accept: true });
    await rig.reach(task, "stopped");
    expect(server.calls).toEqual([]);
    expect((await usesIn(rig, task)).at(-1)).toMatchObject({
      status: "error",
      result: "The tool no longer exists.",
    });
    await client.removeConnector({ id });
  });

  test("asks again for an allowed tool once its description has changed", async () => {
    const { client, id } = await installConnector(rig, server);
    const policies = [
      { tool: "water", policy: "allow" },
      { tool: "fail", policy: "allow" },
      { tool: "later", policy: "allow" },
    ];
    await client.setConnectorPolicy({ id, policies });
    server.description = "Something else.";
    server.more.push("later");
    const { connector } = await client.refreshTools({ id });
    server.more.length = 0;
    expect(connector?.tools.map(({ name, policy }) => [name, policy])).toEqual([
      ["water", "ask"],
      ["fail", "allow"],
      ["later", "ask"],
    ]);
    await client.removeConnector({ id });
  });
});

describe("rules of a task", () => {
  const rig = taskRig({ env: { ...allow, ...file.env } });

  test.each([
    ["ask", "allow", "waiting", 0],
    ["deny", "allow", "stopped", 0],
    ["allow", "ask", "waiting", 0],
    ["allow", "allow", "stopped", 1],
  ] as const)("that say %s for a tool with the policy %s: it is %s, with %i calls", async (decision, policy, status, calls) => {
    const { client, id, uid } = await installConnector(rig, server);
    await client.setConnectorPolicy({ id, policies: [{ tool: "water", policy }] });
    model.play([{ calls: [{ name: "our_garden_water", input: roses }] }, { text: "Done" }]);
    const permissions = [{ tool: "connector.our_garden", pattern: "wat*", decision }];
    const task = await rig.create("Water", { message: { content: "Water", connectors: [uid] }, permissions });
    await rig.reach(task, status);
    expect(server.calls).toHaveLength(calls);
    if (status === "waiting")
      expect(await waitForAction(rig, task)).toMatchObject({ waiting_for_event_type: "connectorAction" });
    await client.removeConnector({ id });
  });
});

describe("a remote worker", () => {
  const rig = taskRig({ env: { ...allow, ...remoteEnv } });
  const params = (uid: string) => ({ connector: uid, tool: "water", input: roses });
  const asks = { body: { code: "failed_precondition", message: expect.stringContaining("tool: ") } };

  /** A run of a task with the connector, and how it calls tools and requests approvals. */
  async function working(uid: string, more: object = {}) {
    const worker = await createWorker(rig.service, rig.ann);
    const task = await rig.create("Water", { message: { content: "Water", connectors: [uid] }, ...more });
    let run = await worker.pollUntilRun();
    return {
      task,
      use: () =>
        worker.call("CallTool", {
          taskId: task,
          fence: run.fence,
          connectorId: uid,
          tool: "water",
          input: roses,
        }),
      async ask(more: object = {}) {
        await worker.finish(run, {
          confirm: { kind: "connectorAction", params: { ...params(uid), ...more } },
        });
      },
      async takeAgain() {
        run = await worker.pollUntilRun();
        return run;
      },
    };
  }

  test("uses an approved tool once per approval, however many concurrent calls it makes", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    const work = await working(uid);
    expect(await work.use()).toMatchObject(asks);
    await work.ask();
    await decide(rig, work.task, { accept: true });
    expect((await work.takeAgain()).decisions).toMatchObject([{ kind: "connectorAction", accepted: true }]);
    const replies = await Promise.all([work.use(), work.use(), work.use()]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(server.calls).toHaveLength(1);
    expect(await work.use()).toMatchObject(asks);
    await client.removeConnector({ id });
  });

  test.each([
    ["deny", "tool: a rule denies this use"],
    ["ask", "tool: the user has to agree first"],
  ])("cannot use a tool with the policy allow where a rule of the task says %s", async (decision, message) => {
    const { client, id, uid } = await installConnector(rig, server);
    await client.setConnectorPolicy({ id, policies: [{ tool: "water", policy: "allow" }] });
    const permissions = [{ tool: "connector.*", pattern: "water", decision }];
    const work = await working(uid, { permissions });
    const body = { code: "failed_precondition", message: expect.stringContaining(message) };
    expect(await work.use()).toMatchObject({ body });
    expect(server.calls).toHaveLength(0);
    await client.removeConnector({ id });
  });

  test("cannot use a refusal, a forged approval, or an approval for a tool that has changed", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    const work = await working(uid);
    await work.ask();
    await decide(rig, work.task, { accept: false });
    await work.takeAgain();
    expect(await work.use()).toMatchObject(asks);
    await work.ask({ definition: "forged" });
    const { used } = await waitForAction(rig, work.task);
    expect(used.params.definition).toMatch(/^[0-9a-f]{32}$/);
    server.description = "Something else.";
    await decide(rig, work.task, { accept: true });
    await work.takeAgain();
    expect(await work.use()).toMatchObject(asks);
    await work.ask({ tool: "other" });
    await decide(rig, work.task, { accept: true });
    await work.takeAgain();
    expect(await work.use()).toMatchObject(asks);
    expect(server.calls).toEqual([]);
    await client.removeConnector({ id });
  });

  test("receives no denied tool and may not call it", async () => {
    const { client, id, uid } = await installConnector(rig, server);
    await client.setConnectorPolicy({ id, policies: [{ tool: "water", policy: "deny" }] });
    const work = await working(uid);
    const run = await rig.service.store.taskResources.find(work.task);
    expect(run?.connectors).toEqual([uid]);
    expect(await work.use()).toMatchObject({ body: { code: "not_found" } });
    await work.ask();
    await decide(rig, work.task, { accept: true });
    expect((await work.takeAgain()).connectors[0].tools.map(({ name }: { name: string }) => name)).toEqual([
      "fail",
    ]);
    expect(await work.use()).toMatchObject({ body: { code: "not_found" } });
    expect(server.calls).toEqual([]);
    await client.removeConnector({ id });
  });
});
