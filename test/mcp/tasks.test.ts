import { isCreateTaskResultV2, isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { describe, expect, test } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { untilStatus } from "../support/until.ts";

const rig = taskRig();

/** A request of a client that takes tasks, as it is on the wire. */
async function send(method: string, params: Record<string, unknown>, headers = rig.ann.headers) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {
      elicitation: {},
      extensions: { "io.modelcontextprotocol/tasks": {} },
    },
  };
  const named = String(params["name"] ?? params["taskId"] ?? "");
  const answer = await fetch(`${rig.service.url}/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": named },
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
  const text = await answer.text();
  return JSON.parse(text.startsWith("{") ? text : (text.split("data: ").at(-1) ?? ""));
}

async function start(message: string) {
  const { result } = await send("tools/call", { name: "task_create", arguments: { message } });
  expect(isCreateTaskResultV2(result)).toBe(true);
  const taskId = String(result.taskId);
  return { taskId, id: taskId.split(".")[0] ?? "", result };
}
async function stateOf(taskId: string) {
  const { result } = await send("tasks/get", { taskId });
  expect(isDetailedTaskV2(result)).toBe(true);
  return result;
}

describe("a call that continues as a task of the protocol (spec/api.md 8.103)", () => {
  test("returns at once, works, and has the result of the tool at its end", async () => {
    const { taskId, id, result } = await start("[[say Hello]]");
    expect(result).toMatchObject({ status: "working", ttlMs: null, pollIntervalMs: expect.any(Number) });
    await untilStatus(rig.service.store, id, "stopped");
    const done = await stateOf(taskId);
    expect(done).toMatchObject({
      status: "completed",
      result: { content: [{ text: expect.stringContaining("Hello") }] },
    });
    // The next turn does not change the end of this one.
    await rig.send(id, "[[say Again]]");
    await untilStatus(rig.service.store, id, "stopped");
    const { lastUpdatedAt: _, ...same } = await stateOf(taskId);
    expect(same).toMatchObject({ status: "completed", result: done.result });
  });

  test("asks for input, and tasks/update answers the present question only", async () => {
    const { taskId, id } = await start("[[ask Which colour?]] [[confirm terminalExecute]] [[say Done]]");
    await untilStatus(rig.service.store, id, "waiting");
    const asked = await stateOf(taskId);
    const [question = ""] = Object.keys(asked.inputRequests);
    expect(asked).toMatchObject({
      status: "input_required",
      inputRequests: { [question]: { params: { message: "Which colour?" } } },
    });
    const answer = {
      taskId,
      inputResponses: { [question]: { action: "accept", content: { answer: "red" } } },
    };
    expect((await send("tasks/update", answer)).result).toMatchObject({ resultType: "complete" });
    await expect
      .poll(async () => Object.keys((await stateOf(taskId)).inputRequests ?? {}))
      .not.toEqual([question]);
    await untilStatus(rig.service.store, id, "waiting");
    const approval = await stateOf(taskId);
    const [event = ""] = Object.keys(approval.inputRequests);
    // The old answer again: it is for no wait.
    await send("tasks/update", answer);
    expect(await stateOf(taskId)).toMatchObject({ status: "input_required" });
    await send("tasks/update", {
      taskId,
      inputResponses: { [event]: { action: "accept", content: { accept: true } } },
    });
    await untilStatus(rig.service.store, id, "stopped");
    expect(await stateOf(taskId)).toMatchObject({ status: "completed" });
  });

  test("tasks/cancel stops a task, and changes nothing after its end", async () => {
    const { taskId, id } = await start("[[forever]]");
    expect(await stateOf(taskId)).toMatchObject({ status: "working" });
    await send("tasks/cancel", { taskId });
    await untilStatus(rig.service.store, id, "stopped");
    expect(await stateOf(taskId)).toMatchObject({ status: "cancelled" });
    await rig.send(id, "[[forever]]");
    await send("tasks/cancel", { taskId });
    expect((await rig.row(id)).status).toBe("running");
    await rig.ann.v2("task.stop", { task_id: id });
  });

  test("a turn that fails is a failed task, and another person's task is unknown", async () => {
    const { taskId, id } = await start("[[fail internal | It broke]]");
    await untilStatus(rig.service.store, id, "error");
    expect(await stateOf(taskId)).toMatchObject({ status: "failed", error: { message: "It broke" } });
    const bob = await rig.service.person();
    for (const method of ["tasks/get", "tasks/cancel"])
      expect(await send(method, { taskId }, bob.headers)).toMatchObject({
        error: { code: -32_602, data: { code: "not_found" } },
      });
    expect(await send("tasks/get", { taskId: "../x" })).toMatchObject({ error: { code: -32_602 } });
  });
});
