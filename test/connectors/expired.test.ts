import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { taskRig } from "../support/task-rig.ts";
import { createWorker, remoteEnv } from "../workers/worker-rig.ts";
import { decide, usesIn, waitForAction } from "./approval-rig.ts";
import { openOAuthConnectorRig } from "./oauth-rig.ts";

const garden = await openOAuthConnectorRig(3_600);
const { provider, server } = garden;
const model = await openModelServer("openai");
const file = modelsFile("openai", model);
afterAll(async () => {
  await garden[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});
beforeEach(() => {
  provider.refuseRefresh = false;
  server.calls.length = 0;
});
const allow = { CONNECTOR_ALLOW: "loopback" };
const roses = { bed: "roses" };
const schema = {
  type: "object",
  properties: { accept: { type: "boolean" } },
  required: ["accept"],
  additionalProperties: false,
};

/** A connector with a sign-in and an allowed tool, whose tokens are refused from now on. */
async function expiring(rig: ReturnType<typeof taskRig>, policy = "allow") {
  const made = await garden.installAndSignIn(rig.service, rig.ann);
  await made.client.setConnectorPolicy({ id: made.id, policies: [{ tool: "water", policy }] });
  provider.revokeAccess();
  provider.refuseRefresh = true;
  return made;
}
const signInAgain = async (rig: ReturnType<typeof taskRig>, made: Awaited<ReturnType<typeof expiring>>) => {
  provider.refuseRefresh = false;
  await garden.signIn(rig.service, made);
};

describe("a run of the model agent whose connector's tokens are refused", () => {
  const rig = taskRig({ env: { ...allow, ...file.env } });
  const begin = async (uid: string) => {
    model.play([{ calls: [{ name: "garden_water", input: roses }] }, { text: "Done" }]);
    return rig.create("Water", { message: { content: "Water", connectors: [uid] } });
  };

  test("waits with connectorOauthExpired, and the same turn continues after a new sign-in and its confirmation", async () => {
    const made = await expiring(rig);
    const requests = model.requests.length;
    const task = await begin(made.uid);
    const waited = await waitForAction(rig, task);
    expect(waited).toMatchObject({
      waiting_for_event_type: "connectorOauthExpired",
      waiting_description: "Sign in to Garden again.",
      confirm_input_schema: schema,
      used: { status: "pending_confirmation", params: { connector: made.uid, name: "Garden" } },
    });
    expect((await made.client.listInstalled({})).data[0]).toMatchObject({ id: made.id, state: "expired" });
    await signInAgain(rig, made);
    // Signing in decides nothing; the user who answers the task confirms it.
    expect((await rig.row(task)).status).toBe("waiting");
    expect(await decide(rig, task, { accept: true })).toMatchObject({ confirmed: true });
    await rig.reach(task, "stopped");
    expect(server.calls).toMatchObject([{ tool: "water", input: roses }]);
    // One model call before and one after: the model's earlier answer is not requested again.
    expect(model.requests.length - requests).toBe(2);
    const same = (await usesIn(rig, task)).filter((use) => use["action_id"] === waited.used.action_id);
    expect(same.map((use) => use["status"])).toEqual(["pending_confirmation", "success"]);
    expect((await usesIn(rig, task)).at(-1)).toMatchObject({
      tool: "garden_water",
      status: "success",
      result: "Watered roses.",
    });
  });

  test("stays waiting without an event when the confirmation is refused (spec/api.md 9.3)", async () => {
    const { uid } = await expiring(rig);
    const task = await begin(uid);
    await waitForAction(rig, task);
    const before = await rig.row(task);
    expect(await decide(rig, task, { accept: false })).toMatchObject({ confirmed: false });
    expect(await rig.row(task)).toEqual(before);
    expect(server.calls).toEqual([]);
  });

  test("asks again without a new sign-in, and finally continues without the connector", async () => {
    const { uid } = await expiring(rig);
    const task = await begin(uid);
    for (let times = 0; times < 3; times += 1) {
      expect(await waitForAction(rig, task)).toMatchObject({
        waiting_for_event_type: "connectorOauthExpired",
      });
      await decide(rig, task, { accept: true });
      await expect.poll(async () => (await rig.row(task)).status).not.toBe("running");
    }
    await rig.reach(task, "stopped");
    expect((await usesIn(rig, task)).at(-1)).toMatchObject({
      status: "error",
      result: "The user did not sign in to the connector.",
    });
    expect(server.calls).toEqual([]);
  });

  test("keeps an approval from before", async () => {
    const made = await expiring(rig, "ask");
    const task = await begin(made.uid);
    expect(await waitForAction(rig, task)).toMatchObject({ waiting_for_event_type: "connectorAction" });
    await decide(rig, task, { accept: true });
    await expect.poll(async () => (await rig.row(task)).status).not.toBe("running");
    expect(await waitForAction(rig, task)).toMatchObject({ waiting_for_event_type: "connectorOauthExpired" });
    await signInAgain(rig, made);
    await decide(rig, task, { accept: true });
    await rig.reach(task, "stopped");
    expect(server.calls).toHaveLength(1);
  });
});

describe("a run of a remote worker whose connector's tokens are refused", () => {
  const rig = taskRig({ env: { ...allow, ...remoteEnv } });
  const expired = {
    body: { code: "failed_precondition", message: expect.stringContaining("connector_id: ") },
  };

  test.each([
    "allow",
    "ask",
  ])("receives the refusal, and after the wait its calls use the new tokens; a tool under %s", async (policy) => {
    const made = await expiring(rig, policy);
    const worker = await createWorker(rig.service, rig.ann);
    const task = await rig.create("Water", { message: { content: "Water", connectors: [made.uid] } });
    let run = await worker.pollUntilRun();
    const use = () =>
      worker.call("CallTool", {
        taskId: task,
        fence: run.fence,
        connectorId: made.uid,
        tool: "water",
        input: roses,
      });
    const params = { connector: made.uid, tool: "water", input: roses };
    if (policy === "ask") {
      await worker.finish(run, { confirm: { kind: "connectorAction", params } });
      await decide(rig, task, { accept: true });
      run = await worker.pollUntilRun();
    }
    expect(await use()).toMatchObject(expired);
    await worker.finish(run, { confirm: { kind: "connectorOauthExpired", params: { connector: made.uid } } });
    expect(await waitForAction(rig, task)).toMatchObject({
      waiting_for_event_type: "connectorOauthExpired",
      confirm_input_schema: schema,
    });
    expect(await decide(rig, task, { accept: false })).toMatchObject({ confirmed: false });
    await signInAgain(rig, made);
    await decide(rig, task, { accept: true });
    const next = await worker.pollUntilRun();
    expect(next.decisions.at(-1)).toMatchObject({ kind: "connectorOauthExpired", accepted: true });
    run = next;
    expect(await use()).toMatchObject({ status: 200, body: { result: "Watered roses." } });
    expect(server.calls).toHaveLength(1);
    expect(JSON.stringify(next)).not.toContain(server.calls[0]?.authorization);
  });
});

describe("concurrent runs of several tasks", () => {
  const rig = taskRig({ env: { ...allow, ...remoteEnv } });

  test("renew the tokens by one refresh with its single-use token", async () => {
    const made = await garden.installAndSignIn(rig.service, rig.ann);
    await made.client.setConnectorPolicy({ id: made.id, policies: [{ tool: "water", policy: "allow" }] });
    const worker = await createWorker(rig.service, rig.ann);
    const runs = [];
    for (let n = 0; n < 4; n += 1) {
      await rig.create("Water", { message: { content: "Water", connectors: [made.uid] } });
      runs.push(await worker.pollUntilRun());
    }
    provider.revokeAccess();
    const before = provider.grants.length;
    const replies = await Promise.all(
      runs.map((run) =>
        worker.call("CallTool", {
          taskId: run.taskId,
          fence: run.fence,
          connectorId: made.uid,
          tool: "water",
          input: roses,
        }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(provider.grants.slice(before)).toEqual(["refresh_token"]);
  });
});
